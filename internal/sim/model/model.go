// Package model is an independent witness of a simulated history. It knows what callers were
// told, what the bank and the receivers have in their own books, and the timetables that were
// loaded. From that it says what may be true, and reports each answer that cannot be.
//
// It shares no code with the rules of the service: it decides with types and sums of its own.
package model

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/sim/world"
)

// A Failure is an invariant that a history broke.
type Failure struct {
	Invariant string // such as S1
	Text      string
}

// Invariants returns what each invariant means, by its name.
func Invariants() map[string]string {
	return map[string]string{
		"S1": "no place is sold twice, or sold while it is blocked",
		"S2": "a trip is sold out only if it has no free place",
		"S3": "nothing is sold on a cancelled run",
		"M1": "the bank takes and refunds each amount once",
		"M2": "a confirmed booking is paid, exactly once in the end",
		"M3": "of a booking that is over, the operator keeps what the refund terms say",
		"M4": "no money stays for a payment that failed",
		"M5": "a payment that succeeded has moved money",
		"H1": "a hold ends when it was said to end",
		"H2": "a hold is alive before its end and over after it",
		"E1": "each receiver gets each event once, as of then",
		"I1": "one idempotency key has one effect and one answer",
		"I2": "a repeated request that had no answer is done once",
		"O1": "lists are complete and in order, and show a user's own bookings only",
		"B1": "IDs are never bound to something else, and facts never change",
		"A1": "each answer is one that the contract names for the state",
		"C1": "Check finds nothing",
		"X1": "nothing panics",
		"L1": "work that is due is done soon after the faults end",
	}
}

// Told is when an operation began and ended, by real time and by the clock of the process that
// did it.
type Told struct {
	Begin, End time.Time
	// Skew is how far the clock was off, at least; Varies is how much more it was meanwhile.
	Skew, Varies time.Duration
}

// first and last are the earliest and the latest that the service's clock can have shown.
func (t Told) first() time.Time { return t.Begin.Add(t.Skew) }
func (t Told) last() time.Time  { return t.End.Add(t.Skew + t.Varies) }

// Terms are the options of the services that the model has to know.
type Terms struct {
	HoldFor, PendingFor time.Duration
	// Back is how many hundredths of the price a cancelled booking gets back.
	Back int64
	// Retain is how long after its journey the owner of a booking is forgotten; zero is never.
	Retain time.Duration
	// Skew is how far the clocks of processes may be from real time.
	Skew time.Duration
	// Cancels says that the gateway can cancel charges.
	Cancels bool
}

// Bank is what the model asks the bank.
type Bank interface {
	Taking(charge uuid.UUID) *world.Taking
	Takings() []world.Taking
	OnTheWay(charge uuid.UUID) bool
	Wrong() []string
}

// A Model is the witness of one history. It is not safe for concurrent use.
type Model struct {
	terms    Terms
	bank     Bank
	bookings map[uuid.UUID]*Booking
	order    []*Booking
	byRun    map[runKey][]*Booking
	charges  map[uuid.UUID]*Attempt
	trains   trains
	byTrain  map[runKey][]*Booking // by the train that a run is in all timetables
	blocks   map[runKey][]block
	closed   map[runKey]bool     // cancelled by the operator, for sure
	unsure   map[runKey]bool     // perhaps
	names    map[string]*Booking // by reference
	lost     int                 // bookings that may exist, without an answer
	hooks    hooks
	subs     map[string]*Subscription // by URL
	eventIDs map[eventKey]uuid.UUID
	takings  map[uuid.UUID][]world.Taking // the bank's, by bookings, in the end
	looks    []*Look
	failures []Failure
}

// New returns a model of a history that has not begun.
func New(terms Terms, bank Bank) *Model {
	return &Model{
		terms: terms, bank: bank, bookings: map[uuid.UUID]*Booking{}, byRun: map[runKey][]*Booking{},
		byTrain: map[runKey][]*Booking{},
		charges: map[uuid.UUID]*Attempt{}, blocks: map[runKey][]block{}, closed: map[runKey]bool{}, unsure: map[runKey]bool{},
		names: map[string]*Booking{}, subs: map[string]*Subscription{}, eventIDs: map[eventKey]uuid.UUID{}, trains: newTrains(),
	}
}

// Failures are the invariants broken so far.
func (m *Model) Failures() []Failure { return m.failures }

// Fail reports a broken invariant.
func (m *Model) Fail(invariant, format string, args ...any) {
	if Invariants()[invariant] == "" {
		panic("unknown invariant " + invariant)
	}
	m.failures = append(m.failures, Failure{invariant, fmt.Sprintf(format, args...)})
}

// State is a set of the states that a booking may be in.
type State uint8

// The states of a booking.
const (
	Held State = 1 << iota
	Confirmed
	Cancelled
	Expired

	over = Cancelled | Expired
)

// String lists the states of the set.
func (s State) String() string {
	var names []string
	for i, name := range []string{"held", "confirmed", "cancelled", "expired"} {
		if s&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, " or ")
}

func stateOf(s traintravel.BookingStatus) State {
	switch s {
	case traintravel.Held:
		return Held
	case traintravel.Confirmed:
		return Confirmed
	case traintravel.Cancelled:
		return Cancelled
	case traintravel.Expired:
		return Expired
	}
	return 0
}

// A Booking is what is known of a booking.
type Booking struct {
	ID        uuid.UUID
	Reference string
	Owner     string
	Price     traintravel.Money
	Created   time.Time
	Expires   time.Time
	Departs   time.Time
	Arrives   time.Time

	asks, made time.Time // when it was asked for first, and answered

	legs     []leg
	can      State
	attempts []*Attempt
	asked    int // attempts to pay without an answer
	// stopped is how often the owner asked to cancel it without an answer.
	stopped   int
	was       State     // before the owner began to cancel it
	flying    int       // requests to pay for it or cancel it that are under way
	changed   time.Time // when an answer last said what it is
	moved     time.Time // when it was last seen with other places than before
	confirmed bool      // it was seen confirmed, or told so
	byOwner   bool      // it was cancelled by its owner, for sure or perhaps
	kept      bool      // it was confirmed when its owner cancelled it, for sure
	runClosed bool      // one of its runs was cancelled, for sure or perhaps
	byDesk    bool      // it was cancelled by the operator, for sure
	standing  bool      // it was alive for sure when the operator began to cancel its run
	erased    mark      // whether its owner is forgotten
	loose     bool      // it may have lost its places and got others, which are not known
}

// An Attempt is a payment of which a caller was told.
type Attempt struct {
	ID      uuid.UUID
	Booking *Booking
	Created time.Time // by the clock of the service
	Status  traintravel.PaymentStatus
	At      time.Time // when it was told first
	Since   time.Time // when it was told that it had succeeded
	Failed  time.Time // when it was told that it failed
}

// Booking returns what is known of a booking, nil if it is not known.
func (m *Model) Booking(id uuid.UUID) *Booking { return m.bookings[id] }

// Bookings are all that are known, in the order in which they became known.
func (m *Model) Bookings() []*Booking { return m.order }

// Deadlines are the instants at which something about the booking changes, by the clocks of
// the services.
func (m *Model) Deadlines(b *Booking) []time.Time {
	ds := []time.Time{b.Expires, b.Departs, b.Arrives, b.Created.Add(24 * time.Hour)}
	for _, a := range b.attempts {
		ds = append(ds, a.At.Add(m.terms.PendingFor), a.At.Add(24*time.Hour), a.At.Add(time.Minute+30*time.Second))
	}
	slices.SortFunc(ds, time.Time.Compare)
	return ds
}

// pass adds the states that the booking can have come to by itself until an instant.
func (m *Model) pass(b *Booking, until time.Time) {
	if b.can&Held != 0 && !until.Add(m.terms.Skew).Before(b.Expires) {
		b.can |= Expired
	}
	if b.can&(Held|Expired) != 0 && m.mayBePaid(b) && !m.barred(b) {
		b.can |= Confirmed
		if !until.Add(m.terms.Skew).Before(b.Expires) {
			b.can |= Expired
		}
	}
	if b.runClosed && b.can&(Held|Confirmed) != 0 {
		b.can |= Cancelled
	}
	b.loose = b.loose || b.can&Expired != 0
}

// mayBePaid reports whether an attempt to pay may have succeeded, or may still.
func (m *Model) mayBePaid(b *Booking) bool {
	return b.asked > 0 || slices.ContainsFunc(b.attempts, func(a *Attempt) bool {
		if a.Status != traintravel.Failed {
			return true
		}
		t := m.bank.Taking(a.ID) // told that it failed, and it came late
		return t != nil && t.Status == traintravel.Succeeded
	})
}

// alive reports whether the booking has its places for sure, at an instant.
func (m *Model) alive(b *Booking, at time.Time) bool {
	m.pass(b, at)
	switch b.can {
	case Confirmed:
		return true
	case Held, Held | Confirmed:
		return at.Add(m.terms.Skew).Before(b.Expires)
	}
	return false
}

// mayLive reports whether the booking may have its places, at an instant or later.
func (m *Model) mayLive(b *Booking, at time.Time) bool {
	m.pass(b, at)
	can := b.can
	if !b.confirmed && !m.mayBePaid(b) {
		can &^= Confirmed
		if !at.Add(-m.terms.Skew).Before(b.Expires) { // a place is free when its hold ends
			can &^= Held
		}
	}
	return can&(Held|Confirmed) != 0
}

// Removable reports whether a booking may have been removed because it ended unpaid long ago.
func (m *Model) Removable(b *Booking, at time.Time) bool {
	m.pass(b, at)
	return !b.confirmed && b.can&over != 0 && at.Sub(earlier(b.Arrives, b.Expires.Add(30*24*time.Hour))) >= 7*24*time.Hour-m.terms.Skew
}

// A Subscription is what is known of one, or of an endpoint of the operator's.
type Subscription struct {
	URL      string // no other has it
	By       traintravel.Caller
	Operator bool
	Events   []traintravel.EventType
	ID       uuid.UUID // once it is known

	created  time.Time
	open     int       // requests to subscribe without an answer
	ended    mark      // whether it was ended
	endedAt  time.Time // when that was answered
	off      mark      // whether it is disabled
	offAt    time.Time // when that was answered
	changed  time.Time // when it was last changed, or perhaps
	verified time.Time // when its receiver first answered a ping, zero before
	trusted  time.Time // when it was seen first that the service knows that, zero before
	secrets  []secret  // the newest last
	unsure   bool      // it is not known which secret is the newest
}

type secret struct {
	traintravel.Secret
	from, known time.Time // when it was asked for, and answered
}

type eventKey struct {
	kind             traintravel.EventType
	booking, payment uuid.UUID
}

// A mark says whether something was done: not at all, perhaps, or for sure.
type mark uint8

const (
	perhaps mark = iota + 1
	certain
)

// A block is a place that the operator has taken out of sale.
type block struct {
	stay
	sure bool
}

// shownAfter is how long after its departure the owner sees a booking that the operator has
// cancelled.
const shownAfter = 30 * 24 * time.Hour

// shownCancelled checks a booking that its owner sees as cancelled.
func (m *Model) shownCancelled(told Told, b *Booking, got traintravel.Booking) {
	switch {
	case !b.runClosed && !b.byOwner:
		m.Fail("A1", "booking %s is shown as cancelled, and nobody did that", world.Short(b.ID))
	case !got.ByOperator || !b.runClosed:
		m.Fail("A1", "booking %s was cancelled by its owner, and is shown to them", world.Short(b.ID))
	case !told.first().Before(b.Departs.Add(shownAfter)):
		m.Fail("A1", "booking %s was cancelled by the operator, and is shown %v after its departure", world.Short(b.ID), told.first().Sub(b.Departs))
	}
	b.byDesk = true
}

// mustShow reports whether the owner sees a booking for sure because the operator has
// cancelled it.
func (m *Model) mustShow(b *Booking, at time.Time) bool {
	return b.byDesk && b.can == Cancelled && at.Before(b.Departs.Add(shownAfter)) && !m.mayBeErased(b, at) && !m.Removable(b, at)
}

// refusedAsCancelled checks the answer that the operator has cancelled a booking.
func (m *Model) refusedAsCancelled(told Told, b *Booking) {
	if b.can&Cancelled == 0 || !b.runClosed || !told.first().Before(b.Departs.Add(shownAfter)) {
		m.Fail("A1", "booking %s was refused as cancelled by the operator, and is %v", world.Short(b.ID), b.can)
		return
	}
	b.can, b.byDesk = Cancelled, true
}

// mayBeErased reports whether the owner of a booking may be forgotten.
func (m *Model) mayBeErased(b *Booking, at time.Time) bool {
	return b.erased != 0 || m.terms.Retain > 0 && !at.Add(2*m.terms.Skew).Before(b.Arrives.Add(m.terms.Retain))
}

func forgotten(b traintravel.Booking) bool { return b.Owner.ID == "" && b.PassengerName == "" }
