package traintravel

import "cmp"

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
		e := newEncoder(2, 64)
		e.b = append(e.b, d.queued.encode()[1:]...)
		e.str(p.why().Code)
		e.str(p.why().Message)
		whole := d.encode()
		whole = whole[:len(whole)-len(d.queued.encode())-1] // whose length is one byte
		f := encoder{b: whole}
		f.str(string(e.b))
		v.put(k, f.b)
		return false
	})
}
