package history

import (
	"context"
	"fmt"
	"sync"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/sim/model"
)

// crowd is how many users ask at the same moment in a rush.
const crowd = 4

// rush has several users ask for the same trip at the same moment, each on a server of their own
// as far as there are enough.
func (op *operation) rush(first *order) {
	orders, answers := []*order{first}, make([]func(*model.Model), crowd)
	for i := 1; i < crowd; i++ {
		by := traintravel.Caller{Subject: traintravel.Subject{ID: fmt.Sprint("user in a rush ", i)}}
		want := first.want
		want.IdempotencyKey = op.key(by)
		orders = append(orders, newOrder(by, want, first.Trip))
	}
	var wg sync.WaitGroup
	for i, o := range orders {
		at := *op
		at.as, at.s = fmt.Sprintf("rush %d of ", i), op.server(op.serverOf(op.n)+i)
		op.tell(func(m *model.Model) { m.Ordering(&o.Order) })
		wg.Go(func() {
			defer at.caught()
			var b traintravel.Booking
			var err error
			told := at.told(func(ctx context.Context, s *server) { b, err = s.CreateBooking(ctx, o.by, o.want) })
			at.say("%s asks in a rush for a booking of %s: %s", o.by.ID, tripText(o.Trip), at.madeText(b, err))
			answers[i] = func(m *model.Model) { m.Ordered(told, &o.Order, b, err) }
		})
	}
	wg.Wait()
	for _, answer := range answers {
		if answer != nil {
			op.tell(answer)
		}
	}
	for _, o := range orders {
		if o.Pending() {
			op.order(o)
		}
		if o.Booking != nil { // whoever has been told of a booking finds it
			op.find(o)
		}
	}
}
