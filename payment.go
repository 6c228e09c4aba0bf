package traintravel

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"
)

// A Payment is an attempt to pay for a booking, or a refund.
type Payment struct {
	ID      uuid.UUID
	Booking uuid.UUID
	Amount  Money  // negative for a refund
	Source  Source // masked: the end of the number, no code, no address
	Status  PaymentStatus
	Failure Failure // why, if Status is Failed
	// Resolution says of a refund that it succeeded because it was made elsewhere, or
	// failed because it is impossible; otherwise it is empty.
	Resolution Resolution
	Created    time.Time
	// Settled is when Status became what it is, zero while that is Pending or if it
	// is not known.
	Settled time.Time
	// RefundOf is the payment that a refund gives back; nil for an attempt.
	RefundOf uuid.UUID
	// Settlements are what operators have decided about it by hand, the oldest first,
	// and LastError is the gateway's last answer if that settled nothing. Both are for
	// operators, not for the payer.
	Settlements []Settlement
	LastError   string
	// Replayed says that PayBooking answered a repeated idempotency key. It
	// is not stored.
	Replayed bool
}

// A NewPayment asks to pay for a booking.
type NewPayment struct {
	Amount Money // exactly the booking's price
	Source Source
	// IdempotencyKey is as in [NewBooking].
	IdempotencyKey string
}

// payment is a Payment and how far it has got.
type payment struct {
	Payment
	failed   Failure   // what it had failed with, if it has succeeded after all
	erased   bool      // so is its booking: what is said of it from now on is not kept
	charging bool      // the gateway may still be asked, until deadline
	unfenced bool      // it was lost, and the gateway has not said that it is cancelled
	deadline time.Time // of the charge
	next     time.Time // when Run looks after it; zero once there is nothing to do
	tries    int       // how often Run has
	order    int       // among the payments of its booking, from 1; zero before version 3
}

const (
	// maxPayment is the most that is taken at once, in minor units of any currency, and so
	// the most that a trip may cost and that is read as an amount.
	maxPayment = 1e16
	// maxFailure bounds what is kept of a gateway's words, in bytes.
	maxFailure = 500
	// lateCharge is how long after its deadline a charge may still arrive at
	// the gateway.
	lateCharge = time.Minute
	// watchFor is how long an attempt that has ended for its payer is watched at
	// least, and may still confirm its booking: see [payment.ended].
	watchFor = 24 * time.Hour
)

// PayBooking pays for a booking of the caller's. A payment that was attempted
// is returned without an error, whatever became of it: Succeeded has confirmed
// the booking, Failed leaves the hold for another try unless that was the last one of
// Options.Declines, Pending means that the
// outcome is not known yet and Run finds it out. The one exception is a payment
// that succeeded only after departure, or after the hold it kept had ended and
// somebody else had the places, or after another payment: it is returned with
// ErrPaidTooLate, and Run gives the money back. If the booking ends while the
// outcome is not known, Run asks the gateway to cancel the charge.
//
// The attempt is recorded, and the booking's places are kept for it, before
// the gateway is asked; once asked, the caller's context no longer ends it.
// If the charge of an earlier attempt was lost, and the gateway did not answer when it
// was to cancel that one, it is asked again first.
// It returns ErrNotFound, ErrHoldExpired, ErrTooManyDeclines, ErrAlreadyPaid,
// ErrPaymentInProgress, ErrNoGateway, ErrKeyReused, an [*AmountError], a [*DeclinesError]
// or an [*InvalidError], and then nothing was charged. A repeated request is answered with
// the payment as it stands, Pending while the first one is still under way.
func (s *Service) PayBooking(ctx context.Context, by Caller, booking uuid.UUID, n NewPayment) (_ Payment, err error) {
	ctx, end := s.begin(ctx, "PayBooking")
	defer end(&err)
	source, err := n.Source.normalize()
	if err != nil {
		return Payment{}, err
	}
	switch {
	case n.Amount.Amount <= 0:
		return Payment{}, invalid("amount", "is not above zero")
	case n.Amount.Amount > maxPayment:
		return Payment{}, invalid("amount", "is above %d minor units", int64(maxPayment))
	case !validCurrency(n.Amount.Currency):
		return Payment{}, invalid("currency", noCurrency)
	}
	if s.opts.Gateway == nil {
		return Payment{}, ErrNoGateway
	}
	idem, err := s.books.idempotency(by, n.IdempotencyKey, "payment "+booking.String(), func(f *fingerprint) {
		f.money(n.Amount)
		f.source(source, s.opts.FingerprintKey != nil)
	})
	if err != nil {
		return Payment{}, err
	}

	var start time.Time
	var p payment
	var first *answer
	counts := s.books.counts(by.Subject, source)
	record := func() error {
		start = time.Now()
		now := s.now()
		p = s.attempt(booking, n.Amount, source, now)
		return s.books.update(ctx, now, func(l *ledger) (err error) {
			counted, err := l.readCounts(counts, idem.key, bookingKey(booking))
			if err != nil {
				return err
			}
			if first, err = l.recall(idem); first != nil || err != nil {
				return err
			}
			b, err := l.booking(booking)
			if err != nil {
				return err
			}
			if !b.ownedBy(by) {
				return ErrNotFound
			}
			if err := l.startPayment(b, p); err != nil {
				return err
			}
			if err := l.count(&p, counts, counted); err != nil {
				return err
			}
			l.remember(idem, answer{about: booking, payment: p.ID})
			return nil
		})
	}
	if err = s.inTurn(ctx, record); errors.Is(err, ErrPaymentInProgress) && s.followOpen(ctx, booking) {
		err = s.inTurn(ctx, record)
	}
	switch {
	case err != nil:
		return Payment{}, err
	case first != nil:
		return s.firstPayment(ctx, *first)
	case p.Status == Failed:
		return p.Payment, nil
	}

	ctx, stop := context.WithDeadline(context.WithoutCancel(ctx), start.Add(s.opts.ChargeTimeout))
	out, err := s.charge(ctx, Charge{ID: p.ID, Booking: booking, Amount: p.Amount, Source: source})
	stop()
	if err != nil {
		s.log.WarnContext(ctx, "the outcome of a charge is unknown; it is looked up later", "payment", p.ID, "error", source.hide(err.Error()))
		out = Outcome{Status: Pending}
	}
	settled, confirmed, err := s.settle(context.WithoutCancel(ctx), p.Booking, p.ID, out)
	if err != nil {
		s.log.ErrorContext(ctx, "the outcome of a charge was not recorded; it is looked up later", "payment", p.ID, "error", err)
		return p.Payment, nil // pending, as recorded
	}
	return settled, inTime(settled, confirmed)
}

// settle records what the gateway answered to a charge, and says whether the payment
// has confirmed its booking.
func (s *Service) settle(ctx context.Context, booking, id uuid.UUID, out Outcome) (settled Payment, confirmed bool, err error) {
	err = s.onPayment(ctx, booking, id, func(l *ledger, sn *snapshot, p *payment, b *Booking) error {
		if err := l.settle(sn, p, b, out); err != nil {
			return err
		}
		settled, confirmed = p.Payment, b.PaidBy == id
		return nil
	})
	if err != nil {
		return Payment{}, false, err
	}
	return settled, confirmed, nil
}

// onPayment runs rules on a payment and its booking, which are there. The snapshot is nil
// if there is no timetable that can be read: what became of money is recorded all the same.
func (s *Service) onPayment(ctx context.Context, booking, id uuid.UUID, rules func(*ledger, *snapshot, *payment, *Booking) error) error {
	record := func(sn *snapshot) error {
		return s.books.update(ctx, s.now(), func(l *ledger) error {
			p, err := l.payment(booking, id)
			if err != nil {
				return damaged(err)
			}
			b, err := l.booking(booking)
			if err != nil {
				return damaged(err)
			}
			return rules(l, sn, p, b)
		})
	}
	if _, err := s.snapshot(ctx); unreadable(err) || errors.Is(err, ErrNoTimetable) {
		return record(nil)
	}
	return s.whileCurrent(ctx, record)
}

// firstPayment answers a repeated request with the payment it led to, as it stands now.
// One that is pending may be asked of the gateway at this moment, or the process that did
// may have died: nobody can tell, and it is pending either way.
func (s *Service) firstPayment(ctx context.Context, a answer) (Payment, error) {
	v, err := s.store.Get(ctx, paymentKey(a.about, a.payment), bookingKey(a.about))
	if err != nil {
		return Payment{}, err
	}
	p, err := decodePayment(v[0])
	if err != nil {
		return Payment{}, err
	}
	b, err := decodeBooking(v[1], s.books.zones)
	if err != nil {
		return Payment{}, err
	}
	p.Replayed = true
	return p.Payment, inTime(p.Payment, b.PaidBy == p.ID)
}

// Payment returns the latest attempt to pay for a booking of the caller's, even
// if the booking is over; ErrNotFound before the first.
func (s *Service) Payment(ctx context.Context, by Caller, booking uuid.UUID) (_ Payment, err error) {
	ctx, end := s.begin(ctx, "Payment")
	defer end(&err)
	b, err := s.books.ownBooking(ctx, s.store, by, booking)
	if err != nil {
		return Payment{}, err
	}
	if b.LatestPayment == uuid.Nil {
		return Payment{}, ErrNotFound
	}
	p, err := s.books.payment(ctx, s.store, booking, b.LatestPayment)
	return p.Payment, damaged(err)
}

// Payments lists the attempts to pay for a booking of the caller's and its
// refunds, newest first, even if the booking is over.
func (s *Service) Payments(ctx context.Context, by Caller, booking uuid.UUID, page Page) (_ List[Payment], err error) {
	ctx, end := s.begin(ctx, "Payments")
	defer end(&err)
	page, err = page.normalize()
	if err != nil {
		return List[Payment]{}, err
	}
	after, err := page.cursor(paymentList, 16)
	if err != nil {
		return List[Payment]{}, err
	}
	var found []Payment
	var left omissions
	err = s.store.View(ctx, func(r Reader) (err error) {
		if _, err := s.books.ownBooking(ctx, r, by, booking); err != nil {
			return err
		}
		found, left, err = readPayments(ctx, r, booking)
		return err
	})
	s.books.omit(ctx, left)
	if err != nil {
		return List[Payment]{}, err
	}
	slices.Reverse(found)
	if after != "" {
		at := slices.IndexFunc(found, func(p Payment) bool { return string(p.ID[:]) == after })
		if at < 0 {
			return List[Payment]{}, invalid("after", "%.60q is not from a link of this list", page.After)
		}
		found = found[at+1:]
	}
	return cut(paymentList, found, page.skip(), page.Limit, func(p Payment) string { return string(p.ID[:]) }), nil
}

// paymentsOf is the range of a booking's payments.
func paymentsOf(booking uuid.UUID) Range {
	prefix := string(booking[:])
	return Range{Table: TablePayments, From: prefix, To: prefixEnd(prefix)}
}

func paymentOf(rec Record) (payment, error) { return decodePayment(rec.Value) }

// readPayments reads the payments of a booking in the order in which they were made, and
// returns as left what it cannot read.
func readPayments(ctx context.Context, r Reader, booking uuid.UUID) (found []Payment, left omissions, err error) {
	var all []payment
	left, err = eachOf(ctx, r, paymentsOf(booking), paymentOf, func(p payment) bool {
		all = append(all, p)
		return true
	})
	slices.SortStableFunc(all, func(a, b payment) int { return a.order - b.order }) // those of earlier versions by their IDs
	for _, p := range all {
		found = append(found, p.Payment)
	}
	return found, left, err
}
