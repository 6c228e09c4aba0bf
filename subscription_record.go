package traintravel

import (
	"context"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// TableWebhooks has the subscriptions, and a mark of each where it is looked for when
// something happens to a booking: among those of the booking's owner, or of the client
// that it was made through. Endpoints of the operator have one to be listed by.

// subscribedKey is there once somebody has subscribed, or the operator has an endpoint.
// Until then no event has to be queued.
var subscribedKey = Key{TableMeta, "subscribed"}

func subscriptionKey(id uuid.UUID) Key { return Key{TableWebhooks, "s" + string(id[:])} }

func subjectPrefix(s Subject) string { return "o" + ownerMark(s) }

func clientPrefix(issuer, client string) string { return "c" + ownerMark(Subject{issuer, client}) }

const operatorPrefix = "p"

// A subscriber is whose subscriptions are meant: a caller's, or the endpoints of the operator.
type subscriber struct {
	Caller
	operator bool
}

// marksPrefix is where the subscriber's own subscriptions are.
func (s subscriber) marksPrefix() string {
	if s.operator {
		return operatorPrefix
	}
	return subjectPrefix(s.Subject)
}

// A subscription is a Subscription with what nobody sees.
type subscription struct {
	Subscription
	operator bool
	secrets  []sealedSecret // the newest first; none if it is the operator's
}

// ownedBy says whether a subscription is the subscriber's. One that a client made for itself is
// no user's, though the user may have the name of the client.
func (s *subscription) ownedBy(by subscriber) bool {
	return s.operator == by.operator && s.Owner == by.Subject && s.Client == by.Client && (!s.ByClient || by.ForItself)
}

// isFor says whether a subscription gets the events of a booking, those that it wants.
func (s *subscription) isFor(b *Booking) bool {
	if s.ByClient {
		return b.Client != "" && s.Owner.Issuer == b.Owner.Issuer && s.Client == b.Client
	}
	return s.Owner == b.Owner
}

// host is that of a subscription's URL without a port, spelled in one way: an address has
// many spellings in IPv6.
func (s *subscription) host() string {
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

// A sealedSecret signs until an instant, or without end.
type sealedSecret struct {
	sealed string
	until  time.Time
}

// marks are where a subscription is looked for.
func (s *subscription) marks() []Key {
	if s.operator {
		return []Key{{TableWebhooks, operatorPrefix + string(s.ID[:])}}
	}
	marks := []Key{{TableWebhooks, subjectPrefix(s.Owner) + string(s.ID[:])}}
	if s.ByClient {
		marks = append(marks, Key{TableWebhooks, clientPrefix(s.Owner.Issuer, s.Client) + string(s.ID[:])})
	}
	return marks
}

// readMarked reads the subscriptions that have a mark with a prefix, the newest first,
// all or those before an ID. Should two subjects share a mark, the subscriptions tell.
// What it cannot read it returns as left.
func readMarked(ctx context.Context, r Reader, prefix, before string) (subs []subscription, left omissions, err error) {
	to := prefix + before
	if before == "" {
		to = prefixEnd(prefix)
	}
	marks, err := r.List(ctx, Range{Table: TableWebhooks, From: prefix, To: to, Reverse: true})
	if err != nil {
		return nil, nil, err
	}
	ids := make([]uuid.UUID, len(marks))
	for i, m := range marks {
		copy(ids[i][:], m.ID[len(prefix):])
	}
	return readSubscriptions(ctx, r, ids)
}

// readSubscriptions reads subscriptions by their IDs, and returns as left what it cannot
// read, missing ones among them.
func readSubscriptions(ctx context.Context, r Reader, ids []uuid.UUID) (subs []subscription, left omissions, err error) {
	if len(ids) == 0 {
		return nil, nil, nil
	}
	keys := make([]Key, len(ids))
	for i, id := range ids {
		keys[i] = subscriptionKey(id)
	}
	values, err := r.Get(ctx, keys...)
	if err != nil {
		return nil, nil, err
	}
	for i, v := range values {
		if v == nil {
			left.add(keys[i], errMissing)
		} else if sub, err := decodeSubscription(v); err != nil {
			left.add(keys[i], err)
		} else {
			subs = append(subs, sub)
		}
	}
	return subs, left, nil
}

func (s *subscription) wants(e EventType) bool { return slices.Contains(s.Events, e) }

// verifyTries is how often the ping that verifies is posted by itself.
const verifyTries = 5

// verifies says that a ping is the one that verifies a subscription by itself, and is
// tried again.
func (s *subscription) verifies(d *delivery) bool {
	return d.Event == s.challenge() && d.Attempts < verifyTries && d.LastStatus != 410
}

const subscriptionVersion = 3 // 2 has who disabled it, and when; 3 has since when it is unverified

func (s *subscription) encode() []byte {
	e := newEncoder(subscriptionVersion, 200+len(s.URL))
	e.id(s.ID)
	e.str(s.URL)
	addEvents(e, s.Events)
	e.str(s.Owner.Issuer)
	e.str(s.Owner.ID)
	e.str(s.Client)
	e.flags(s.ByClient, s.Disabled, s.operator)
	e.time(s.Created)
	e.uint(uint64(len(s.secrets)))
	for _, secret := range s.secrets {
		e.str(secret.sealed)
		e.time(secret.until)
	}
	e.byte(byte(max(0, slices.Index(disablers[:], s.Disabling.By))))
	e.time(s.Disabling.At)
	e.time(s.Unverified)
	return e.b
}

func subscriptionOf(rec Record) (subscription, error) { return decodeSubscription(rec.Value) }

func decodeSubscription(v []byte) (s subscription, err error) {
	d, version := newDecoder("subscription", subscriptionVersion, v)
	s.ID, s.URL, s.Events, s.Owner, s.Client = d.id(), d.str(), takeEvents(&d), Subject{d.str(), d.str()}, d.str()
	f := d.flags()
	s.ByClient, s.Disabled, s.operator = f[0], f[1], f[2]
	s.Created = d.time()
	s.secrets = make([]sealedSecret, d.len(9))
	for i := range s.secrets {
		s.secrets[i] = sealedSecret{d.str(), d.time()}
	}
	if len(s.secrets) == 0 && !s.operator {
		d.fail()
	}
	if version == 1 && s.Disabled {
		s.Disabling.By = DisabledByUnknown
	}
	if version > 1 {
		by := int(d.byte())
		s.Disabling.At = d.time()
		if by < len(disablers) {
			s.Disabling.By = disablers[by]
		}
		if (s.Disabling.By != "") != s.Disabled {
			d.fail()
		}
	}
	if version > 2 {
		s.Unverified = d.time()
	}
	return s, d.done()
}

// addEvents writes a set of event types as bits.
func addEvents(e *encoder, events []EventType) {
	bits := uint64(0)
	for i, t := range eventTypes {
		if slices.Contains(events, t) {
			bits |= 1 << i
		}
	}
	e.uint(bits)
}

func takeEvents(d *decoder) (events []EventType) {
	bits := d.uint()
	for i, t := range eventTypes {
		if bits&(1<<i) != 0 {
			events = append(events, t)
		}
	}
	if bits == 0 || bits >= 1<<len(eventTypes) {
		d.fail()
	}
	return events
}

// operatorID is the ID of an endpoint of the operator's.
func operatorID(url string) uuid.UUID { return hashID("operator", url) }

// newestID is the last ID of a range whose keys end with one, nil if it is empty.
func newestID(ctx context.Context, r Reader, of Range) (id uuid.UUID, err error) {
	of.Reverse, of.Limit = true, 1
	records, err := r.List(ctx, of)
	if err == nil && len(records) > 0 {
		key := records[0].ID
		copy(id[:], key[max(0, len(key)-len(id)):])
	}
	return id, err
}

// unsubscribe ends a subscription.
func (l *ledger) unsubscribe(sub *subscription) {
	l.webhooks = true
	l.delete(subscriptionKey(sub.ID))
	for _, m := range sub.marks() {
		l.delete(m)
	}
	l.put(endpointKey(l.now, sub.ID), nil) // whoever works there next clears it
}
