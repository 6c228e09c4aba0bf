package traintravel_test

import (
	"context"
	"encoding/binary"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/store/memstore"
)

// What becomes due while Run goes through a long agenda is done at once, also if it stands
// before the place that Run has come to: as what is due at the same instant may, or what a
// slow update wrote.
func TestNewWorkDuringPass(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const pages, page = 20, 256 + 64
		store := memstore.New()
		s, err := traintravel.New(store, traintravel.Options{})
		if err != nil {
			t.Fatal(err)
		}
		key, begun := s.Works()["forgetKey"], time.Now()
		id := func(n int) (id uuid.UUID) {
			binary.BigEndian.PutUint32(id[:], uint32(n))
			return id
		}
		write := func(fn func(traintravel.Tx)) {
			if err := store.Update(context.Background(), func(tx traintravel.Tx) error { fn(tx); return nil }); err != nil {
				t.Error(err)
			}
		}
		write(func(tx traintravel.Tx) {
			for n := range pages * page {
				tx.Put(key(begun, id(n+1)), nil)
			}
		})
		var mu sync.Mutex
		did := map[uuid.UUID]bool{}
		ctx, stop := context.WithCancel(t.Context())
		go s.RunWith(ctx, func(_ string, due map[traintravel.Key]uuid.UUID) error {
			for k, one := range due {
				mu.Lock()
				did[one] = true
				mu.Unlock()
				write(func(tx traintravel.Tx) { tx.Delete(k) })
				if one == id(page+1) { // Run has come to the second page
					write(func(tx traintravel.Tx) { tx.Put(key(begun, id(0)), nil) })
					s.Wake()
				}
			}
			return nil
		})
		synctest.Wait()
		if n := len(did); n != pages*page+1 || !did[id(0)] || !time.Now().Equal(begun) {
			t.Errorf("%d of %d are done at once; what is new is done: %t", n, pages*page+1, did[id(0)])
		}
		stop()
	})
}
