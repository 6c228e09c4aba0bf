package traintravel

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
)

// Subscriptions are who has events posted where, as their owners manage them.
type subscriptions struct {
	books *books
	opts  *WebhookOptions // nil if there are no webhooks
	newID func() uuid.UUID
}

func (s *subscriptions) subscribe(ctx context.Context, by Caller, n NewSubscription) (_ Subscription, _ Secret, err error) {
	if err := s.check(subscriber{Caller: by}); err != nil {
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
	now := s.books.now()
	newest, err := newestID(ctx, s.books.store, Range{Table: TableWebhooks, From: subjectPrefix(by.Subject), To: prefixEnd(subjectPrefix(by.Subject))})
	if err != nil {
		return Subscription{}, "", err
	}
	secret := newWebhookSecret()
	sub := subscription{Subscription: Subscription{
		ID: laterID(now, s.newID(), newest), URL: n.URL, Events: events, Owner: by.Subject, Client: by.Client, Disabled: n.Disabled, Created: now,
		ByClient: by.ForItself && by.Client != "" && slices.Contains(s.opts.Clients, by.Client),
	}}
	if n.Disabled {
		sub.Disabling = Disabling{DisabledByOwner, now}
	}
	sub.secrets = []sealedSecret{{sealed: s.opts.seal(secret, sub.ID)}}
	sub.Unverified = now
	told := s.opts.sealTold(&sub, secret)
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
			if others[i].ownedBy(subscriber{Caller: by}) {
				through++
			}
		}
		if through >= maxSubscriptions || len(others)+len(left) >= maxSubject {
			return ErrTooManySubscriptions
		}
		if err := s.opts.hasRoom(sub.host(), others); err != nil {
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

func (s *subscriptions) list(ctx context.Context, by subscriber, page Page) (_ List[Subscription], err error) {
	if err := s.check(by); err != nil {
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
	err = s.books.store.View(ctx, func(r Reader) (err error) {
		subs, left, err = readMarked(ctx, r, by.marksPrefix(), after)
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

func (s *subscriptions) read(ctx context.Context, by subscriber, id uuid.UUID) (_ Subscription, err error) {
	if err := s.check(by); err != nil {
		return Subscription{}, err
	}
	sub, err := s.ownSubscription(ctx, s.books.store, by, id)
	return sub.Subscription, err
}

func (s *subscriptions) changeFor(ctx context.Context, by Caller, id uuid.UUID, c SubscriptionChange) (_ Subscription, err error) {
	if err := s.check(subscriber{Caller: by}); err != nil {
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
	now := s.books.now()
	sub, err := s.change(ctx, by, id, now, func(l *ledger, sub *subscription) error {
		again := c.URL != nil && *c.URL != sub.URL
		if again {
			from := sub.host()
			if sub.URL = *c.URL; sub.host() != from {
				others, _, err := readMarked(l.ctx, l.tx, subjectPrefix(by.Subject), "")
				if err == nil {
					err = s.opts.hasRoom(sub.host(), others)
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

func (s *subscriptions) unsubscribe(ctx context.Context, by Caller, id uuid.UUID) (err error) {
	if err := s.check(subscriber{Caller: by}); err != nil {
		return err
	}
	now := s.books.now()
	return s.books.update(ctx, now, func(l *ledger) error {
		sub, err := s.ownSubscription(l.ctx, l.tx, subscriber{Caller: by}, id)
		if err != nil {
			return err
		}
		l.unsubscribe(&sub)
		return nil
	})
}

func (s *subscriptions) stopped(ctx context.Context, page Page) (_ List[Subscription], err error) {
	page, err = page.normalize()
	if err != nil {
		return List[Subscription]{}, err
	}
	after, err := page.cursor(subscriptionList, 16)
	if err != nil {
		return List[Subscription]{}, err
	}
	q := Range{Table: TableWebhooks, From: "s", To: "t", Reverse: true}
	if after != "" {
		q.To = "s" + after
	}
	var found []Subscription
	var left omissions
	err = s.books.store.View(ctx, func(r Reader) (err error) {
		found = nil
		left, err = eachOf(ctx, r, q, subscriptionOf, func(sub subscription) bool {
			sub.Removed = s.removed(&sub)
			if sub.Stopped().By != "" {
				found = append(found, sub.Subscription)
			}
			return len(found) <= page.skip()+page.Limit
		})
		return err
	})
	s.books.omit(ctx, left)
	if err != nil {
		return List[Subscription]{}, err
	}
	return cut(subscriptionList, found, page.skip(), page.Limit, func(s Subscription) string { return string(s.ID[:]) }), nil
}

// removed says whether the operator has taken an endpoint, or a client, away. A service without
// webhooks does not know.
func (s *subscriptions) removed(sub *subscription) bool {
	w := s.opts
	if w != nil && sub.ByClient {
		return !slices.Contains(w.Clients, sub.Client)
	}
	return sub.operator && w != nil && !slices.ContainsFunc(w.Operator, func(op OperatorWebhook) bool { return op.URL == sub.URL })
}

// check refuses callers if there are no webhooks, and those who are nobody. What was posted
// to the operator's endpoints is known also without webhooks.
func (s *subscriptions) check(by subscriber) error {
	switch {
	case by.operator:
		return nil
	case s.opts == nil:
		return ErrNoWebhooks
	}
	return by.Caller.check()
}

func (s *subscriptions) ownSubscription(ctx context.Context, r Reader, by subscriber, id uuid.UUID) (subscription, error) {
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
func (s *subscriptions) change(ctx context.Context, by Caller, id uuid.UUID, now time.Time, rules func(*ledger, *subscription) error) (sub subscription, err error) {
	if err := s.check(subscriber{Caller: by}); err != nil {
		return sub, err
	}
	err = s.books.update(ctx, now, func(l *ledger) (err error) {
		if sub, err = s.ownSubscription(l.ctx, l.tx, subscriber{Caller: by}, id); err != nil {
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

// checkURL returns a URL as it is kept, or says what is wrong with it.
func (s *subscriptions) checkURL(url string) (string, error) {
	if url == "" {
		return "", invalid("url", "is required")
	}
	if url = normalURL(url); len(url) > maxWebhookURL {
		return "", invalid("url", "has %d bytes, more than %d", len(url), maxWebhookURL)
	}
	return url, s.opts.Sender.CheckURL(url)
}
