package damage_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/store/memstore"
)

// Jobs over all bookings do what they can beside bookings and payments that cannot be read,
// say which they could not do, and do the rest when they are called again.
func TestJobsBesideUnreadableRecords(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	o := officetest.New(t, store).Another(func(opts *traintravel.Options) { opts.Retain = time.Hour })
	tt := roomy()
	o.Load(tt)
	o.Forget()
	sold := func(by traintravel.Caller, from, to rune, number string) traintravel.Booking {
		o.Clock.Add(time.Second)
		b := o.Book(by, o.TripID(from, to, number))
		o.MustPay(b, traintravel.Succeeded)
		return b
	}
	unread := sold(carl, 'A', 'B', "R 1")
	unpaid := sold(officetest.Berta, 'A', 'B', "R 1") // of which the payment cannot be read
	whole := sold(officetest.Berta, 'A', 'B', "R 1")
	ridesOn := sold(officetest.Anna, 'F', 'G', "S 3")
	paid := o.Stored(unpaid.ID).PaidBy
	restore := []func(){
		officetest.Spoil(t, store, bookingRecord(unread.ID), true),
		officetest.Spoil(t, store, traintravel.Key{Table: traintravel.TablePayments, ID: string(unpaid.ID[:]) + string(paid[:])}, false),
	}

	m := o.ManifestOf(o.RunOf("R 1"))
	if len(m.Riders) != 3 || m.Unreadable != 1 || m.Sections[0].Free != 37 || m.Sections[0].Confirmed != 3 {
		t.Errorf("the manifest has %+v, %d could not be read, and sections %+v", m.Riders, m.Unreadable, m.Sections)
	}
	for _, r := range m.Riders {
		if r.Unreadable != (r.Booking == unread.ID) || r.Unreadable && (r.PassengerName != "" || r.Seat != unread.Legs[0].Seat || r.Status != traintravel.Confirmed) {
			t.Errorf("a rider %+v", r)
		}
	}
	if done, err := o.CancelRun(t.Context(), o.RunOf("S 3").ID, traintravel.CancelRunOptions{}); err != nil || done.Bookings != 1 || !slices.Equal(done.Unreadable, []uuid.UUID{unread.ID}) {
		t.Errorf("another train is cancelled: %+v, %v", done, err)
	}
	done, err := o.CancelRun(t.Context(), o.RunOf("R 1").ID, traintravel.CancelRunOptions{})
	if err != nil || done.Bookings != 1 || !slices.Equal(done.Unreadable, []uuid.UUID{unread.ID, unpaid.ID}) {
		t.Errorf("their train is cancelled: %+v, %v", done, err)
	}
	if h, err := o.BookingHistory(t.Context(), whole.ID); err != nil || h.Booking.Status != traintravel.Cancelled {
		t.Errorf("%+v, %v", h, err)
	}
	h, err := o.BookingHistory(t.Context(), unpaid.ID)
	if err != nil || h.Unreadable != 1 || h.Booking.Status != traintravel.Confirmed {
		t.Errorf("%+v, %v", h, err)
	}
	if data, err := o.ExportSubject(t.Context(), officetest.Berta.Subject); err != nil || len(data.Bookings) != 2 || data.Unreadable != 2 {
		t.Errorf("the export has %d bookings, and %d could not be read, %v", len(data.Bookings), data.Unreadable, err)
	}
	_ = o.RunDue(t.Context()) // refunds
	o.Clock.Add(12 * time.Hour)
	if done, err := o.EraseSubject(t.Context(), officetest.Berta.Subject); err != nil || done.Bookings != 1 || len(done.Kept) != 0 || done.Unreadable != 2 {
		t.Errorf("erased: %+v, %v", done, err)
	}
	_ = o.RunDue(t.Context())
	_ = o.RunDue(t.Context()) // events of what cannot be read are still to be told
	for id, b := range map[uuid.UUID]string{ridesOn.ID: "cancelled", whole.ID: "cancelled"} {
		if h, err := o.BookingHistory(t.Context(), id); err != nil || !h.Booking.Erased() {
			t.Errorf("the passenger of the %s booking is known long after the journey: %v", b, err)
		}
	}

	for _, f := range restore {
		f()
	}
	if done, err := o.CancelRun(t.Context(), o.RunOf("R 1").ID, traintravel.CancelRunOptions{Past: true}); err != nil || done.Bookings != 2 || len(done.Unreadable) != 0 {
		t.Errorf("cancelled again: %+v, %v", done, err)
	}
	o.Do()
	if done, err := o.EraseSubject(t.Context(), officetest.Berta.Subject); err != nil || done.Bookings != 1 || done.Unreadable != 0 {
		t.Errorf("erased again: %+v, %v", done, err)
	}
	o.Clock.Add(12 * time.Hour)
	o.Do()
	if h, err := o.BookingHistory(t.Context(), unread.ID); err != nil || !h.Booking.Erased() {
		t.Errorf("%+v, %v", h.Booking, err)
	}
}

// An import takes a run that it cannot read for its train's own, whatever becomes of the
// other trains of its name, and says that it could not read it. Once it can be read,
// everybody has the place that they had.
func TestImportBesideAnUnreadableRun(t *testing.T) {
	t.Parallel()
	for _, which := range []string{"first", "second"} {
		t.Run(which, func(t *testing.T) {
			t.Parallel()
			store := memstore.New()
			o := officetest.New(t, store)
			o.LoadAll(officetest.R1("ABH", 0, 1), officetest.R1("ACG", 0, 1), officetest.R1("ADF", 1))
			a, b := o.Book(officetest.Anna, o.Ride(0, 'B')), o.Book(officetest.Berta, o.Ride(0, 'C'))
			o.MustPay(a, traintravel.Succeeded)
			o.MustPay(b, traintravel.Succeeded)
			bad, other := a, b
			if which == "second" {
				bad, other = b, a
			}
			run := bad.Legs[0].Run
			key := traintravel.Key{Table: traintravel.TableRuns}
			records, err := store.List(t.Context(), traintravel.Range{Table: traintravel.TableRuns})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range records {
				if strings.HasSuffix(r.ID, string(run.Train[:])) {
					key.ID = r.ID
				}
			}
			restore := officetest.Spoil(t, store, key, true)
			for n, tt := range [][]traintravel.Train{
				{officetest.R1("ACG", 0, 1), officetest.R1("ABH", 0, 1)},
				{officetest.R1("ABEH", 0, 1), officetest.R1("ACG", 0, 1), officetest.R1("ADF", 0, 1)},
				{officetest.R1("ADF", 0, 1)},
				{officetest.R1("ACG", 0), officetest.R1("ABH", 0), officetest.R1("ADF", 0, 1)},
			} {
				report := o.Load(officetest.Timetable(tt...))
				if report.Unreadable != 1 || slices.ContainsFunc(report.Stranded, func(s traintravel.Stranded) bool { return s.Booking == bad.ID }) {
					t.Errorf("import %d: %+v", n, report)
				}
			}
			o.Forget()
			if _, err := o.Trip(t.Context(), bad.TripID); !errors.Is(err, traintravel.ErrNewerData) {
				t.Errorf("the trip that cannot be sold here: %v", err)
			}
			o.TryBook(officetest.Anna, other.TripID, traintravel.ErrSoldOut)
			restore()
			if stranded := o.LoadAll(officetest.R1("ABH", 0, 1), officetest.R1("ACG", 0, 1)); len(stranded) > 0 {
				t.Errorf("%v are stranded", stranded)
			}
			o.Forget()
			o.Full(a, 0, 'B')
			o.Full(b, 0, 'C')
		})
	}
}
