package transfer_test

import (
	"errors"
	"testing"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/store/memstore"
)

// TestAgree: the next program sees what the last one has recorded, also where the
// data has moved to; who is refused records nothing.
func TestAgree(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		agree := func(store traintravel.Store, want, next string, refuse error) error {
			return traintravel.Agree(t.Context(), store, func(recorded []byte) ([]byte, error) {
				if string(recorded) != want || (recorded == nil) != (want == "") {
					t.Errorf("there is %q, want %q", recorded, want)
				}
				return []byte(next), refuse
			})
		}
		refusal := errors.New("no")
		for _, c := range []struct {
			want, next string
			refuse     error
		}{{"", "wrong", refusal}, {"", "one", nil}, {"one", "wrong", refusal}, {"one", "one", nil}, {"one", "two", nil}, {"two", "two", nil}} {
			if err := agree(store, c.want, c.next, c.refuse); !errors.Is(err, c.refuse) {
				t.Errorf("%v: %v", c, err)
			}
		}
		to := memstore.New()
		if err := traintravel.Copy(t.Context(), to, store, traintravel.CopyOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := agree(store, "unasked", "", nil); !errors.Is(err, traintravel.ErrMoved) {
			t.Errorf("moved: %v", err)
		}
		if err := agree(to, "two", "three", nil); err != nil {
			t.Error(err)
		}
	})
}
