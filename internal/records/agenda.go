package records

import (
	"encoding/binary"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// A Kind is one kind of work on the agenda. The agenda is what Run does next: for each kind
// of work the things to do, in the order in which they are due. An item is written in the
// update that makes it necessary and removed in the one that makes it done.
type Kind byte

const (
	HoldEnds      Kind = 'h' // a booking's hold; value: none
	PaymentDue    Kind = 'p' // a payment or refund to ask the gateway about; value: the booking's ID
	EventDue      Kind = 'e' // an event to deliver; value: the event
	FanOutDue     Kind = 'f' // an event to give to subscribers; value: the event
	OwedDue       Kind = 'o' // an event owed to subscriptions that could not be read; value: both
	EndpointDue   Kind = 'w' // a subscription to which something is to be posted; value: none
	SweepDue      Kind = 's' // a subscription whose old deliveries are to be forgotten; value: none
	SurplusDue    Kind = 't' // a subscription of which perhaps too many old deliveries are listed; value: none
	KeyForgotten  Kind = 'i' // an idempotency record to remove; value: its key
	CountDue      Kind = 'd' // a count of declined payments to remove; value: its key
	TravellersDue Kind = 'r' // a look for bookings to erase; value: the booking before which all are
	UnpaidPass    Kind = 'l' // a pass over unpaid bookings; value: the booking before which all are listed
	EarlierPass   Kind = 'c' // a pass over bookings of earlier versions, at most two in the life of a store; value: the booking before which all are complete
	UnpaidOver    Kind = 'u' // a booking to remove if it ended unpaid, due Options.KeepUnpaid later; value: none
)

// Kinds is a set of kinds.
type Kinds uint32

func (k Kind) Set() Kinds        { return 1 << (k - 'a') }
func (ks Kinds) Has(k Kind) bool { return ks&k.Set() != 0 }

// AgendaKeySize is how many bytes the keys of the agenda have.
const AgendaKeySize = 1 + 8 + 16

// AgendaKey orders items by kind and due time. Times before 1970 are due at once.
func AgendaKey(k Kind, due time.Time, id uuid.UUID) store.Key {
	b := append(make([]byte, 0, AgendaKeySize), byte(k))
	b = binary.BigEndian.AppendUint64(b, uint64(max(0, codec.Nanos(due))))
	return store.Key{Table: store.TableAgenda, ID: string(append(b, id[:]...))}
}

// AgendaOf is all that is on the agenda of a kind, due or not.
func AgendaOf(k Kind) store.Range {
	return store.Range{Table: store.TableAgenda, From: string([]byte{byte(k)}), To: string([]byte{byte(k) + 1})}
}

// An Item is one entry of the agenda.
type Item struct {
	Key   store.Key
	Due   time.Time
	ID    uuid.UUID
	Value []byte
}

// Claim is what one has in hand who has the item: an endpoint is on the agenda more than
// once, and a payment may be moved while the gateway is asked about it. Each is in one pair
// of hands.
func (it Item) Claim() store.Key {
	if k := Kind(it.Key.ID[0]); k == EndpointDue || k == PaymentDue {
		return AgendaKey(k, time.Time{}, it.ID)
	}
	return it.Key
}

// HoldKey is where a booking stands on the agenda: nowhere unless it is held.
func HoldKey(b *rail.Booking) store.Key {
	if b.Status != rail.Held {
		return store.Key{}
	}
	return AgendaKey(HoldEnds, b.HeldUntil(), b.ID)
}

// AgendaKey is where a payment stands on the agenda: nowhere once it is settled.
func (p *Payment) AgendaKey() store.Key {
	if p.Next.IsZero() {
		return store.Key{}
	}
	return AgendaKey(PaymentDue, p.Next, p.ID)
}
