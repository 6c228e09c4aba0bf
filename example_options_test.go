package traintravel_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/sandbox"
)

// Run is the only work in the background, and ends when its context does.
func ExampleService_Run() {
	ctx, stop := context.WithCancel(context.Background())
	expired := make(chan traintravel.Event)
	var clock atomic.Value // holds a time.Time that can be put forward
	clock.Store(eveBefore)
	service := lineOffice(ctx, traintravel.Options{
		Now: func() time.Time { return clock.Load().(time.Time) },
		Notifier: traintravel.NotifierFunc(func(_ context.Context, e traintravel.Event) error {
			if e.Type == traintravel.BookingExpired {
				expired <- e
			}
			return nil
		}),
	})

	var running sync.WaitGroup
	running.Go(func() { fmt.Println("Run returned:", service.Run(ctx)) })

	holdSeat(ctx, service)
	clock.Store(eveBefore.Add(time.Hour)) // nobody has paid
	e := <-expired
	fmt.Println(e.Type, e.Booking.PassengerName, e.Booking.Status)

	stop()
	running.Wait()
	// Output:
	// bookingExpired Mira Example expired
	// Run returned: context canceled
}

// A program that does not stay calls RunDue every few minutes in the place of Run.
func ExampleService_RunDue() {
	ctx := context.Background()
	now := eveBefore
	service := lineOffice(ctx, traintravel.Options{
		Now: func() time.Time { return now },
		Notifier: traintravel.NotifierFunc(func(_ context.Context, e traintravel.Event) error {
			fmt.Println(e.Type, e.Booking.PassengerName)
			return nil
		}),
	})
	holdSeat(ctx, service)
	fmt.Println("RunDue returned:", service.RunDue(ctx))

	now = now.Add(time.Hour) // nobody has paid
	fmt.Println("RunDue returned:", service.RunDue(ctx))
	// Output:
	// newBooking Mira Example
	// RunDue returned: <nil>
	// bookingExpired Mira Example
	// RunDue returned: <nil>
}

// Prices and the terms of cancellation are the program's own.
func ExampleOptions() {
	ctx := context.Background()
	service := lineOffice(ctx, traintravel.Options{
		Gateway: sandbox.New(),
		Price: func(t traintravel.Trip) (traintravel.Money, bool) {
			price := t.Price // by the fares of the timetable
			if day := t.Origin().Time.Weekday(); day == time.Saturday || day == time.Sunday {
				return price, false // not for sale
			}
			price.Amount -= price.Amount / 4
			return price, true
		},
		Cancel: func(b traintravel.Booking, at time.Time) (traintravel.Money, error) {
			refund := b.Price
			if b.Legs[0].Origin.Time.Sub(at) < 24*time.Hour {
				refund.Amount /= 2
			}
			return refund, nil
		},
		HoldFor: 15 * time.Minute,
	})

	booking := holdSeat(ctx, service)
	fmt.Println(booking.Price, "until", booking.Expires.Format(time.TimeOnly))
	_, err := service.PayBooking(ctx, mira, booking.ID, traintravel.NewPayment{
		Amount: booking.Price, Source: testCard("4242424242424242"),
	})
	check(err)
	check(service.CancelBooking(ctx, mira, booking.ID))
	payments, err := service.Payments(ctx, mira, booking.ID, traintravel.Page{})
	check(err)
	fmt.Println("given back:", payments.Items[0].Amount)

	// Output:
	// 4.50 eur until 20:15:00
	// given back: -2.25 eur
}

// A Notifier takes events to a queue, a mailer, a webhook. An event comes again
// until Notify returns nil, so a receiver tells repetitions by its ID.
func ExampleNotifier() {
	ctx, stop := context.WithCancel(context.Background())
	queue := make(chan traintravel.Event)
	service := lineOffice(ctx, traintravel.Options{
		Notifier: traintravel.NotifierFunc(func(ctx context.Context, e traintravel.Event) error {
			select {
			case queue <- e:
				return nil
			case <-ctx.Done():
				return ctx.Err() // it is delivered by the next Run
			}
		}),
	})
	var running sync.WaitGroup
	running.Go(func() { _ = service.Run(ctx) })

	booking := holdSeat(ctx, service)
	e := <-queue
	fmt.Println(e.Type, e.Booking.PassengerName, e.Booking.Price)
	check(service.CancelBooking(ctx, mira, booking.ID))
	e = <-queue
	fmt.Println(e.Type, e.Booking.Status)

	stop()
	running.Wait()
	// Output:
	// newBooking Mira Example 6.00 eur
	// bookingCancelled cancelled
}

// voucher is a gateway that takes what is on a voucher. It acts once for each
// ID and remembers the outcome, as providers do with idempotency keys.
type voucher struct {
	mu       sync.Mutex
	left     int64
	outcomes map[uuid.UUID]traintravel.Outcome
}

func (v *voucher) Charge(_ context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
	return v.act(c.ID, -c.Amount.Amount)
}

func (v *voucher) Refund(_ context.Context, r traintravel.Refund) (traintravel.Outcome, error) {
	return v.act(r.ID, r.Amount.Amount)
}

func (v *voucher) Lookup(_ context.Context, id uuid.UUID) (traintravel.Outcome, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if outcome, ok := v.outcomes[id]; ok {
		return outcome, nil
	}
	return traintravel.Outcome{}, fmt.Errorf("voucher: %v: %w", id, traintravel.ErrNotFound)
}

func (v *voucher) act(id uuid.UUID, change int64) (traintravel.Outcome, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if outcome, ok := v.outcomes[id]; ok {
		return outcome, nil
	}
	outcome := traintravel.Outcome{Status: traintravel.Succeeded}
	if v.left+change < 0 {
		outcome = traintravel.Outcome{
			Status:  traintravel.Failed,
			Failure: traintravel.Failure{Code: traintravel.InsufficientFunds, Message: "The voucher is used up."},
		}
	} else {
		v.left += change
	}
	v.outcomes[id] = outcome
	return outcome, nil
}

// Money goes where a gateway of one's own takes it.
func ExamplePaymentGateway() {
	ctx := context.Background()
	gateway := &voucher{left: 1000, outcomes: map[uuid.UUID]traintravel.Outcome{}}
	service := lineOffice(ctx, traintravel.Options{Gateway: gateway})

	for range 2 {
		booking := holdSeat(ctx, service)
		payment, err := service.PayBooking(ctx, mira, booking.ID, traintravel.NewPayment{
			Amount: booking.Price, Source: testCard("4242424242424242"),
		})
		check(err)
		if payment.Status == traintravel.Failed {
			fmt.Println(payment.Failure.Message)
			continue
		}
		fmt.Println(payment.Status)
	}
	fmt.Println("left:", gateway.left)

	// Output:
	// succeeded
	// The voucher is used up.
	// left: 400
}
