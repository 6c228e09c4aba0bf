package traintravel

import (
	"bytes"
	"context"

	"github.com/google/uuid"
)

// RefundAsBefore gives the one refund in a store an ID as earlier versions made them,
// of version 7, and returns it.
func RefundAsBefore(ctx context.Context, store Store) (id uuid.UUID, err error) {
	err = Vandalize(ctx, store, func(v *Vandal) {
		p := v.payment(func(p *payment) bool { return p.RefundOf != uuid.Nil })
		v.delete(p.key())
		v.delete(p.agendaKey())
		p.ID = laterID(p.Created, p.ID, p.RefundOf)
		id = p.ID
		v.put(p.key(), p.encode())
		v.put(p.agendaKey(), bytes.Clone(p.Booking[:]))
	})
	return id, err
}
