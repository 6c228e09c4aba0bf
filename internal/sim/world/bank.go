package world

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/sim/chance"
)

// A Bank keeps the contract of traintravel.PaymentGateway, with every fault that it allows.
// It never takes money twice for one ID.
type Bank struct {
	w    *World
	gone []spell
	// pending is the longest time that a charge is pending.
	pending time.Duration

	mu      sync.Mutex
	takings map[uuid.UUID]*Taking
	refunds map[uuid.UUID]*giving
	hands   hands
	way     []arrival // charges that are on their way, by their instants
	settles []settlement
	wrong   []string
}

// A Taking is what the bank has written down about a charge.
type Taking struct {
	ID, Booking uuid.UUID
	Amount      traintravel.Money
	Status      traintravel.PaymentStatus // Failed without an amount if it was cancelled before it came
	Arrived     time.Time
	Settled     time.Time // zero while it is pending
	Refunded    int64     // of the amount, made
}

// giving is a refund.
type giving struct {
	traintravel.Refund
	status traintravel.PaymentStatus
}

type arrival struct {
	at time.Time
	c  traintravel.Charge
}

type settlement struct {
	at time.Time
	id uuid.UUID
}

func newBank(w *World) *Bank {
	r := w.Seed.At("bank", 0)
	return &Bank{
		w: w, gone: w.spells(BankAway, "the bank", 4, time.Minute, 50*time.Hour),
		pending: []time.Duration{time.Hour, 3 * time.Hour, 60 * time.Hour}[r.IntN(3)],
		takings: map[uuid.UUID]*Taking{}, refunds: map[uuid.UUID]*giving{}, hands: hands{Provider: w.Provider, sources: map[uuid.UUID]traintravel.Source{}},
	}
}

// Tick does what is due at the bank: charges arrive, and pending ones are settled.
func (b *Bank) Tick() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tick()
}

func (b *Bank) tick() {
	now, calm := time.Now(), b.w.Faults.IsCalm()
	for len(b.way) > 0 && (calm || !now.Before(b.way[0].at)) {
		a := b.way[0]
		b.way = b.way[1:]
		b.take(a.c)
	}
	for len(b.settles) > 0 && (calm || !now.Before(b.settles[0].at)) {
		id := b.settles[0].id
		b.settles = b.settles[1:]
		if g := b.refunds[id]; g != nil && g.status != traintravel.Pending {
			continue
		} else if g != nil {
			if g.status = b.hands.settled(id, traintravel.Succeeded); g.status == traintravel.Succeeded {
				b.give(g)
			}
			continue
		}
		t := b.takings[id]
		if t.Status != traintravel.Pending {
			continue
		}
		t.Status = b.hands.settled(id, []traintravel.PaymentStatus{traintravel.Succeeded, traintravel.Succeeded, traintravel.Failed}[b.w.Seed.At("settle", key(id)).IntN(3)])
		t.Settled = now
		b.w.Journal.Say("the bank settles charge %s: %s", Short(id), t.Status)
	}
}

// key is the last bits of an ID, which are random.
func key(id uuid.UUID) (k uint64) {
	for _, b := range id[8:] {
		k = k<<8 | uint64(b)
	}
	return k
}

// Short is the end of an ID, as the story shows it.
func Short(id uuid.UUID) string { s := id.String(); return s[len(s)-6:] }

// take is the arrival of a charge.
func (b *Bank) take(c traintravel.Charge) *Taking {
	if t := b.takings[c.ID]; t != nil {
		if t.Amount != (traintravel.Money{}) && (t.Amount != c.Amount || t.Booking != c.Booking) {
			b.wrong = append(b.wrong, fmt.Sprintf("charge %v came with %v for %v, and with %v for %v", c.ID, t.Amount, t.Booking, c.Amount, c.Booking))
			return t
		}
		b.hands.again(c, t.Status)
		return t
	}
	t := &Taking{ID: c.ID, Booking: c.Booking, Amount: c.Amount, Status: traintravel.Succeeded, Arrived: time.Now(), Settled: time.Now()}
	b.takings[c.ID] = t
	d := b.w.Places.Draw("arrival of charge " + c.ID.String())
	declined, pends := b.w.Faults.Strikes(d, ChargeDeclined, 1), b.w.Faults.Strikes(d, ChargePending, 1)
	switch {
	case declined:
		t.Status = traintravel.Failed
	case pends:
		t.Status = traintravel.Pending
	}
	if t.Status = b.hands.charged(c, t.Status); t.Status == traintravel.Pending {
		t.Settled = time.Time{}
		b.settles = inOrder(append(b.settles, settlement{time.Now().Add(chance.Between(d.Rand, time.Second, b.pending)), c.ID}))
	}
	b.w.Journal.Say("the bank gets charge %s of booking %s, %s: %s", Short(c.ID), Short(c.Booking), amount(c.Amount), t.Status)
	return t
}

func inOrder(ss []settlement) []settlement {
	slices.SortStableFunc(ss, func(a, b settlement) int { return a.at.Compare(b.at) })
	return ss
}

func (b *Bank) give(g *giving) {
	t := b.takings[g.Charge]
	if t == nil || t.Status != traintravel.Succeeded || t.Refunded+g.Amount.Amount > t.Amount.Amount || g.Amount.Amount <= 0 || g.Amount.Currency != t.Amount.Currency {
		b.wrong = append(b.wrong, fmt.Sprintf("refund %v of %v is asked of charge %v, which is %+v", g.ID, g.Amount, g.Charge, t))
		return
	}
	t.Refunded += g.Amount.Amount
	b.w.Journal.Say("the bank refunds %s of charge %s", amount(g.Amount), Short(g.Charge))
}

func amount(m traintravel.Money) string { return fmt.Sprintf("%d %s", m.Amount, m.Currency) }

// Takings are what the bank has written down, by the IDs of charges.
func (b *Bank) Takings() []Taking {
	b.mu.Lock()
	defer b.mu.Unlock()
	ts := make([]Taking, 0, len(b.takings))
	for _, t := range b.takings {
		ts = append(ts, *t)
	}
	slices.SortFunc(ts, func(x, y Taking) int { return bytes.Compare(x.ID[:], y.ID[:]) })
	return ts
}

// Taking returns what the bank knows of a charge, nil if nothing.
func (b *Bank) Taking(charge uuid.UUID) *Taking {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.takings[charge]
	if t == nil {
		return nil
	}
	c := *t
	return &c
}

// Refunded reports whether a refund was made.
func (b *Bank) Refunded(refund uuid.UUID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	g := b.refunds[refund]
	return g != nil && g.status == traintravel.Succeeded
}

// OnTheWay reports whether a charge may still arrive.
func (b *Bank) OnTheWay(charge uuid.UUID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.way, func(a arrival) bool { return a.c.ID == charge })
}

// Audit compares the bank's books with the gateway in the end, if there is one.
func (b *Bank) Audit() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.hands.Provider == nil {
		return
	}
	for id, t := range b.takings {
		b.hands.compare(id, t.Status)
		want := int64(0)
		if t.Status == traintravel.Succeeded {
			want = t.Amount.Amount - t.Refunded
		}
		if moved, known, err := b.hands.Provider.Moved(context.Background(), id); err != nil || known && moved != want {
			b.hands.blame("charge %v has moved %d in all, not %d: %v", id, moved, want, err)
		}
	}
}

// Wrong returns what the services asked that the contract forbids.
func (b *Bank) Wrong() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Concat(b.wrong, b.hands.wrong)
}

// A line is a process's way to the bank.
type line struct {
	w    *World
	seat *Seat
}

// Cancels reports whether the gateway can cancel charges.
func (w *World) Cancels() bool {
	return !w.Faults.On(NoCanceller) && (w.Provider == nil || w.Provider.Cancels())
}

// Gateway returns the way of a process to the bank.
func (w *World) Gateway(seat *Seat) traintravel.PaymentGateway {
	l := line{w, seat}
	if !w.Cancels() {
		w.Faults.Count(NoCanceller)
		return struct{ traintravel.PaymentGateway }{l}
	}
	return l
}

var errLine = errors.New("sim: the bank does not answer")

// call begins a call about an item. It returns with the bank locked, or an error.
func (l line) call(ctx context.Context, what string, id uuid.UUID) (chance.Dice, error) {
	d := l.w.Places.Draw(what + " " + id.String())
	l.w.latency(d, 2*time.Second)
	l.seat.stand(d)
	if l.seat.Dead() {
		return d, ErrDead
	}
	if l.w.Faults.Strikes(d, BankHangs, 0.1) {
		l.w.Journal.Say("the bank hangs when it is asked to %s %s", what, Short(id))
		<-ctx.Done()
		return d, ctx.Err()
	}
	l.w.Bank.mu.Lock()
	gone := l.w.Bank.gone
	l.w.Bank.mu.Unlock()
	if l.w.away(gone, BankAway) {
		return d, errLine
	}
	if l.w.Faults.Strikes(d, BankPanics, 0.1) {
		panic("sim: the gateway panics")
	}
	l.w.Bank.mu.Lock()
	l.w.Bank.tick()
	return d, nil
}

// answer ends a call: the process may die before it can use the answer.
func (l line) answer(d chance.Dice, o traintravel.Outcome, err error) (traintravel.Outcome, error) {
	l.w.Bank.mu.Unlock()
	if l.w.Faults.Strikes(d, DeathAtBank, 0.1) {
		l.w.Journal.Say("%s dies when the bank has answered %s", l.seat.name, o.Status)
		l.seat.Kill()
		return traintravel.Outcome{}, ErrDead
	}
	return o, err
}

func outcome(s traintravel.PaymentStatus) traintravel.Outcome {
	o := traintravel.Outcome{Status: s}
	if s == traintravel.Failed {
		o.Failure = traintravel.Failure{Code: traintravel.CardDeclined, Message: "The bank declined the card."}
	}
	return o
}

// Charge implements traintravel.PaymentGateway.
func (l line) Charge(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
	d, err := l.call(ctx, "charge", c.ID)
	if err != nil {
		return traintravel.Outcome{}, err
	}
	b := l.w.Bank
	c.Source = traintravel.Source{}
	lost, late := l.w.Faults.Strikes(d, ChargeLost, 1), l.w.Faults.Strikes(d, ChargeLate, 1)
	doubled, unanswered := l.w.Faults.Strikes(d, ChargeDoubled, 1), l.w.Faults.Strikes(d, ChargeUnanswered, 1)
	switch {
	case lost:
		l.w.Journal.Say("charge %s is lost on its way to the bank", Short(c.ID))
		return l.answer(d, traintravel.Outcome{}, errLine)
	case late:
		after := chance.Between(d.Rand, time.Second, 24*time.Hour-time.Minute)
		l.w.Journal.Say("charge %s will arrive at the bank %v late", Short(c.ID), after)
		b.send(c, after)
		b.breakDown(d)
		return l.answer(d, traintravel.Outcome{}, errLine)
	}
	t := b.take(c)
	if doubled {
		b.send(c, chance.Between(d.Rand, time.Second, 24*time.Hour-time.Minute))
	}
	if unanswered {
		l.w.Journal.Say("the bank's answer to charge %s is lost", Short(c.ID))
		return l.answer(d, traintravel.Outcome{}, errLine)
	}
	return l.answer(d, outcome(t.Status), nil)
}

// breakDown lets the bank go away soon after a charge came late, now and then: until after the
// day in which the charge is watched.
func (b *Bank) breakDown(d chance.Dice) {
	from, more := chance.Between(d.Rand, 2*time.Minute, time.Hour), chance.Between(d.Rand, time.Minute, 6*time.Hour)
	if d.IntN(3) == 0 && b.w.Faults.On(BankAway) {
		b.gone = append(b.gone, spell{time.Now().Add(from), time.Now().Add(24*time.Hour + more)})
	}
}

func (b *Bank) send(c traintravel.Charge, after time.Duration) {
	b.way = append(b.way, arrival{time.Now().Add(after), c})
	slices.SortStableFunc(b.way, func(x, y arrival) int { return x.at.Compare(y.at) })
}

// Lookup implements traintravel.PaymentGateway.
func (l line) Lookup(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
	d, err := l.call(ctx, "lookup", id)
	if err != nil {
		return traintravel.Outcome{}, err
	}
	switch t, g := l.w.Bank.takings[id], l.w.Bank.refunds[id]; {
	case l.w.Faults.Strikes(d, LookupFails, 1):
		return l.answer(d, traintravel.Outcome{}, errLine)
	case t != nil:
		if s := l.w.Bank.hands.compare(id, t.Status); s != t.Status {
			t.Status, t.Settled = s, time.Now()
		}
		return l.answer(d, outcome(t.Status), nil)
	case g != nil:
		if s := l.w.Bank.hands.compare(id, g.status); s != g.status {
			if g.status = s; s == traintravel.Succeeded {
				l.w.Bank.give(g)
			}
		}
		return l.answer(d, outcome(g.status), nil)
	default:
		l.w.Bank.hands.compare(id, "")
		return l.answer(d, traintravel.Outcome{}, fmt.Errorf("sim: the bank does not know %v: %w", id, traintravel.ErrNotFound))
	}
}

// Refund implements traintravel.PaymentGateway.
func (l line) Refund(ctx context.Context, r traintravel.Refund) (traintravel.Outcome, error) {
	d, err := l.call(ctx, "refund", r.ID)
	if err != nil {
		return traintravel.Outcome{}, err
	}
	b := l.w.Bank
	g := b.refunds[r.ID]
	fails, pends := l.w.Faults.Strikes(d, RefundFails, 1), l.w.Faults.Strikes(d, RefundPending, 1)
	switch {
	case g != nil && g.Refund != r:
		b.wrong = append(b.wrong, fmt.Sprintf("refund %v came as %v and as %v", r.ID, g.Refund, r))
		return l.answer(d, traintravel.Outcome{}, errLine)
	case g != nil:
		if s := b.hands.refunded(r, g.status); s != g.status {
			b.hands.blame("refund %v is %s, and answered with %s when it comes again", r.ID, g.status, s)
		}
		return l.answer(d, outcome(g.status), nil)
	case fails && d.IntN(2) == 0:
		return l.answer(d, traintravel.Outcome{Status: traintravel.Failed, Failure: traintravel.Failure{Code: "processing_error", Message: "Try again later."}}, nil)
	case fails && d.IntN(2) == 0:
		return l.answer(d, traintravel.Outcome{}, errLine)
	}
	g = &giving{Refund: r, status: traintravel.Succeeded}
	b.refunds[r.ID] = g
	if pends && b.w.Provider == nil {
		g.status = traintravel.Pending
	}
	if g.status = b.hands.refunded(r, g.status); g.status == traintravel.Pending {
		b.settles = inOrder(append(b.settles, settlement{time.Now().Add(chance.Between(d.Rand, time.Second, b.pending)), r.ID}))
	} else {
		b.give(g)
	}
	if fails { // it was made, and the answer is lost
		return l.answer(d, traintravel.Outcome{}, errLine)
	}
	return l.answer(d, outcome(g.status), nil)
}

// Cancel implements traintravel.Canceller.
func (l line) Cancel(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
	d, err := l.call(ctx, "cancel", id)
	if err != nil {
		return traintravel.Outcome{}, err
	}
	b := l.w.Bank
	fails := l.w.Faults.Strikes(d, CancelFails, 20)
	if fails && d.IntN(2) == 0 {
		return l.answer(d, traintravel.Outcome{}, errLine)
	}
	t := b.takings[id]
	switch {
	case t == nil: // whatever comes later finds that it was cancelled
		t = &Taking{ID: id, Status: traintravel.Failed, Arrived: time.Now(), Settled: time.Now()}
		b.takings[id] = t
		if s := b.hands.cancelled(id, t.Status); s != t.Status {
			b.hands.blame("charge %v has never come, and its cancellation is answered with %s", id, s)
		}
		b.w.Journal.Say("the bank cancels charge %s before it came", Short(id))
	case t.Status == traintravel.Pending:
		s := traintravel.Pending
		if d.IntN(2) == 0 {
			s = traintravel.Failed
		}
		if t.Status = b.hands.cancelled(id, s); t.Status != traintravel.Pending {
			t.Settled = time.Now()
			b.w.Journal.Say("the bank cancels charge %s: %s", Short(id), t.Status)
		}
	default:
		if s := b.hands.cancelled(id, t.Status); s != t.Status {
			b.hands.blame("charge %v is %s, and its cancellation is answered with %s", id, t.Status, s)
		}
	}
	if fails {
		return l.answer(d, traintravel.Outcome{}, errLine)
	}
	return l.answer(d, outcome(t.Status), nil)
}
