package agenda_test

import (
	"context"
	"encoding/binary"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/store"
	"github.com/traintravel/traintravel/store/memstore"
)

// An item that becomes due during a long pass is done immediately, also if it is before the
// position of the pass, like items due at the same instant or written by a slow update.
func TestNewWorkDuringPass(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const pages, page = 20, 256 + 64
		on := memstore.New()
		s := newService(on, nil)
		key, begun := s.works()["forgetKey"], time.Now()
		id := func(n int) (id uuid.UUID) {
			binary.BigEndian.PutUint32(id[:], uint32(n))
			return id
		}
		write := func(fn func(store.Tx)) {
			if err := on.Update(context.Background(), func(tx store.Tx) error { fn(tx); return nil }); err != nil {
				t.Error(err)
			}
		}
		write(func(tx store.Tx) {
			for n := range pages * page {
				tx.Put(key(begun, id(n+1)), nil)
			}
		})
		var mu sync.Mutex
		did := map[uuid.UUID]bool{}
		ctx, stop := context.WithCancel(t.Context())
		go s.run(ctx, func(_ string, due map[store.Key]uuid.UUID) error {
			for k, one := range due {
				mu.Lock()
				did[one] = true
				mu.Unlock()
				write(func(tx store.Tx) { tx.Delete(k) })
				if one == id(page+1) { // Run has come to the second page
					write(func(tx store.Tx) { tx.Put(key(begun, id(0)), nil) })
					s.wake()
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
