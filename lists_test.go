package traintravel_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/store/memstore"
)

// TestBookingsArePaged while they come, lapse and are cancelled: whatever is
// there all the time is met once, newest first, and nothing is met twice.
func TestBookingsArePaged(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		trip := o.TripID('F', 'G', "S 3")
		var lasting []uuid.UUID
		short := o.Another(func(opts *traintravel.Options) { opts.HoldFor = time.Minute })
		for i := range 27 {
			o.Clock.Add(time.Second)
			short.Clock.Set(o.Clock.Now())
			if i%3 == 0 {
				short.Book(officetest.Anna, trip)
				continue
			}
			lasting = append(lasting, o.Book(officetest.Anna, trip).ID)
			o.Book(officetest.Berta, trip)
		}
		slices.Reverse(lasting)
		rnd := rand.New(rand.NewPCG(1, 2))
		cancelled := map[uuid.UUID]bool{}
		for _, limit := range []int{1, 4, 18, 26, 100} {
			o.Clock.Set(officetest.Opens.Add(time.Minute))
			got := officetest.Walk(t, limit, func(p traintravel.Page) (traintravel.List[traintravel.Booking], error) {
				return o.Bookings(t.Context(), officetest.Anna, p)
			}, func(page int) {
				o.Clock.Set(officetest.Opens.Add(time.Minute + time.Duration(page)*10*time.Second)) // more of the short ones lapse
				o.Book(officetest.Anna, trip)                                                       // newer than all
				if page%2 == 0 {
					o.Do()
				}
				if id := lasting[rnd.IntN(len(lasting))]; page%3 == 0 && !cancelled[id] {
					cancelled[id] = true
					o.Expect("cancelling", o.CancelBooking(t.Context(), officetest.Anna, id), nil)
				}
			})
			seen := map[uuid.UUID]bool{}
			var met []uuid.UUID
			for i, b := range got {
				if seen[b.ID] || b.Owner != officetest.Anna.Subject {
					t.Errorf("met %v twice, or of another", b.ID)
				}
				if i > 0 && bytes.Compare(b.ID[:], got[i-1].ID[:]) >= 0 {
					t.Errorf("%v comes after %v", b.ID, got[i-1].ID)
				}
				seen[b.ID] = true
				if slices.Contains(lasting, b.ID) && !cancelled[b.ID] {
					met = append(met, b.ID)
				}
			}
			want := slices.DeleteFunc(slices.Clone(lasting), func(id uuid.UUID) bool { return cancelled[id] })
			if !slices.Equal(met, want) {
				t.Errorf("pages of %d: met %d of %d", limit, len(met), len(want))
			}
		}
	})
}

func TestPages(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		ctx, o := t.Context(), officetest.New(t, store)
		trip := o.TripID('F', 'G', "S 3")
		var ids []uuid.UUID
		for range 23 {
			o.Clock.Add(time.Second)
			ids = append([]uuid.UUID{o.Book(officetest.Anna, trip).ID}, ids...)
		}
		for _, test := range []struct {
			page     traintravel.Page
			from, to int
			more     bool
		}{
			{traintravel.Page{}, 0, 10, true},
			{traintravel.Page{Number: 3}, 20, 23, false},
			{traintravel.Page{Number: 4}, 23, 23, false},
			{traintravel.Page{Number: 1_000_000, Limit: 100}, 23, 23, false},
			{traintravel.Page{Limit: 23}, 0, 23, false},
			{traintravel.Page{Number: 2, Limit: 22}, 22, 23, false},
			{traintravel.Page{Number: 7, Limit: 3}, 18, 21, true},
			{traintravel.Page{Number: 9, Limit: 5, After: fourth(t, o)}, 4, 9, true}, // After decides
		} {
			list, err := o.Bookings(ctx, officetest.Anna, test.page)
			var got []uuid.UUID
			for _, b := range list.Items {
				got = append(got, b.ID)
			}
			if err != nil || !slices.Equal(got, ids[test.from:test.to]) || (list.Next != "") != test.more {
				t.Errorf("%+v: %d items, next %q, %v", test.page, len(got), list.Next, err)
			}
		}
		id := onlyPaid(o, trip)
		for field, page := range map[string]traintravel.Page{
			"page": {Number: -1}, "page ": {Number: 1_000_001}, "limit": {Limit: -1}, "limit ": {Limit: 101}, "after": {After: "AAAA"}, "after ": {After: "%"},
		} {
			want := field[:len(field)-map[bool]int{true: 1}[field[len(field)-1] == ' ']]
			lists := map[string]func() error{
				"bookings": func() error { _, err := o.Bookings(ctx, officetest.Anna, page); return err },
				"payments": func() error { _, err := o.Payments(ctx, officetest.Anna, id, page); return err },
				"stations": func() error { _, err := o.Stations(ctx, traintravel.StationQuery{Page: page}); return err },
				"trips": func() error {
					_, err := o.SearchTrips(ctx, traintravel.TripQuery{Origin: officetest.Station('A'), Destination: officetest.Station('B'), Depart: officetest.Opens, Page: page})
					return err
				},
			}
			for name, list := range lists {
				var wrong *traintravel.InvalidError
				if err := list(); !errors.As(err, &wrong) || wrong.Field != want {
					t.Errorf("%s, %+v: %v", name, page, err)
				}
			}
		}
	})
}

// onlyPaid books and tries to pay a few times.
func onlyPaid(o *officetest.Office, trip uuid.UUID) uuid.UUID {
	o.T.Helper()
	b := o.Book(officetest.Berta, trip)
	for range 5 {
		o.Clock.Add(time.Second)
		o.MustPay(b, traintravel.Failed, officetest.Declined)
	}
	return b.ID
}

// TestPaymentsArePaged while another attempt is made.
func TestPaymentsArePaged(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store, officetest.Unlimited)
		id := onlyPaid(o, o.TripID('F', 'G', "S 3"))
		b := o.Stored(id)
		for limit := 1; limit <= 6; limit++ {
			before := len(o.Audit().Payments)
			got := officetest.Walk(t, limit, func(p traintravel.Page) (traintravel.List[traintravel.Payment], error) {
				return o.Payments(t.Context(), officetest.Berta, id, p)
			}, func(int) {
				o.Clock.Add(time.Second)
				o.MustPay(b, traintravel.Failed, officetest.Declined)
			})
			for i := range got {
				if i > 0 && !got[i].Created.Before(got[i-1].Created) {
					t.Errorf("%v after %v", got[i].Created, got[i-1].Created)
				}
			}
			if len(got) != before {
				t.Errorf("pages of %d: %d payments, want %d", limit, len(got), before)
			}
		}
	})
}

// A repeating store runs what reads it twice over, as a store does that begins again.
type repeating struct{ *memstore.Store }

func (s repeating) View(ctx context.Context, fn func(traintravel.Reader) error) error {
	return s.Store.View(ctx, func(r traintravel.Reader) error { return errors.Join(fn(r), fn(r)) })
}

// What is read holds nothing twice, however often the store had it read.
func TestReadingIsRepeated(t *testing.T) {
	t.Parallel()
	ctx, store := t.Context(), memstore.New()
	o := officetest.New(t, store, officetest.Unlimited)
	again := o.At(repeating{store})
	id := onlyPaid(o, o.TripID('F', 'G', "S 3"))
	o.Book(officetest.Berta, o.TripID('A', 'C', "R 1"))
	runs := []traintravel.RunID{o.RunOf("R 1").ID, o.RunOf("S 3").ID}
	page := traintravel.Page{Limit: traintravel.MaxLimit}
	for name, read := range map[string]func(*officetest.Office) (any, error){
		"payments":  func(o *officetest.Office) (any, error) { return o.Payments(ctx, officetest.Berta, id, page) },
		"bookings":  func(o *officetest.Office) (any, error) { return o.Bookings(ctx, officetest.Berta, page) },
		"history":   func(o *officetest.Office) (any, error) { return o.BookingHistory(ctx, id) },
		"manifest":  func(o *officetest.Office) (any, error) { return o.Manifest(ctx, runs[0]) },
		"no places": func(o *officetest.Office) (any, error) { return o.Manifest(ctx, runs[1]) },
		"subject":   func(o *officetest.Office) (any, error) { return o.ExportSubject(ctx, officetest.Berta.Subject) },
	} {
		want, err := read(o)
		if err != nil {
			t.Fatal(name, err)
		}
		if got, err := read(again); err != nil || cmp.Diff(want, got) != "" {
			t.Errorf("%s: %v, -want +got:\n%s", name, err, cmp.Diff(want, got))
		}
	}
}

// TestTripsArePaged while they sell out and depart.
func TestTripsArePaged(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		tt := officetest.Network()
		for h := 7; h < 23; h++ {
			tt.Trains = append(tt.Trains, officetest.Train(fmt.Sprint("T ", h), h, "BC", officetest.Seats(1)))
		}
		o.Load(tt)
		query := traintravel.TripQuery{Origin: officetest.Station('B'), Destination: officetest.Station('C'), Depart: officetest.Opens}
		for limit := 1; limit < 7; limit++ {
			o.Clock.Set(officetest.Opens.Add(time.Minute))
			got := officetest.Walk(t, limit, func(p traintravel.Page) (traintravel.List[traintravel.Trip], error) {
				q := query
				q.Page = p
				return o.SearchTrips(t.Context(), q)
			}, func(page int) {
				if page == 2 { // the last one of the page before is sold
					o.TryBook(officetest.Anna, o.TripID('B', 'C', fmt.Sprint("T ", 6+page*limit)), nil)
				}
				o.Clock.Add(20 * time.Minute)
			})
			for i := 1; i < len(got); i++ {
				if !got[i].Origin().Time.After(got[i-1].Origin().Time) && got[i].Legs[0].Number == got[i-1].Legs[0].Number {
					t.Errorf("%v after %v", got[i].Origin().Time, got[i-1].Origin().Time)
				}
			}
			if last := got[len(got)-1]; last.Legs[0].Number != "T 22" {
				t.Errorf("pages of %d end with %v", limit, last.Legs[0].Number)
			}
			if len(got) != 17-soldBefore(limit) {
				t.Errorf("pages of %d: %d trips", limit, len(got))
			}
		}
	})
}

// soldBefore is how many of the trips earlier rounds have sold.
func soldBefore(limit int) int { return limit - 1 }

// fourth is the cursor behind anna's fourth booking.
func fourth(t *testing.T, o *officetest.Office) string {
	list, err := o.Bookings(t.Context(), officetest.Anna, traintravel.Page{Limit: 4})
	if err != nil {
		t.Fatal(err)
	}
	return list.Next
}
