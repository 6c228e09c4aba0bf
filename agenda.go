package traintravel

import (
	"encoding/binary"
	"time"

	"github.com/google/uuid"
)

// The agenda is what Run does next: for each kind of work the things to do, in
// the order in which they are due. An item is written in the update that makes
// it necessary and removed in the one that makes it done.
type kind byte

const (
	holdEnds      kind = 'h' // a booking's hold; value: none
	paymentDue    kind = 'p' // a payment or refund to ask the gateway about; value: the booking's ID
	eventDue      kind = 'e' // an event to deliver; value: the event
	fanOutDue     kind = 'f' // an event to give to subscribers; value: the event
	owedDue       kind = 'o' // an event owed to subscriptions that could not be read; value: both
	endpointDue   kind = 'w' // a subscription to which something is to be posted; value: none
	sweepDue      kind = 's' // a subscription whose old deliveries are to be forgotten; value: none
	surplusDue    kind = 't' // a subscription of which perhaps too many old deliveries are listed; value: none
	keyForgotten  kind = 'i' // an idempotency record to remove; value: its key
	countDue      kind = 'd' // a count of declined payments to remove; value: its key
	travellersDue kind = 'r' // a look for bookings to erase; value: the booking before which all are
	unpaidPass    kind = 'l' // a pass over unpaid bookings; value: the booking before which all are listed
	unpaidOver    kind = 'u' // a booking to remove if it ended unpaid, due Options.KeepUnpaid later; value: none
)

// kinds is a set of kinds.
type kinds uint32

func (k kind) set() kinds        { return 1 << (k - 'a') }
func (ks kinds) has(k kind) bool { return ks&k.set() != 0 }

const agendaKeySize = 1 + 8 + 16

// agendaKey orders items by kind and due time. Times before 1970 are due at once.
func agendaKey(k kind, due time.Time, id uuid.UUID) Key {
	b := append(make([]byte, 0, agendaKeySize), byte(k))
	b = binary.BigEndian.AppendUint64(b, uint64(max(0, nanos(due))))
	return Key{TableAgenda, string(append(b, id[:]...))}
}

// agendaOf is all that is on the agenda of a kind, due or not.
func agendaOf(k kind) Range {
	return Range{Table: TableAgenda, From: string([]byte{byte(k)}), To: string([]byte{byte(k) + 1})}
}

// An item is one entry of the agenda.
type item struct {
	key   Key
	due   time.Time
	id    uuid.UUID
	value []byte
}

// claim is what one has in hand who has the item: an endpoint is on the agenda more than
// once, and a payment may be moved while the gateway is asked about it. Each is in one pair
// of hands.
func (it item) claim() Key {
	if k := kind(it.key.ID[0]); k == endpointDue || k == paymentDue {
		return agendaKey(k, time.Time{}, it.id)
	}
	return it.key
}

// holdKey is where a booking stands on the agenda: nowhere unless it is held.
func holdKey(b *Booking) Key {
	if b.Status != Held {
		return Key{}
	}
	return agendaKey(holdEnds, b.HeldUntil(), b.ID)
}

// agendaKey is where a payment stands on the agenda: nowhere once it is settled.
func (p *payment) agendaKey() Key {
	if p.next.IsZero() {
		return Key{}
	}
	return agendaKey(paymentDue, p.next, p.ID)
}
