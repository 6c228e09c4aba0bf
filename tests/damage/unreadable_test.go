package damage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/store/memstore"
)

// A scene is a store with something of everything: what is asked about, and what is carl's.
type scene struct {
	*officetest.Office
	m                        *officetest.Mailroom
	run, other               traintravel.Run
	paid, held, spare, refus traintravel.Booking // anna's
	sub                      traintravel.Subscription
	dead                     traintravel.Delivery
	refund                   traintravel.Payment
	trip                     uuid.UUID
	ctx                      context.Context
}

var (
	carl = traintravel.Caller{Subject: traintravel.Subject{Issuer: officetest.Anna.Issuer, ID: "carl"}, Client: "app"}
	dora = traintravel.Caller{Subject: traintravel.Subject{Issuer: officetest.Anna.Issuer, ID: "dora"}, Client: "app"}
)

// roomy is the network with more places.
func roomy() *traintravel.Timetable {
	return officetest.Timetable(officetest.Train("R 1", 8, "ABCD", officetest.Seats(20, 20), officetest.Hooks(3)), officetest.Train("S 3", 15, "FG"), officetest.Train("R 5", 20, "AB", officetest.Seats(9)), officetest.Train("R 6", 21, "AB", officetest.Seats(9)))
}

func posts(m *officetest.Mailroom) func(*traintravel.Options) {
	return func(opts *traintravel.Options) {
		opts.Webhooks = &traintravel.WebhookOptions{Sender: m, SealKey: make([]byte, 32), PerHost: 1000}
	}
}

func newScene(t *testing.T, store traintravel.Store) *scene {
	t.Helper()
	o, m := officetest.WithWebhooks(t, store)
	s := &scene{Office: o, m: m, ctx: t.Context()}
	o.Load(roomy())
	o.Forget()
	s.trip = o.TripID('A', 'C', "R 1")
	s.run, s.other = o.RunOf("R 1"), o.RunOf("R 6")
	s.sub = o.MustSubscribe(officetest.Anna, officetest.Hook)
	o.MustSubscribe(officetest.Anna, officetest.Hook+"2")
	o.MustSubscribe(carl, officetest.Hook+"carl")
	m.Answers[officetest.Hook] = officetest.Answers(410)
	sold := func(by traintravel.Caller, trip uuid.UUID) traintravel.Booking {
		o.Clock.Add(time.Second)
		b, err := o.CreateBooking(t.Context(), by, traintravel.NewBooking{TripID: trip, PassengerName: by.ID, HasBicycle: by == carl, IdempotencyKey: fmt.Sprint(by.ID, o.Clock.Now())})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	s.paid = sold(officetest.Anna, s.trip)
	o.Do() // and disables the subscription
	m.Answers[officetest.Hook] = nil
	enabled := false
	if _, err := o.ChangeSubscription(t.Context(), officetest.Anna, s.sub.ID, traintravel.SubscriptionChange{Disabled: &enabled}); err != nil {
		t.Fatal(err)
	}
	s.dead = o.OnlyDelivery(officetest.Anna, s.sub)
	o.MustPay(s.paid, traintravel.Failed, officetest.Declined)
	o.Clock.Add(time.Second)
	o.MustPay(s.paid, traintravel.Succeeded)
	s.held, s.spare, s.refus = sold(officetest.Anna, s.trip), sold(officetest.Anna, s.trip), sold(officetest.Anna, s.trip)
	sold(officetest.Berta, o.TripID('F', 'G', "S 3"))
	for _, number := range []string{"R 1", "R 5"} {
		o.MustPay(sold(carl, o.TripID('A', 'B', number)), traintravel.Succeeded)
	}
	o.Do()
	for range 2 {
		if _, err := o.PingSubscription(t.Context(), officetest.Anna, s.sub.ID, ""); err != nil {
			t.Fatal(err)
		}
	}
	o.Do()
	o.Bank.Before = func(op string, _ uuid.UUID) error { return errors.New("the bank is closed") }
	s.refund = o.MustPay(s.refus, traintravel.Pending)
	o.Bank.Before = nil
	o.Clock.Add(2 * time.Minute) // nobody asks for it any more
	return s
}

// calls call each method of a Service for something that can be read. They do not disturb
// each other in this order. A new method has to be added.
var calls = []struct {
	method string
	call   func(s *scene) error
}{
	{"SearchTrips", func(s *scene) error {
		l, err := s.SearchTrips(s.ctx, traintravel.TripQuery{Origin: officetest.Station('A'), Destination: officetest.Station('B'), Depart: officetest.Opens})
		return expectItems(len(l.Items), 2, err)
	}},
	{"Trip", func(s *scene) error { _, err := s.Trip(s.ctx, s.trip); return err }},
	{"TripCalls", func(s *scene) error {
		l, err := s.TripCalls(s.ctx, s.trip)
		return expectItems(len(l), 1, err)
	}},
	{"RefundTerms", func(s *scene) error { _ = s.RefundTerms(); return nil }},
	{"HasTrip", func(s *scene) error { _, err := s.HasTrip(s.ctx, s.trip); return err }},
	{"Ready", func(s *scene) error { return s.Ready(s.ctx) }},
	{"Stations", func(s *scene) error {
		l, err := s.Stations(s.ctx, traintravel.StationQuery{})
		return expectItems(len(l.Items), 8, err)
	}},
	{"Station", func(s *scene) error { _, err := s.Station(s.ctx, officetest.Station('A')); return err }},
	{"CreateBooking", func(s *scene) error {
		_, err := s.CreateBooking(s.ctx, dora, traintravel.NewBooking{TripID: s.trip, PassengerName: "Dora"})
		return err
	}},
	{"Booking", func(s *scene) error { _, err := s.Booking(s.ctx, officetest.Anna, s.paid.ID); return err }},
	{"Bookings", func(s *scene) error {
		l, err := s.Bookings(s.ctx, officetest.Anna, traintravel.Page{})
		return expectItems(len(l.Items), 4, err)
	}},
	{"PastBookings", func(s *scene) error {
		l, err := s.PastBookings(s.ctx, officetest.Anna, traintravel.Page{})
		return expectItems(len(l.Items), 0, err)
	}},
	{"PastBooking", func(s *scene) error {
		_, err := s.PastBooking(s.ctx, officetest.Anna, s.paid.ID)
		if errors.Is(err, traintravel.ErrNotFound) { // it is not over
			return nil
		}
		return errors.Join(err, errors.New("it is told of as over"))
	}},
	{"BookingHistory", func(s *scene) error {
		h, err := s.BookingHistory(s.ctx, s.held.ID)
		return expectItems(len(h.Payments), 0, err)
	}},
	{"FindBookings", func(s *scene) error {
		l, _, err := s.FindBookings(s.ctx, "anna", 10)
		return expectItems(len(l), 4, err)
	}},
	{"LookUpBookings", func(s *scene) error {
		f, err := s.LookUpBookings(s.ctx, "anna", 10)
		return expectItems(len(f.Bookings), 4, err)
	}},
	{"Ticket", func(s *scene) error { _, err := s.Ticket(s.ctx, officetest.Anna, s.paid.ID); return err }},
	{"TicketStatus", func(s *scene) error { _, err := s.TicketStatus(s.ctx, s.paid.ID); return err }},
	{"PayBooking", func(s *scene) error {
		p, err := s.Pay(s.held)
		if err == nil && p.Status != traintravel.Succeeded {
			err = fmt.Errorf("it is %v", p.Status)
		}
		return err
	}},
	{"Payment", func(s *scene) error { _, err := s.Payment(s.ctx, officetest.Anna, s.paid.ID); return err }},
	{"Payments", func(s *scene) error {
		l, err := s.Payments(s.ctx, officetest.Anna, s.held.ID, traintravel.Page{})
		return expectItems(len(l.Items), 1, err)
	}},
	{"FindPayment", func(s *scene) error { _, err := s.FindPayment(s.ctx, s.refund.ID); return err }},
	{"StuckPayments", func(s *scene) error {
		p, _, err := s.StuckPayments(s.ctx, time.Minute)
		return expectItems(len(p), 1, err)
	}},
	{"SettlePayment", func(s *scene) error {
		_, err := s.SettlePayment(s.ctx, s.refus.ID, s.refund.ID, traintravel.Settlement{As: traintravel.AsSucceeded, By: "desk", Reason: "in the books"})
		return err
	}},
	{"CancelBooking", func(s *scene) error { return s.CancelBooking(s.ctx, officetest.Anna, s.held.ID) }},
	{"CancelUnchanged", func(s *scene) error { return s.CancelUnchanged(s.ctx, officetest.Anna, s.spare) }},
	{"Runs", func(s *scene) error {
		r, err := s.Runs(s.ctx, "R 6", traintravel.DateOf(officetest.Opens))
		return expectItems(len(r), 1, err)
	}},
	{"Manifest", func(s *scene) error { _, err := s.Manifest(s.ctx, s.run.ID); return err }},
	{"Block", func(s *scene) error {
		return s.Block(s.ctx, s.other.ID, traintravel.Block{Coach: "1", Seat: 1, Alight: 1})
	}},
	{"Unblock", func(s *scene) error {
		return s.Unblock(s.ctx, s.other.ID, traintravel.Block{Coach: "1", Seat: 1, Alight: 1})
	}},
	{"CancelRun", func(s *scene) error {
		_, err := s.CancelRun(s.ctx, s.other.ID, traintravel.CancelRunOptions{})
		return err
	}},
	{"RestoreRun", func(s *scene) error { return s.RestoreRun(s.ctx, s.other.ID) }},
	{"State", func(s *scene) error { _, err := s.State(s.ctx); return err }},
	{"Subscribe", func(s *scene) error {
		_, _, err := s.Subscribe(s.ctx, dora, traintravel.NewSubscription{URL: officetest.Hook + "dora"})
		return err
	}},
	{"Subscriptions", func(s *scene) error {
		l, err := s.Subscriptions(s.ctx, officetest.Anna, traintravel.Page{})
		return expectItems(len(l.Items), 1, err)
	}},
	{"Desk", func(s *scene) error { _, err := s.Desk().Subscriptions(s.ctx, traintravel.Page{}); return err }},
	{"StoppedSubscriptions", func(s *scene) error { _, err := s.StoppedSubscriptions(s.ctx, traintravel.Page{}); return err }},
	{"Subscription", func(s *scene) error { _, err := s.Subscription(s.ctx, officetest.Anna, s.sub.ID); return err }},
	{"ChangeSubscription", func(s *scene) error {
		_, err := s.ChangeSubscription(s.ctx, officetest.Anna, s.sub.ID, traintravel.SubscriptionChange{Events: traintravel.EventTypes()})
		return err
	}},
	{"NewSubscriptionSecret", func(s *scene) error {
		_, _, err := s.NewSubscriptionSecret(s.ctx, officetest.Anna, s.sub.ID, "")
		return err
	}},
	{"Deliveries", func(s *scene) error {
		l, err := s.Deliveries(s.ctx, officetest.Anna, s.sub.ID, traintravel.Page{})
		return expectItems(len(l.Items), 1, err)
	}},
	{"RetryDelivery", func(s *scene) error {
		_, err := s.RetryDelivery(s.ctx, officetest.Anna, s.sub.ID, s.dead.ID, "")
		return err
	}},
	{"RetryDead", func(s *scene) error { _, err := s.RetryDead(s.ctx, officetest.Anna, s.sub.ID); return err }},
	{"PingSubscription", func(s *scene) error { _, err := s.PingSubscription(s.ctx, officetest.Anna, s.sub.ID, ""); return err }},
	{"Unsubscribe", func(s *scene) error { return s.Unsubscribe(s.ctx, officetest.Anna, s.sub.ID) }},
	{"HasWebhooks", func(s *scene) error { _ = s.HasWebhooks(); return nil }},
	{"ExportSubject", func(s *scene) error {
		d, err := s.ExportSubject(s.ctx, officetest.Berta.Subject)
		return expectItems(len(d.Bookings), 1, err)
	}},
	{"EraseSubject", func(s *scene) error {
		s.Clock.Add(30 * 24 * time.Hour)
		d, err := s.EraseSubject(s.ctx, officetest.Berta.Subject)
		return expectItems(d.Bookings, 1, err)
	}},
	{"LoadTimetable", func(s *scene) error { _, err := s.LoadTimetable(s.ctx, roomy()); return err }},
	{"CompareTimetable", func(s *scene) error { _, err := s.CompareTimetable(s.ctx, roomy()); return err }},
	{"ReplaceTimetable", func(s *scene) error {
		_, err := s.ReplaceTimetable(s.ctx, roomy(), func(traintravel.Edition) error { return nil })
		return err
	}},
	{"LoadFirstTimetable", func(s *scene) error {
		_, err := s.LoadFirstTimetable(s.ctx, roomy())
		if errors.Is(err, traintravel.ErrHasTimetable) {
			return nil
		}
		return errors.Join(err, errors.New("it is not refused"))
	}},
	{"RunDue", func(s *scene) error {
		ctx, stop := context.WithCancel(s.ctx)
		stop()
		if err := s.RunDue(ctx); !errors.Is(err, context.Canceled) {
			return err
		}
		return nil
	}},
	{"Run", func(s *scene) error {
		ctx, stop := context.WithCancel(s.ctx)
		stop()
		if err := s.Run(ctx); !errors.Is(err, context.Canceled) {
			return err
		}
		return nil
	}},
}

// expectItems expects at least so many of a list, unless there is an error.
func expectItems(n, want int, err error) error {
	if err == nil && n < want {
		return fmt.Errorf("there are %d of %d", n, want)
	}
	return err
}

// Each method of a Service is in calls.
func TestCallsAreComplete(t *testing.T) {
	t.Parallel()
	inTests := []string{"DirectTrip", "Forget", "KeepForgetting", "Works", "Wake", "RunWith", "RunDueWith", "QueueFloors"} // see export_test.go
	var have []string
	for _, c := range calls {
		have = append(have, c.method)
	}
	for m := range reflect.TypeFor[*traintravel.Service]().Methods() {
		if !slices.Contains(inTests, m.Name) && !slices.Contains(have, m.Name) {
			t.Errorf("say in calls what %s does beside a record that cannot be read", m.Name)
		}
	}
}

// withoutTimetable are the methods that need the timetable in force.
var withoutTimetable = []string{"SearchTrips", "Trip", "TripCalls", "Ready", "Stations", "Station", "CreateBooking", "Runs", "Manifest", "Block", "Unblock", "CancelRun", "RestoreRun"}

// unreadables are records of each table that cannot be read, and the methods that fail for it.
var unreadables = []struct {
	name  string
	table traintravel.Table
	is    func(*scene, traintravel.Record) bool
	fail  []string
}{
	{"booking of another", traintravel.TableBookings, func(s *scene, r traintravel.Record) bool { return bytes.Contains(r.Value, []byte("carl")) }, nil},
	{"reference", traintravel.TableReferences, func(*scene, traintravel.Record) bool { return true }, nil},
	{"run", traintravel.TableRuns, func(s *scene, r traintravel.Record) bool { return !strings.Contains(r.ID, string(s.run.ID.Train[:])) }, nil},
	{"payment of another", traintravel.TablePayments, func(s *scene, r traintravel.Record) bool {
		return !slices.ContainsFunc([]traintravel.Booking{s.paid, s.refus}, func(b traintravel.Booking) bool { return strings.HasPrefix(r.ID, string(b.ID[:])) })
	}, nil},
	{"payment of one's own", traintravel.TablePayments, func(s *scene, r traintravel.Record) bool {
		return strings.HasPrefix(r.ID, string(s.paid.ID[:])) // the first, which failed
	}, nil},
	{"idempotency key", traintravel.TableIdempotency, func(*scene, traintravel.Record) bool { return true }, nil},
	{"agenda of an event", traintravel.TableAgenda, func(_ *scene, r traintravel.Record) bool { return strings.IndexByte("ef", r.ID[0]) >= 0 }, nil},
	{"subscription", traintravel.TableWebhooks, func(s *scene, r traintravel.Record) bool { return bytes.Contains(r.Value, []byte(officetest.Hook+"2")) }, nil},
	{"delivery", traintravel.TableDeliveries, func(s *scene, r traintravel.Record) bool {
		return strings.HasPrefix(r.ID, "d"+string(s.sub.ID[:])) && bytes.Contains(r.Value, []byte("ping"))
	}, nil},
	{"timetable", traintravel.TableTimetable, func(_ *scene, r traintravel.Record) bool { return r.ID[16] == 't' }, withoutTimetable},
	{"registry", traintravel.TableTimetable, func(_ *scene, r traintravel.Record) bool { return r.ID[16] == 'r' }, append(slices.Clone(withoutTimetable), "LoadTimetable", "CompareTimetable", "ReplaceTimetable")},
	{"timetable in force", traintravel.TableMeta, func(_ *scene, r traintravel.Record) bool { return r.ID == "timetable" }, append(slices.Clone(withoutTimetable), "LoadTimetable", "LoadFirstTimetable", "CompareTimetable", "ReplaceTimetable")},
	{"server", traintravel.TableMeta, func(_ *scene, r traintravel.Record) bool { return strings.HasPrefix(r.ID, "server/") }, nil},
}

// What cannot be read is in the way of nobody who asks for something else: one record of
// each table, damaged or of a newer version. Nothing is written to it, and once it can be
// read everything agrees.
func TestUnreadableRecordsDelayNoOthers(t *testing.T) {
	t.Parallel()
	for _, u := range unreadables {
		for _, newer := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, newer %t", u.name, newer), func(t *testing.T) {
				t.Parallel()
				store := memstore.New()
				told := map[traintravel.UnreadableRecord]int{}
				s := newScene(t, store)
				if u.name == "server" {
					id := uuid.New()
					if err := store.Update(t.Context(), func(tx traintravel.Tx) error {
						tx.Put(traintravel.Key{Table: u.table, ID: "server/" + string(id[:])}, []byte{1, 0, 0, 0})
						return nil
					}); err != nil {
						t.Fatal(err)
					}
				}
				if u.table == traintravel.TableAgenda { // something to be told
					s.Book(carl, s.trip)
				}
				records, err := store.List(t.Context(), traintravel.Range{Table: u.table})
				if err != nil {
					t.Fatal(err)
				}
				at := slices.IndexFunc(records, func(r traintravel.Record) bool { return u.is(s, r) })
				if at < 0 {
					t.Fatalf("there is no such record among %d", len(records))
				}
				key := traintravel.Key{Table: u.table, ID: records[at].ID}
				restore := officetest.Spoil(t, store, key, newer)
				spoilt, err := store.Get(t.Context(), key)
				if err != nil {
					t.Fatal(err)
				}
				s.Office = s.Another(posts(s.m), func(opts *traintravel.Options) { // as one that is started now
					opts.Observer.Unreadable = func(_ context.Context, r traintravel.UnreadableRecord) { told[r]++ }
				})
				for _, c := range calls {
					if err := c.call(s); (err != nil) != slices.Contains(u.fail, c.method) {
						t.Errorf("%s: %v", c.method, err)
					}
					if c.method == "HasWebhooks" {
						now, err := store.Get(t.Context(), key)
						if err != nil || !bytes.Equal(now[0], spoilt[0]) {
							t.Errorf("the record that cannot be read was changed: %v", err)
						}
					}
				}
				for r := range maps.Keys(told) {
					if r != (traintravel.UnreadableRecord{Table: u.table, Newer: newer}) {
						t.Errorf("the observer was told of %+v", r)
					}
				}
				if len(told) == 0 && slices.Contains([]traintravel.Table{traintravel.TableBookings, traintravel.TableRuns, traintravel.TablePayments, traintravel.TableWebhooks, traintravel.TableDeliveries}, u.table) {
					t.Error("the observer was told of nothing")
				}
				report, err := traintravel.Check(t.Context(), store, traintravel.CheckOptions{})
				reported := slices.ContainsFunc(report.Faults, func(f traintravel.Fault) bool { return f.Key == key || u.table == traintravel.TableTimetable })
				if err != nil || !reported && u.table != traintravel.TableTimetable && u.table != traintravel.TableMeta {
					t.Errorf("the check reports %v, %v", report.Faults, err)
				}
				restore()
				s.Forget()
			})
		}
	}
}
