package traintravel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/whsec"
)

// A Subscription has events posted to a URL. It belongs to the caller that made it:
// a user, and the client program through which the user did.
type Subscription struct {
	ID     uuid.UUID // version 7: orders by creation
	URL    string
	Events []EventType // never empty
	Owner  Subject
	Client string
	// ByClient says that it gets the events of all bookings made through Client at
	// the owner's issuer, and not those of the owner's bookings.
	ByClient bool
	// Disabled says that nothing is posted: the owner wants it so, or the receiver
	// answered 410.
	Disabled bool
	// Disabling says who disabled it; it is zero unless Disabled is set.
	Disabling Disabling
	// Unverified is since when nothing but pings is posted, because the receiver has not
	// answered one with a status of 2xx: since the subscription was made, its URL was
	// changed, or it was enabled again unverified. It is zero if the receiver has, and for
	// endpoints of the operator's. Events wait until VerifyBy.
	Unverified time.Time
	// Removed says of an endpoint of the operator's, or of a subscription of a client for
	// itself, that it, or the client, is no longer among those of [WebhookOptions] of the
	// service that was asked. Nothing arrives there, and what waits becomes dead letters.
	// It is not stored.
	Removed bool
	Created time.Time
	// Replayed says that Subscribe answered a repeated idempotency key. It is not stored.
	Replayed bool
}

// A NewSubscription asks for events to be posted to a URL.
type NewSubscription struct {
	URL string
	// Events are what to post; empty is newBooking alone.
	Events []EventType
	// Disabled has nothing but pings posted until that is changed.
	Disabled bool
	// IdempotencyKey is as in [NewBooking].
	IdempotencyKey string
}

// A SubscriptionChange says what of a subscription is to be another. Nil leaves it.
type SubscriptionChange struct {
	URL      *string
	Events   []EventType
	Disabled *bool
}

// WebhookOptions are how a service posts events to those who have subscribed.
type WebhookOptions struct {
	// Sender posts. It is required.
	Sender WebhookSender
	// SealKey encrypts the secrets of subscriptions in the store: 32 bytes, the same
	// for all services on the store. It is required.
	SealKey []byte
	// Operator are endpoints that nobody has to subscribe: they get the events of all
	// bookings. All services on a store have the same. What waits for one that is no
	// longer among them is tried as if it did not answer.
	Operator []OperatorWebhook
	// Clients are the programs that may subscribe to all bookings made through them.
	// They do so when they act for themselves: see [Caller].
	// Nothing is posted any more for one that is taken from the list.
	Clients []string
	// PerHost is how many subscriptions to one host a user may have, through all clients.
	// Zero is 3.
	PerHost int
	// Backlog is how many deliveries may wait for one subscription: when there are more,
	// the oldest become dead letters. Zero is 1,000. Ten times as many are listed that are
	// over: then the oldest are forgotten. The operator's own endpoints have no bound.
	Backlog int
}

// An OperatorWebhook is an endpoint of the operator's own.
type OperatorWebhook struct {
	URL     string
	Secrets []Secret    // sign each delivery, at least one
	Events  []EventType // empty is newBooking alone
}

// A WebhookSender posts events; package httpserver has one. Its methods are called
// from several goroutines at once.
type WebhookSender interface {
	// CheckURL says by an [*InvalidError] why nothing can be posted to a URL that a
	// subscriber gave, if that is known already.
	CheckURL(url string) error
	// Send posts once and says what was answered. An error means that there was no
	// answer: it is logged, and shown to nobody.
	Send(ctx context.Context, p WebhookPost) (WebhookAnswer, error)
}

// A WebhookPost is an event on its way to an endpoint.
type WebhookPost struct {
	URL string
	// Secrets sign it, the newest first.
	Secrets []Secret
	// Operator says that the endpoint is the operator's own and may be anywhere.
	Operator bool
	Event    Event
}

// A WebhookAnswer is what a receiver said. Only the status 200 means that it has the
// event; to a ping any of 2xx.
type WebhookAnswer struct {
	Status int // of HTTP
	// RetryAfter is how long the receiver asks to be left alone; zero if it does not.
	RetryAfter time.Duration
}

// Bounds of subscriptions.
const (
	maxSubscriptions = 100 // of a user through one client
	maxSubject       = 400 // of a user
	maxWebhookURL    = 2048
	defaultPerHost   = 3
	defaultBacklog   = 1000
	maxBacklog       = 100_000
	// overlap is for how long a replaced secret signs along.
	overlap = 24 * time.Hour
)

var (
	// ErrNoWebhooks: the service posts nothing to subscribers.
	ErrNoWebhooks = errors.New("no webhooks are configured")
	// ErrTooManySubscriptions: the caller has as many as there may be.
	ErrTooManySubscriptions = fmt.Errorf("there are %d subscriptions already: delete one", maxSubscriptions)
	// ErrDelivered: what was delivered is not delivered again.
	ErrDelivered = errors.New("the event was delivered")
	// ErrDisabled: nothing but a ping is posted to a subscription that is disabled, and
	// nothing to an endpoint that the operator has removed.
	ErrDisabled = errors.New("the subscription is disabled")
)

// eventTypes are those that one can subscribe to, in the order in which a record's
// bits name them.
var eventTypes = [...]EventType{BookingCreated, BookingConfirmed, BookingCancelled, BookingExpired, PaymentFailed}

// EventTypes are the types of events that one can subscribe to.
func EventTypes() []EventType { return slices.Clone(eventTypes[:]) }

// checkEvents returns the event types asked for, in order and each once.
func checkEvents(events []EventType) ([]EventType, error) {
	if len(events) == 0 {
		return []EventType{BookingCreated}, nil
	}
	var known []EventType
	for i, e := range events {
		if !slices.Contains(eventTypes[:], e) {
			return nil, invalid(fmt.Sprintf("events[%d]", i), "%.40q is none of %s", string(e), listed(eventTypes[:]))
		}
	}
	for _, e := range eventTypes {
		if slices.Contains(events, e) {
			known = append(known, e)
		}
	}
	return known, nil
}

func listed(events []EventType) string {
	var names []string
	for _, e := range events {
		names = append(names, string(e))
	}
	return strings.Join(names, ", ")
}

func (o *WebhookOptions) perHost() int { return cmp.Or(o.PerHost, defaultPerHost) }
func (o *WebhookOptions) backlog() int { return cmp.Or(o.Backlog, defaultBacklog) }

func (o *WebhookOptions) check() error {
	switch {
	case o.Sender == nil:
		return invalid("Options.Webhooks.Sender", "is nil")
	case len(o.SealKey) != 32:
		return invalid("Options.Webhooks.SealKey", "has %d bytes, not 32", len(o.SealKey))
	case o.PerHost < 0:
		return invalid("Options.Webhooks.PerHost", "is below zero")
	case o.Backlog < 0 || o.Backlog > maxBacklog:
		return invalid("Options.Webhooks.Backlog", "is not 0 to %d", maxBacklog)
	}
	for i := range o.Operator {
		op := &o.Operator[i]
		events, err := checkEvents(op.Events)
		if err != nil {
			return invalid(fmt.Sprintf("Options.Webhooks.Operator[%d]", i), "%v", err)
		}
		if op.Events = events; op.URL == "" || len(op.Secrets) == 0 {
			return invalid(fmt.Sprintf("Options.Webhooks.Operator[%d]", i), "lacks a URL or a secret")
		}
		if slices.ContainsFunc(o.Operator[:i], func(other OperatorWebhook) bool { return other.URL == op.URL }) {
			return invalid(fmt.Sprintf("Options.Webhooks.Operator[%d]", i), "has the URL of another")
		}
		for _, secret := range op.Secrets {
			if _, err := whsec.Decode(string(secret)); err != nil {
				return invalid(fmt.Sprintf("Options.Webhooks.Operator[%d]", i), "%v", err)
			}
		}
	}
	return nil
}

// Subscribe has events posted to a URL from now on, those of the caller's bookings,
// and returns the secret that signs them, which is not to be had again. A client that
// acts for itself and is one of [WebhookOptions].Clients gets the events of all
// bookings made through it.
//
// Events wait until the subscription is verified, which a ping that is posted now does:
// see [Subscription].Unverified.
//
// It returns ErrNoWebhooks, ErrTooManySubscriptions, a [*HostLimitError], ErrKeyReused or
// an [*InvalidError].
func (s *Service) Subscribe(ctx context.Context, by Caller, n NewSubscription) (_ Subscription, _ Secret, err error) {
	ctx, end := s.begin(ctx, "Subscribe")
	defer end(&err)
	if err := s.subscribers(by); err != nil {
		return Subscription{}, "", err
	}
	if n.URL, err = s.checkURL(n.URL); err != nil {
		return Subscription{}, "", err
	}
	events, err := checkEvents(n.Events)
	if err != nil {
		return Subscription{}, "", err
	}
	idem, err := s.books.idempotency(by, n.IdempotencyKey, "subscription", func(f *fingerprint) {
		f.str(n.URL)
		f.str(listed(events))
		if n.Disabled {
			f.flags(true)
		}
	})
	if err != nil {
		return Subscription{}, "", err
	}
	now := s.now()
	newest, err := newestID(ctx, s.store, Range{Table: TableWebhooks, From: marksPrefix(by), To: prefixEnd(marksPrefix(by))})
	if err != nil {
		return Subscription{}, "", err
	}
	secret := newWebhookSecret()
	sub := subscription{Subscription: Subscription{
		ID: laterID(now, s.newID(), newest), URL: n.URL, Events: events, Owner: by.Subject, Client: by.Client, Disabled: n.Disabled, Created: now,
		ByClient: by.ForItself && by.Client != "" && slices.Contains(s.opts.Webhooks.Clients, by.Client),
	}}
	if n.Disabled {
		sub.Disabling = Disabling{DisabledByOwner, now}
	}
	sub.secrets = []sealedSecret{{sealed: s.seal(secret, sub.ID)}}
	sub.Unverified = now
	told := s.sealTold(&sub, secret)
	var first *answer
	err = s.books.update(ctx, now, func(l *ledger) (err error) {
		if first, err = l.recall(idem); first != nil || err != nil {
			return err
		}
		others, left, err := readMarked(l.ctx, l.tx, subjectPrefix(by.Subject), "")
		if err != nil {
			return err
		}
		through := len(left) // perhaps
		for i := range others {
			if others[i].ownedBy(by) {
				through++
			}
		}
		if through >= maxSubscriptions || len(others)+len(left) >= maxSubject {
			return ErrTooManySubscriptions
		}
		if err := s.opts.Webhooks.hasRoom(sub.host(), others); err != nil {
			return err
		}
		l.mustVerify(&sub)
		l.newSubscription(&sub)
		l.remember(idem, answer{about: sub.ID, sealed: told})
		return nil
	})
	if err != nil {
		return Subscription{}, "", err
	}
	if first == nil {
		return sub.Subscription, secret, nil
	}
	return s.firstSubscription(ctx, by, *first)
}

// HasWebhooks says whether the service posts events to those who subscribe to them:
// without, all that has to do with subscriptions is ErrNoWebhooks.
func (s *Service) HasWebhooks() bool { return s.opts.Webhooks != nil }

// Operator is the caller whose subscriptions are the endpoints of
// [WebhookOptions].Operator to which something was posted, or was to be. Their
// deliveries can be listed and retried, and they can be pinged, also at a service
// without Webhooks, which leaves the posting to others on its store. What they are,
// the options say alone. Nobody else sees them, and no bookings are the operator's.
func Operator() Caller { return Caller{operator: true} }

// webhooks refuses callers if there are no webhooks, and those who are nobody.
func (s *Service) webhooks(by Caller) error {
	if by.operator {
		return nil
	}
	return s.subscribers(by)
}

// subscribers refuses those who cannot have, or have made, a subscription.
func (s *Service) subscribers(by Caller) error {
	switch {
	case by.operator:
		return invalid("caller", "is the operator, whose endpoints are options")
	case s.opts.Webhooks == nil:
		return ErrNoWebhooks
	}
	return by.check()
}

// Subscriptions lists the caller's subscriptions, the newest first.
func (s *Service) Subscriptions(ctx context.Context, by Caller, page Page) (_ List[Subscription], err error) {
	ctx, end := s.begin(ctx, "Subscriptions")
	defer end(&err)
	if err := s.webhooks(by); err != nil {
		return List[Subscription]{}, err
	}
	page, err = page.normalize()
	if err != nil {
		return List[Subscription]{}, err
	}
	after, err := page.cursor(subscriptionList, 16)
	if err != nil {
		return List[Subscription]{}, err
	}
	var found []Subscription
	var subs []subscription
	var left omissions
	err = s.store.View(ctx, func(r Reader) (err error) {
		subs, left, err = readMarked(ctx, r, marksPrefix(by), after)
		return err
	})
	s.books.omit(ctx, left)
	if err != nil {
		return List[Subscription]{}, err
	}
	for i := range subs {
		if subs[i].ownedBy(by) {
			subs[i].Removed = s.removed(&subs[i])
			found = append(found, subs[i].Subscription)
		}
	}
	return cut(subscriptionList, found, page.skip(), page.Limit, func(s Subscription) string { return string(s.ID[:]) }), nil
}

// Subscription returns a subscription of the caller's, or ErrNotFound.
func (s *Service) Subscription(ctx context.Context, by Caller, id uuid.UUID) (_ Subscription, err error) {
	ctx, end := s.begin(ctx, "Subscription")
	defer end(&err)
	if err := s.webhooks(by); err != nil {
		return Subscription{}, err
	}
	sub, err := s.ownSubscription(ctx, s.store, by, id)
	return sub.Subscription, err
}

func (s *Service) ownSubscription(ctx context.Context, r Reader, by Caller, id uuid.UUID) (subscription, error) {
	v, err := r.Get(ctx, subscriptionKey(id))
	if err != nil {
		return subscription{}, err
	}
	if v[0] == nil {
		return subscription{}, ErrNotFound
	}
	sub, err := decodeSubscription(v[0])
	if err != nil {
		return subscription{}, err
	}
	if !sub.ownedBy(by) {
		return subscription{}, ErrNotFound
	}
	sub.Removed = s.removed(&sub)
	return sub, nil
}

// change changes a subscription of the caller's.
func (s *Service) change(ctx context.Context, by Caller, id uuid.UUID, now time.Time, rules func(*ledger, *subscription) error) (sub subscription, err error) {
	if err := s.subscribers(by); err != nil {
		return sub, err
	}
	err = s.books.update(ctx, now, func(l *ledger) (err error) {
		if sub, err = s.ownSubscription(l.ctx, l.tx, by, id); err != nil {
			return err
		}
		if err := rules(l, &sub); err != nil {
			return err
		}
		l.putSubscription(&sub)
		return nil
	})
	return sub, err
}

// ChangeSubscription changes a subscription of the caller's. One that is disabled gets
// no new events, and what was waiting for it becomes dead letters; one that is enabled
// again gets those that happen from then on. One with another URL has to be verified
// anew: what waits is posted once it is. Its errors are those of Subscribe and ErrNotFound.
func (s *Service) ChangeSubscription(ctx context.Context, by Caller, id uuid.UUID, c SubscriptionChange) (_ Subscription, err error) {
	ctx, end := s.begin(ctx, "ChangeSubscription")
	defer end(&err)
	if err := s.subscribers(by); err != nil {
		return Subscription{}, err
	}
	if c.URL != nil {
		url, err := s.checkURL(*c.URL)
		if err != nil {
			return Subscription{}, err
		}
		c.URL = &url
	}
	var events []EventType
	if c.Events != nil {
		var err error
		if events, err = checkEvents(c.Events); err != nil {
			return Subscription{}, err
		}
	}
	now := s.now()
	sub, err := s.change(ctx, by, id, now, func(l *ledger, sub *subscription) error {
		again := c.URL != nil && *c.URL != sub.URL
		if again {
			from := sub.host()
			if sub.URL = *c.URL; sub.host() != from {
				others, _, err := readMarked(l.ctx, l.tx, subjectPrefix(by.Subject), "")
				if err == nil {
					err = s.opts.Webhooks.hasRoom(sub.host(), others)
				}
				if err != nil {
					return err
				}
			}
		}
		if events != nil {
			sub.Events = events
		}
		if c.Disabled != nil {
			by := DisabledBy("")
			if *c.Disabled {
				by = DisabledByOwner
			}
			switch changed := sub.disable(by, now); {
			case changed && sub.Disabled:
				l.stopped = append(l.stopped, sub.Subscription)
			case changed && !sub.Unverified.IsZero():
				again = true
			}
			l.put(endpointKey(now, id), nil) // for what is waiting
		}
		if again {
			l.mustVerify(sub)
		}
		return nil
	})
	return sub.Subscription, err
}

// Unsubscribe ends a subscription of the caller's. Nothing is posted that was not on
// its way already, and its deliveries are forgotten.
func (s *Service) Unsubscribe(ctx context.Context, by Caller, id uuid.UUID) (err error) {
	ctx, end := s.begin(ctx, "Unsubscribe")
	defer end(&err)
	if err := s.subscribers(by); err != nil {
		return err
	}
	now := s.now()
	return s.books.update(ctx, now, func(l *ledger) error {
		sub, err := s.ownSubscription(l.ctx, l.tx, by, id)
		if err != nil {
			return err
		}
		l.unsubscribe(&sub)
		return nil
	})
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

// removed says whether the operator has taken an endpoint, or a client, away. A service without
// webhooks does not know.
func (s *Service) removed(sub *subscription) bool {
	w := s.opts.Webhooks
	if w != nil && sub.ByClient {
		return !slices.Contains(w.Clients, sub.Client)
	}
	return sub.operator && w != nil && !slices.ContainsFunc(w.Operator, func(op OperatorWebhook) bool { return op.URL == sub.URL })
}
