package records

import (
	"context"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/internal/ids"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// TableWebhooks has the subscriptions, and a mark of each where it is looked for when
// something happens to a booking: among those of the booking's owner, or of the client
// that it was made through. Endpoints of the operator have one to be listed by.

// SubscribedKey names a record that is there once somebody has subscribed, or the operator has an endpoint.
// Until then no event has to be queued.
func SubscribedKey() store.Key { return store.Key{Table: store.TableMeta, ID: "subscribed"} }

// SubscriptionKey names the record of a subscription.
func SubscriptionKey(id uuid.UUID) store.Key {
	return store.Key{Table: store.TableWebhooks, ID: "s" + string(id[:])}
}

// SubjectPrefix begins the keys of the marks among a subject's subscriptions.
func SubjectPrefix(s rail.Subject) string { return "o" + OwnerMark(s) }

// ClientPrefix begins the keys of the marks among a client's subscriptions.
func ClientPrefix(issuer, client string) string {
	return "c" + OwnerMark(rail.Subject{Issuer: issuer, ID: client})
}

// OperatorPrefix begins the keys of the marks of the operator's endpoints.
const OperatorPrefix = "p"

// A Subscriber is whose subscriptions are meant: a caller's, or the endpoints of the operator.
type Subscriber struct {
	rail.Caller
	Operator bool
}

// MarksPrefix is where the subscriber's own subscriptions are.
func (s Subscriber) MarksPrefix() string {
	if s.Operator {
		return OperatorPrefix
	}
	return SubjectPrefix(s.Subject)
}

// A Subscription is a rail.Subscription with what nobody sees.
type Subscription struct {
	rail.Subscription
	Operator bool
	Secrets  []SealedSecret // the newest first; none if it is the operator's
}

// OwnedBy says whether a subscription is the subscriber's. One that a client made for itself is
// no user's, though the user may have the name of the client.
func (s *Subscription) OwnedBy(by Subscriber) bool {
	return s.Operator == by.Operator && s.Owner == by.Subject && s.Client == by.Client && (!s.ByClient || by.ForItself)
}

// IsFor says whether a subscription gets the events of a booking, those that it wants.
func (s *Subscription) IsFor(b *rail.Booking) bool {
	if s.ByClient {
		return b.Client != "" && s.Owner.Issuer == b.Owner.Issuer && s.Client == b.Client
	}
	return s.Owner == b.Owner
}

// Host is that of a subscription's URL without a port, spelled in one way: an address has
// many spellings in IPv6.
func (s *Subscription) Host() string {
	u, err := url.Parse(s.URL)
	if err != nil {
		return "" // no sender takes such a URL
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Unmap().WithZone("").String()
	}
	return host
}

// A SealedSecret signs until an instant, or without end.
type SealedSecret struct {
	Sealed string
	Until  time.Time
}

// Marks are where a subscription is looked for.
func (s *Subscription) Marks() []store.Key {
	if s.Operator {
		return []store.Key{{Table: store.TableWebhooks, ID: OperatorPrefix + string(s.ID[:])}}
	}
	marks := []store.Key{{Table: store.TableWebhooks, ID: SubjectPrefix(s.Owner) + string(s.ID[:])}}
	if s.ByClient {
		marks = append(marks, store.Key{Table: store.TableWebhooks, ID: ClientPrefix(s.Owner.Issuer, s.Client) + string(s.ID[:])})
	}
	return marks
}

// ReadMarked reads the subscriptions that have a mark with a prefix, the newest first,
// all or those before an ID. Should two subjects share a mark, the subscriptions tell.
// What it cannot read it returns as left.
func ReadMarked(ctx context.Context, r store.Reader, prefix, before string) (subs []Subscription, left Omissions, err error) {
	to := prefix + before
	if before == "" {
		to = codec.PrefixEnd(prefix)
	}
	marks, err := r.List(ctx, store.Range{Table: store.TableWebhooks, From: prefix, To: to, Reverse: true})
	if err != nil {
		return nil, nil, err
	}
	ids := make([]uuid.UUID, len(marks))
	for i, m := range marks {
		copy(ids[i][:], m.ID[len(prefix):])
	}
	return ReadSubscriptions(ctx, r, ids)
}

// ReadSubscriptions reads subscriptions by their IDs, and returns as left what it cannot
// read, missing ones among them.
func ReadSubscriptions(ctx context.Context, r store.Reader, ids []uuid.UUID) (subs []Subscription, left Omissions, err error) {
	if len(ids) == 0 {
		return nil, nil, nil
	}
	keys := make([]store.Key, len(ids))
	for i, id := range ids {
		keys[i] = SubscriptionKey(id)
	}
	values, err := r.Get(ctx, keys...)
	if err != nil {
		return nil, nil, err
	}
	for i, v := range values {
		if v == nil {
			left.Add(keys[i], ErrMissing)
		} else if sub, err := DecodeSubscription(v); err != nil {
			left.Add(keys[i], err)
		} else {
			subs = append(subs, sub)
		}
	}
	return subs, left, nil
}

// Wants says whether the subscription is to events of a type.
func (s *Subscription) Wants(e rail.EventType) bool { return slices.Contains(s.Events, e) }

// verifyTries is how often the ping that verifies is posted by itself.
const verifyTries = 5

// Verifies says that a ping is the one that verifies a subscription by itself, and is
// tried again.
func (s *Subscription) Verifies(d *Delivery) bool {
	return d.Event == s.Challenge() && d.Attempts < verifyTries && d.LastStatus != 410
}

const subscriptionVersion = 3 // 2 has who disabled it, and when; 3 has since when it is unverified

// Encode returns the record.
func (s *Subscription) Encode() []byte {
	e := codec.NewEncoder(subscriptionVersion, 200+len(s.URL))
	e.ID(s.ID)
	e.Str(s.URL)
	addEvents(e, s.Events)
	e.Str(s.Owner.Issuer)
	e.Str(s.Owner.ID)
	e.Str(s.Client)
	e.Flags(s.ByClient, s.Disabled, s.Operator)
	e.Time(s.Created)
	e.Uint(uint64(len(s.Secrets)))
	for _, secret := range s.Secrets {
		e.Str(secret.Sealed)
		e.Time(secret.Until)
	}
	e.Byte(byte(max(0, slices.Index(disablers[:], s.Disabling.By))))
	e.Time(s.Disabling.At)
	e.Time(s.Unverified)
	return e.B
}

// SubscriptionOf reads the record of a subscription.
func SubscriptionOf(rec store.Record) (Subscription, error) { return DecodeSubscription(rec.Value) }

// DecodeSubscription reads what Subscription.Encode wrote.
func DecodeSubscription(v []byte) (s Subscription, err error) {
	d, version := codec.NewDecoder("subscription", subscriptionVersion, v)
	s.ID, s.URL, s.Events, s.Owner, s.Client = d.ID(), d.Str(), takeEvents(&d), rail.Subject{Issuer: d.Str(), ID: d.Str()}, d.Str()
	f := d.Flags()
	s.ByClient, s.Disabled, s.Operator = f[0], f[1], f[2]
	s.Created = d.Time()
	s.Secrets = make([]SealedSecret, d.Len(9))
	for i := range s.Secrets {
		s.Secrets[i] = SealedSecret{d.Str(), d.Time()}
	}
	if len(s.Secrets) == 0 && !s.Operator {
		d.Fail()
	}
	if version == 1 && s.Disabled {
		s.Disabling.By = rail.DisabledByUnknown
	}
	if version > 1 {
		by := int(d.Byte())
		s.Disabling.At = d.Time()
		if by < len(disablers) {
			s.Disabling.By = disablers[by]
		}
		if (s.Disabling.By != "") != s.Disabled {
			d.Fail()
		}
	}
	if version > 2 {
		s.Unverified = d.Time()
	}
	return s, d.Done()
}

// disablers are who can have disabled a subscription, by the byte that names them in records.
var disablers = [...]rail.DisabledBy{"", rail.DisabledByOwner, rail.DisabledByReceiver, rail.DisabledByUnknown}

// eventBits are the types of events, by the bits that name them in records.
var eventBits = rail.EventTypes()

// addEvents writes a set of event types as bits.
func addEvents(e *codec.Encoder, events []rail.EventType) {
	bits := uint64(0)
	for i, t := range eventBits {
		if slices.Contains(events, t) {
			bits |= 1 << i
		}
	}
	e.Uint(bits)
}

func takeEvents(d *codec.Decoder) (events []rail.EventType) {
	bits := d.Uint()
	for i, t := range eventBits {
		if bits&(1<<i) != 0 {
			events = append(events, t)
		}
	}
	if bits == 0 || bits >= 1<<len(eventBits) {
		d.Fail()
	}
	return events
}

// OperatorID is the ID of an endpoint of the operator's.
func OperatorID(url string) uuid.UUID { return ids.HashID("operator", url) }

// NewestID is the last ID of a range whose keys end with one, nil if it is empty.
func NewestID(ctx context.Context, r store.Reader, of store.Range) (id uuid.UUID, err error) {
	of.Reverse, of.Limit = true, 1
	records, err := r.List(ctx, of)
	if err == nil && len(records) > 0 {
		key := records[0].ID
		copy(id[:], key[max(0, len(key)-len(id)):])
	}
	return id, err
}
