package payments

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// List lists the attempts to pay for a booking of a caller's and its refunds, newest first.
func (f *Flow) List(ctx context.Context, by rail.Caller, booking uuid.UUID, p rail.Page) (_ rail.List[rail.Payment], err error) {
	none := rail.List[rail.Payment]{}
	p, err = p.Normalize()
	if err != nil {
		return none, err
	}
	after, err := p.Cursor(rail.PaymentList, 16)
	if err != nil {
		return none, err
	}
	var found []rail.Payment
	var left records.Omissions
	err = f.Books.Store.View(ctx, func(r store.Reader) (err error) {
		if _, err := f.Books.OwnBooking(ctx, r, by, booking); err != nil {
			return err
		}
		found, left, err = records.ReadPayments(ctx, r, booking)
		return err
	})
	f.Books.Omit(ctx, left)
	if err != nil {
		return none, err
	}
	slices.Reverse(found)
	if after != "" {
		at := slices.IndexFunc(found, func(p rail.Payment) bool { return string(p.ID[:]) == after })
		if at < 0 {
			return none, rail.Invalid("after", "invalid cursor %.60q: use the links of this list", p.After)
		}
		found = found[at+1:]
	}
	return rail.Cut(rail.PaymentList, found, p.Skip(), p.Limit, func(p rail.Payment) string { return string(p.ID[:]) }), nil
}
