package servers_test

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
)

// No two bookings have one reference, however many servers make them at once, and although
// the random bits that they are drawn from are the same again and again.
func TestReferencesOfServersDiffer(t *testing.T) {
	const servers, each = 2, 20
	officetest.OnSharedStores(t, servers, func(t *testing.T, stores []traintravel.Store) {
		var drawn atomic.Uint64
		clashing := func(o *traintravel.Options) {
			officetest.Unlimited(o)
			o.NewID = func() (id uuid.UUID) {
				binary.BigEndian.PutUint64(id[:8], drawn.Add(1)%3) // one of three
				id[6], id[8] = 0x40, 0x80
				return id
			}
		}
		first := officetest.New(t, stores[0], clashing)
		offices := []*officetest.Office{first, first.On(stores[1], clashing)}
		offices[1].Clock.Set(officetest.Opens)
		trip := first.TripID('F', 'G', "S 3")
		ended := officetest.AtOnce(servers*each, func(i int) error {
			// One user: the IDs of bookings are later ones then, whatever their random bits.
			_, err := offices[i%servers].CreateBooking(t.Context(), officetest.Anna, traintravel.NewBooking{TripID: trip, PassengerName: fmt.Sprint("Anna ", i)})
			return err
		})
		if ended["<nil>"] != servers*each {
			t.Fatalf("%v", ended)
		}
		refs := map[string]uuid.UUID{}
		for _, b := range first.Audit().Bookings {
			if other, twice := refs[b.Reference]; twice {
				t.Errorf("%v and %v have the reference %s", b.ID, other, b.Reference)
			}
			refs[b.Reference] = b.ID
		}
		if len(refs) != servers*each {
			t.Errorf("%d references, want %d", len(refs), servers*each)
		}
	})
}
