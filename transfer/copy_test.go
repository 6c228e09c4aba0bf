package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/audittest"
	"github.com/traintravel/traintravel/internal/need"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/store/memstore"
	"github.com/traintravel/traintravel/store/storetest"
)

// filled is a new store with these records.
func filled(t officetest.Tester, all map[traintravel.Key]string) traintravel.Store {
	t.Helper()
	store := memstore.New()
	err := store.Update(t.Context(), func(tx traintravel.Tx) error {
		for k, v := range all {
			tx.Put(k, []byte(v))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// An ordered office has sold something in every state, and holds a timetable of
// several chunks.
func orderedOffice(t *testing.T) (o *officetest.Office, held, paid traintravel.Booking) {
	t.Helper()
	o = officetest.New(t, memstore.New())
	o.Load(officetest.Large())
	var err error
	held, err = o.CreateBooking(t.Context(), officetest.Anna, traintravel.NewBooking{TripID: o.Joined(4), PassengerName: "Anna", IdempotencyKey: "k"})
	if err != nil {
		t.Fatal(err)
	}
	trip := o.TripID('A', 'D', "R 1")
	o.Expect("cancelling", o.CancelBooking(t.Context(), officetest.Anna, o.Book(officetest.Anna, trip).ID), nil)
	paid = o.Book(officetest.Anna, trip)
	o.MustPay(paid, traintravel.Succeeded)
	return o, held, paid
}

// TestCopy moves an office to a store of each kind, where it goes on.
func TestCopy(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		ctx := t.Context()
		o, held, paid := orderedOffice(t)
		before := officetest.Everything(t, o.Store)
		first, err := o.Bookings(ctx, officetest.Anna, traintravel.Page{Limit: 1})
		if err != nil || first.Next == "" {
			t.Fatal(first, err)
		}
		done, total := int64(-1), int64(0)
		progress := func(d, all int64) {
			if d <= done || d > all {
				t.Errorf("progress from %d to %d of %d", done, d, all)
			}
			done, total = d, all
		}
		o.Expect("moving", traintravel.Copy(ctx, store, o.Store, traintravel.CopyOptions{To: "the new one", Progress: progress}), nil)
		if done != total || total != int64(2*len(before)) {
			t.Errorf("%d of %d are told, for %d records", done, total, len(before))
		}
		if diff := cmp.Diff(before, officetest.Everything(t, store)); diff != "" {
			t.Errorf("the copy is another:\n%s", diff)
		}

		moved := o.On(store)
		again, err := moved.CreateBooking(ctx, officetest.Anna, traintravel.NewBooking{TripID: held.TripID, PassengerName: "Anna", IdempotencyKey: "k"})
		if err != nil || !again.Replayed || again.ID != held.ID {
			t.Errorf("the same request again: %+v, %v", again, err)
		}
		rest, err := moved.Bookings(ctx, officetest.Anna, traintravel.Page{Limit: 1, After: first.Next})
		if err != nil || len(rest.Items) != 1 || rest.Items[0].ID == first.Items[0].ID {
			t.Errorf("the next page: %+v, %v", rest, err)
		}
		moved.MustPay(held, traintravel.Succeeded)
		moved.Expect("cancelling", moved.CancelBooking(ctx, officetest.Anna, paid.ID), nil)
		moved.Do()
		moved.Book(officetest.Berta, paid.TripID)
		moved.Audit()

		closed(t, o, held, traintravel.ErrMoved)
		there := officetest.Everything(t, store)
		o.Expect("moving twice", traintravel.Copy(ctx, store, o.Store, traintravel.CopyOptions{Progress: func(int64, int64) {
			t.Error("moving twice does something")
		}}), nil)
		if diff := cmp.Diff(there, officetest.Everything(t, store)); diff != "" {
			t.Errorf("moving twice changes:\n%s", diff)
		}
		o.Expect("moving elsewhere", traintravel.Copy(ctx, memstore.New(), o.Store, traintravel.CopyOptions{}), traintravel.ErrMoved)
		o.Expect("filling what is in use", traintravel.Copy(ctx, store, filled(t, before), traintravel.CopyOptions{}), traintravel.ErrHoldsData)
		o.Expect("filling what has moved", traintravel.Copy(ctx, o.Store, filled(t, before), traintravel.CopyOptions{}), traintravel.ErrMoved)

		// It may move on, and be gone back to on purpose.
		o.Expect("moving on", traintravel.Copy(ctx, memstore.New(), store, traintravel.CopyOptions{}), nil)
		o.Expect("going back", traintravel.Reopen(ctx, o.Store, nil), nil)
		o.Expect("cancelling what it holds", o.Another().CancelBooking(ctx, officetest.Anna, paid.ID), nil)
		if err := traintravel.Reopen(ctx, o.Store, nil); err == nil {
			t.Error("a store that has not moved is opened")
		}
		o.Expect("filling what has moved on", traintravel.Copy(ctx, store, o.Store, traintravel.CopyOptions{}), traintravel.ErrMoved)
		o.Expect("filling what has moved on", traintravel.Copy(ctx, store, o.Store, traintravel.CopyOptions{}), traintravel.ErrHoldsData)
	})
}

// TestCopyTakenOver: half a copy may give way to that of another store, and then the
// first is told that it is there no more, and can be opened again.
func TestCopyTakenOver(t *testing.T) {
	t.Parallel()
	o, held, _ := orderedOffice(t)
	ctx := t.Context()
	to, other := traintravel.Store(memstore.New()), filled(t, officetest.Everything(t, o.Store))
	broken := func(from traintravel.Store) {
		p := &officetest.Process{DieAt: 12}
		if err := traintravel.Copy(ctx, mortal{to, p}, mortal{from, p}, traintravel.CopyOptions{}); !p.Dead() {
			t.Fatal(err)
		}
	}
	taken := func(says string) {
		t.Helper()
		err := traintravel.Copy(ctx, to, o.Store, traintravel.CopyOptions{})
		if !errors.Is(err, traintravel.ErrMoved) || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, which does not say that in the target there is %s", err, says)
		}
	}
	broken(o.Store)
	broken(other)
	taken("half a copy of another store")
	o.Expect("the other one", traintravel.Copy(ctx, to, other, traintravel.CopyOptions{}), nil)
	taken("what has moved from another store")
	o.Expect("going back", traintravel.Reopen(ctx, o.Store, nil), nil)
	if !sells(t, o.Another(), held) {
		t.Error("the source was not given back")
	}
}

// closed expects each way to sell, and what is due, to end with an error, on a
// service that was there before and on a new one.
func closed(t *testing.T, o *officetest.Office, b traintravel.Booking, want error) {
	t.Helper()
	ctx := t.Context()
	for _, s := range []*officetest.Office{o, o.Another()} {
		_, err := s.CreateBooking(ctx, officetest.Anna, traintravel.NewBooking{TripID: b.TripID, PassengerName: "Anna"})
		s.Expect("booking", err, want)
		_, err = s.Pay(b)
		s.Expect("paying", err, want)
		s.Expect("cancelling", s.CancelBooking(ctx, officetest.Anna, b.ID), want)
		_, err = s.LoadTimetable(ctx, officetest.Network())
		s.Expect("loading", err, want)
	}
	fresh := o.Another()
	_, err := fresh.Stations(ctx, traintravel.StationQuery{})
	fresh.Expect("stations", err, want)
	_, err = o.Another().Booking(ctx, officetest.Anna, b.ID)
	fresh.Expect("a booking", err, want)
	_, err = o.Another().Bookings(ctx, officetest.Anna, traintravel.Page{})
	fresh.Expect("bookings", err, want)
	fresh.Expect("what is due", o.Another().RunDue(ctx), want)
}

// mortal is a store of a process that dies.
type mortal struct {
	traintravel.Store
	p *officetest.Process
}

func (m mortal) Update(ctx context.Context, fn func(traintravel.Tx) error) error {
	if err := m.p.Step(); err != nil {
		return err
	}
	if err := m.Store.Update(ctx, fn); err != nil {
		return err
	}
	return m.p.Step()
}

func (m mortal) List(ctx context.Context, r traintravel.Range) ([]traintravel.Record, error) {
	if m.p.Dead() {
		return nil, officetest.ErrDead
	}
	return m.Store.List(ctx, r)
}

// TestCopyKilled: whoever moves a store may die before and after every update, of which
// some are tried. No two stores sell then, and who does it again comes to the end.
func TestCopyKilled(t *testing.T) {
	t.Parallel()
	o, held, _ := orderedOffice(t)
	before := officetest.Everything(t, o.Store)
	steps, both := 0, 0
	every := need.Stride(3)
	for alive := false; !alive; {
		steps += every
		from, to := filled(t, before), traintravel.Store(storetest.Twice(memstore.New()))
		p := &officetest.Process{DieAt: steps}
		err := traintravel.Copy(t.Context(), mortal{to, p}, mortal{from, p}, traintravel.CopyOptions{})
		alive = !p.Dead()
		if alive != (err == nil) {
			t.Fatalf("step %d: %v", steps, err)
		}
		old, fresh := sells(t, o.On(from), held), sells(t, o.On(to), held)
		switch {
		case old && fresh:
			t.Fatalf("step %d: both sell", steps)
		case !old && !fresh:
			both++
		}
		err = traintravel.Copy(t.Context(), to, from, traintravel.CopyOptions{})
		if err != nil {
			t.Fatalf("step %d, again: %v", steps, err)
		}
		if diff := cmp.Diff(before, officetest.Everything(t, to)); diff != "" || sells(t, o.On(from), held) || !sells(t, o.On(to), held) {
			t.Fatalf("step %d, again:\n%s", steps, diff)
		}
	}
	t.Logf("%d steps, every %d tried, of which %d leave both closed", steps, every, both)
	if both < 10/every {
		t.Error("too few deaths in the middle")
	}
}

// sells says whether a service on a store knows a booking.
func sells(t *testing.T, o *officetest.Office, b traintravel.Booking) bool {
	t.Helper()
	_, err := o.Another().Booking(t.Context(), officetest.Anna, b.ID)
	return err == nil
}

// failing is a store of which one update fails, before or after it is there.
type failing struct {
	traintravel.Store
	at    *int
	err   error
	after bool
}

func (f failing) Update(ctx context.Context, fn func(traintravel.Tx) error) error {
	*f.at--
	if *f.at != 0 {
		return f.Store.Update(ctx, fn)
	}
	if f.after {
		if err := f.Store.Update(ctx, fn); err != nil {
			return err
		}
	}
	return f.err
}

// TestCopyFails: who lives on gives the source back, unless the target may be open.
func TestCopyFails(t *testing.T) {
	t.Parallel()
	o, held, _ := orderedOffice(t)
	before := officetest.Everything(t, o.Store)
	every := need.Stride(2)
	for _, c := range []failing{{err: officetest.ErrDead}, {err: traintravel.ErrUnknownOutcome, after: true}, {err: traintravel.ErrUnknownOutcome}} {
		for n, more := 1, true; more; n += every {
			at := n
			from, to := filled(t, before), traintravel.Store(memstore.New())
			bad := func(s traintravel.Store) traintravel.Store { return failing{s, &at, c.err, c.after} }
			err := traintravel.Copy(t.Context(), bad(to), bad(from), traintravel.CopyOptions{})
			if more = at <= 0; !more {
				break
			}
			if !errors.Is(err, c.err) {
				t.Fatalf("%+v, update %d: %v", c, n, err)
			}
			old, fresh := sells(t, o.On(from), held), sells(t, o.On(to), held)
			if last := strings.Contains(err.Error(), "copy again"); old && fresh || !last && !old || last && fresh != c.after {
				t.Fatalf("%+v, update %d: the source sells: %v, the target: %v; %v", c, n, old, fresh, err)
			}
			err = traintravel.Copy(t.Context(), to, from, traintravel.CopyOptions{})
			if err != nil {
				t.Fatalf("%+v, update %d, again: %v", c, n, err)
			}
			if diff := cmp.Diff(before, officetest.Everything(t, to)); diff != "" {
				t.Fatalf("%+v, update %d, again:\n%s", c, n, diff)
			}
		}
	}
}

// TestCopyWhileOthersTry: services on both stores never sell half, a copy that
// another one overtakes writes no more, and one that is stopped gives the source
// back.
func TestCopyWhileOthersTry(t *testing.T) {
	t.Parallel()
	o, held, _ := orderedOffice(t)
	to := traintravel.Store(memstore.New())
	ctx, stop := context.WithCancel(t.Context())
	err := traintravel.Copy(ctx, to, o.Store, traintravel.CopyOptions{Progress: func(done, _ int64) {
		if done < 20 {
			return
		}
		closed(t, o, held, traintravel.ErrMoved)
		closed(t, o.On(to), held, traintravel.ErrCopying)
		if err := traintravel.Reopen(t.Context(), to, nil); !errors.Is(err, traintravel.ErrCopying) {
			t.Errorf("opening half a copy: %v", err)
		}
		if err := traintravel.Copy(t.Context(), memstore.New(), to, traintravel.CopyOptions{}); !errors.Is(err, traintravel.ErrCopying) {
			t.Errorf("moving half a copy on: %v", err)
		}
		stop()
	}})
	o.Expect("stopped", err, context.Canceled)
	if !sells(t, o.Another(), held) {
		t.Error("the source was not given back")
	}

	// Half a copy is there; one more begins, and is overtaken.
	before := officetest.Everything(t, o.Store)
	overtaken := false
	err = traintravel.Copy(t.Context(), to, o.Store, traintravel.CopyOptions{Progress: func(done, _ int64) {
		if !overtaken {
			overtaken = true
			o.Expect("overtaking", traintravel.Copy(t.Context(), to, o.Store, traintravel.CopyOptions{}), nil)
		}
	}})
	if err == nil || !strings.Contains(err.Error(), "meanwhile") {
		t.Errorf("overtaken: %v", err)
	}
	if diff := cmp.Diff(before, officetest.Everything(t, to)); diff != "" || sells(t, o.Another(), held) || !sells(t, o.On(to), held) {
		t.Errorf("overtaken:\n%s", diff)
	}
}

// TestCopyVerifies: a target that loses a record stays closed.
func TestCopyVerifies(t *testing.T) {
	t.Parallel()
	o, held, _ := orderedOffice(t)
	for _, change := range []string{"", "x"} {
		to := memstore.New()
		err := traintravel.Copy(t.Context(), forgetful{to, change}, o.Store, traintravel.CopyOptions{})
		if err == nil || !strings.Contains(err.Error(), "the table payments is not what the source holds") {
			t.Errorf("%q: %v", change, err)
		}
		if !sells(t, o.Another(), held) || sells(t, o.On(to), held) {
			t.Errorf("%q: the wrong one sells", change)
		}
	}
}

// forgetful keeps something else of each payment, or nothing.
type forgetful struct {
	traintravel.Store
	change string
}

func (f forgetful) Update(ctx context.Context, fn func(traintravel.Tx) error) error {
	return f.Store.Update(ctx, func(tx traintravel.Tx) error { return fn(forgetfulTx{tx, f.change}) })
}

type forgetfulTx struct {
	traintravel.Tx
	change string
}

func (f forgetfulTx) Put(k traintravel.Key, v []byte) {
	if k.Table == traintravel.TablePayments {
		if f.change == "" {
			return
		}
		v = []byte(f.change)
	}
	f.Tx.Put(k, v)
}

// TestCopyLargeRecords, and many: no update is large.
func TestCopyLargeRecords(t *testing.T) {
	t.Parallel()
	need.Short(t, "stores on disk")
	from, to := memstore.New(), officetest.OpenBolt(t, filepath.Join(t.TempDir(), "trains.db"))
	for i := range 40 {
		err := from.Update(t.Context(), func(tx traintravel.Tx) error {
			for n := range 100 {
				tx.Put(traintravel.Key{Table: traintravel.TableRuns, ID: fmt.Sprintf("%d small %d", i, n)}, []byte{})
			}
			tx.Put(traintravel.Key{Table: traintravel.TableRuns, ID: strings.Repeat("\xff", i+1)}, make([]byte, traintravel.MaxValue))
			tx.Put(traintravel.Key{Table: traintravel.TableRuns, ID: strings.Repeat("\xff", traintravel.MaxKey-i)}, make([]byte, traintravel.MaxValue))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := traintravel.Copy(t.Context(), light{to, t}, from, traintravel.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	if a, b := officetest.Everything(t, from), officetest.Everything(t, to); len(a) != 4080 || !cmp.Equal(a, b) {
		t.Errorf("%d records became %d, or others", len(a), len(b))
	}
}

// light refuses updates that are too large.
type light struct {
	traintravel.Store
	t *testing.T
}

func (s light) Update(ctx context.Context, fn func(traintravel.Tx) error) error {
	return s.Store.Update(ctx, func(tx traintravel.Tx) error {
		w := &weighed{Tx: tx}
		err := fn(w)
		if w.bytes > 2<<20 || w.records > 1001 {
			s.t.Errorf("an update of %d records and %d bytes", w.records, w.bytes)
		}
		return err
	})
}

type weighed struct {
	traintravel.Tx
	records, bytes int
}

func (w *weighed) Put(k traintravel.Key, v []byte) {
	w.records, w.bytes = w.records+1, w.bytes+len(v)
	w.Tx.Put(k, v)
}

// TestFirstTimetable: of several that load the first one, one does.
func TestFirstTimetable(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		one := func(before func()) error {
			s, err := traintravel.New(&officetest.Interposed{Store: store, Before: before}, traintravel.Options{Now: func() time.Time { return officetest.Opens }})
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.LoadFirstTimetable(t.Context(), officetest.Network())
			return err
		}
		raced := false
		err := one(func() {
			if !raced {
				raced = true
				if err := one(nil); err != nil {
					t.Error(err)
				}
			}
		})
		if !errors.Is(err, traintravel.ErrHasTimetable) {
			t.Errorf("the second one: %v", err)
		}
		if books, err := audittest.Audit(t.Context(), store); err != nil {
			t.Errorf("%+v, %v", books, err)
		}
	})
}

// Reopen closes the store that the data had moved to, and nothing else.
func TestReopenClosesTheTarget(t *testing.T) {
	t.Parallel()
	o := officetest.New(t, memstore.New())
	held := o.Book(officetest.Anna, o.TripID('A', 'B', "R 1"))
	to, other := memstore.New(), memstore.New()
	o.Expect("moving", traintravel.Copy(t.Context(), to, o.Store, traintravel.CopyOptions{}), nil)
	if err := traintravel.Reopen(t.Context(), o.Store, other); err == nil || sells(t, o.Another(), held) || !sells(t, o.On(to), held) {
		t.Errorf("with another target: %v", err)
	}
	o.Expect("going back", traintravel.Reopen(t.Context(), o.Store, to), nil)
	if !sells(t, o.Another(), held) || sells(t, o.On(to), held) {
		t.Error("the wrong one sells")
	}
	o.Expect("moving there again", traintravel.Copy(t.Context(), to, o.Store, traintravel.CopyOptions{}), traintravel.ErrMoved)
	if !sells(t, o.Another(), held) {
		t.Error("none sells")
	}
}
