package audittest

import (
	"bytes"
	"cmp"

	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// CopyFailures gives each delivery of a payment that failed a copy of what the gateway
// said, as events of version 2 have it.
func CopyFailures(v *Vandal) {
	v.each(store.TableDeliveries, func(k store.Key, value []byte) bool {
		d, err := records.DecodeDelivery(value)
		if k.ID[0] != 'd' || err != nil || d.Type != rail.PaymentFailed {
			return k.ID[0] == 'q'
		}
		values, err := v.store.Get(v.ctx, records.PaymentKey(d.Queued.Booking, d.Queued.Payment))
		v.err = cmp.Or(v.err, err)
		p, err := records.DecodePayment(values[0])
		v.err = cmp.Or(v.err, err)
		copied := codec.NewEncoder(2, 64)
		copied.B = append(copied.B, d.Queued.Encode()[1:]...)
		copied.Str(p.Why().Code)
		copied.Str(p.Why().Message)
		var is, was codec.Encoder
		is.Str(string(d.Queued.Encode()))
		was.Str(string(copied.B))
		v.put(k, bytes.Replace(value, is.B, was.B, 1))
		return false
	})
}
