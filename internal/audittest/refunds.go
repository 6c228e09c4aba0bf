package audittest

import (
	"bytes"
	"context"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/ids"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/store"
)

// RefundAsBefore gives the one refund in a store an ID as earlier versions made them,
// of version 7, and returns it.
func RefundAsBefore(ctx context.Context, of store.Store) (id uuid.UUID, err error) {
	err = Vandalize(ctx, of, func(v *Vandal) {
		p := v.payment(func(p *records.Payment) bool { return p.RefundOf != uuid.Nil })
		v.delete(p.Key())
		v.delete(p.AgendaKey())
		p.ID = ids.LaterID(p.Created, p.ID, p.RefundOf)
		id = p.ID
		v.put(p.Key(), p.Encode())
		v.put(p.AgendaKey(), bytes.Clone(p.Booking[:]))
	})
	return id, err
}
