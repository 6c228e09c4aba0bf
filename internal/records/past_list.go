package records

import (
	"context"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// Past lists the bookings that are over and that the caller is told of, newest first, with
// what is given back for them, and what was left out because it cannot be read. They are in
// both lists of their owner.
func (l *Lister) Past(ctx context.Context, p rail.Page) (past rail.List[rail.PastBooking], left Omissions, err error) {
	list, err := l.list(ctx, rail.PastList, p, func(r store.Reader, after string, enough int) (found []rail.Booking, err error) {
		past.Items, left = nil, nil
		both, err := l.both(ctx, r, after)
		if err != nil {
			return nil, err
		}
		return l.read(ctx, r, both.next, enough, (*rail.Booking).Told, &left)
	})
	if err != nil {
		return past, left, err
	}
	past.Items, err = PastOf(ctx, l.Store, list.Items, &left)
	past.Next = list.Next
	return past, left, err
}

// A bothLists reads both lists of an owner as one.
type bothLists struct {
	lists [2]*ownedList
	ahead [2][]store.Key // what was read and not returned
	ended [2]bool
}

func (l *Lister) both(ctx context.Context, r store.Reader, after string) (*bothLists, error) {
	listed, err := readOwned(ctx, r, OwnerMark(l.By.Subject), after)
	if err != nil {
		return nil, err
	}
	over, err := readOwned(ctx, r, overMark(l.By.Subject), after)
	return &bothLists{lists: [2]*ownedList{listed, over}}, err
}

// next is that of an ownedList.
func (b *bothLists) next(limit int) (keys []store.Key, err error) {
	for len(keys) < limit {
		for i, list := range b.lists {
			if len(b.ahead[i]) == 0 && !b.ended[i] {
				if b.ahead[i], err = list.Next(limit); err != nil {
					return nil, err
				}
				b.ended[i] = len(b.ahead[i]) == 0
			}
		}
		newest := 0
		switch {
		case b.ended[0] && b.ended[1]:
			return keys, nil
		case b.ended[0] || !b.ended[1] && b.ahead[1][0].ID > b.ahead[0][0].ID:
			newest = 1
		}
		keys = append(keys, b.ahead[newest][0])
		b.ahead[newest] = b.ahead[newest][1:]
	}
	return keys, nil
}

// PastOf reads what is given back for bookings that are over. Refunds that cannot be read
// are left out.
func PastOf(ctx context.Context, r store.Reader, over []rail.Booking, left *Omissions) ([]rail.PastBooking, error) {
	past := make([]rail.PastBooking, len(over))
	var keys []store.Key
	var of []int
	for i := range over {
		b := &over[i]
		past[i].Booking = *b
		switch {
		case b.GivenBack: // whichever payment it was
			paid, more, err := ReadPayments(ctx, r, b.ID)
			if err != nil {
				return nil, err
			}
			*left = append(*left, more...)
			for _, p := range paid {
				if p.RefundOf != uuid.Nil {
					past[i].Refunds = append(past[i].Refunds, p)
				}
			}
		case b.Status == rail.Cancelled && b.PaidBy != uuid.Nil:
			for _, why := range Purposes() {
				keys, of = append(keys, PaymentKey(b.ID, RefundID(b.PaidBy, why))), append(of, i)
			}
		}
	}
	if len(keys) == 0 {
		return past, nil
	}
	values, err := r.Get(ctx, keys...)
	if err != nil {
		return nil, err
	}
	for n, v := range values {
		if v == nil {
			continue
		}
		p, err := DecodePayment(v)
		if err != nil {
			left.Add(keys[n], err)
			continue
		}
		past[of[n]].Refunds = append(past[of[n]].Refunds, p.Payment)
	}
	return past, nil
}
