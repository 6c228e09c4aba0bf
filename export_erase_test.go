package traintravel

import (
	"bytes"
	"cmp"
)

// CopyFailures gives each delivery of a payment that failed a copy of what the gateway
// said, as events of version 2 have it.
func CopyFailures(v *Vandal) {
	v.each(TableDeliveries, func(k Key, value []byte) bool {
		d, err := decodeDelivery(value)
		if k.ID[0] != 'd' || err != nil || d.Type != PaymentFailed {
			return k.ID[0] == 'q'
		}
		values, err := v.store.Get(v.ctx, paymentKey(d.queued.booking, d.queued.payment))
		v.err = cmp.Or(v.err, err)
		p, err := decodePayment(values[0])
		v.err = cmp.Or(v.err, err)
		copied := newEncoder(2, 64)
		copied.b = append(copied.b, d.queued.encode()[1:]...)
		copied.str(p.why().Code)
		copied.str(p.why().Message)
		var is, was encoder
		is.str(string(d.queued.encode()))
		was.str(string(copied.b))
		v.put(k, bytes.Replace(value, is.b, was.b, 1))
		return false
	})
}
