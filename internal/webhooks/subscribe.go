package webhooks

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/internal/ids"
	"github.com/traintravel/traintravel/internal/ledger"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// Subscriptions manages subscriptions for their owners.
type Subscriptions struct {
	Books *ledger.Books
	Opts  *WebhookOptions // nil if no webhooks are configured
	NewID func() uuid.UUID
}

// Subscribe makes a subscription, and returns it with its secret.
func (s *Subscriptions) Subscribe(ctx context.Context, by rail.Caller, n rail.NewSubscription) (_ rail.Subscription, _ rail.Secret, err error) {
	if err := s.check(records.Subscriber{Caller: by}); err != nil {
		return rail.Subscription{}, "", err
	}
	if n.URL, err = s.checkURL(n.URL); err != nil {
		return rail.Subscription{}, "", err
	}
	events, err := checkEvents(n.Events)
	if err != nil {
		return rail.Subscription{}, "", err
	}
	idem, err := s.Books.Idempotency(by, n.IdempotencyKey, "subscription", func(f *records.Fingerprint) {
		f.Str(n.URL)
		f.Str(listed(events))
		if n.Disabled {
			f.Flags(true)
		}
	})
	if err != nil {
		return rail.Subscription{}, "", err
	}
	now := s.Books.Now()
	newest, err := records.NewestID(ctx, s.Books.Store, store.Range{Table: store.TableWebhooks, From: records.SubjectPrefix(by.Subject), To: codec.PrefixEnd(records.SubjectPrefix(by.Subject))})
	if err != nil {
		return rail.Subscription{}, "", err
	}
	secret := newWebhookSecret()
	sub := records.Subscription{Subscription: rail.Subscription{
		ID: ids.LaterID(now, s.NewID(), newest), URL: n.URL, Events: events, Owner: by.Subject, Client: by.Client, Disabled: n.Disabled, Created: now,
		ByClient: by.ForItself && by.Client != "" && slices.Contains(s.Opts.Clients, by.Client),
	}}
	if n.Disabled {
		sub.Disabling = rail.Disabling{By: rail.DisabledByOwner, At: now}
	}
	sub.Secrets = []records.SealedSecret{{Sealed: s.Opts.seal(secret, sub.ID)}}
	sub.Unverified = now
	told := s.Opts.sealTold(&sub, secret)
	var first *records.Answer
	err = s.Books.Update(ctx, now, func(l *ledger.Ledger) (err error) {
		if first, err = l.Recall(idem); first != nil || err != nil {
			return err
		}
		others, left, err := records.ReadMarked(l.Ctx, l.Tx, records.SubjectPrefix(by.Subject), "")
		if err != nil {
			return err
		}
		through := len(left) // perhaps
		for i := range others {
			if others[i].OwnedBy(records.Subscriber{Caller: by}) {
				through++
			}
		}
		if through >= rail.MaxSubscriptions || len(others)+len(left) >= maxSubject {
			return rail.ErrTooManySubscriptions
		}
		if err := s.Opts.hasRoom(sub.Host(), others); err != nil {
			return err
		}
		l.MustVerify(&sub)
		l.NewSubscription(&sub)
		l.Remember(idem, records.Answer{About: sub.ID, Sealed: told})
		return nil
	})
	if err != nil {
		return rail.Subscription{}, "", err
	}
	if first == nil {
		return sub.Subscription, secret, nil
	}
	return s.firstSubscription(ctx, by, *first)
}

// List lists the subscriptions of the subscriber.
func (s *Subscriptions) List(ctx context.Context, by records.Subscriber, page rail.Page) (_ rail.List[rail.Subscription], err error) {
	if err := s.check(by); err != nil {
		return rail.List[rail.Subscription]{}, err
	}
	page, err = page.Normalize()
	if err != nil {
		return rail.List[rail.Subscription]{}, err
	}
	after, err := page.Cursor(rail.SubscriptionList, 16)
	if err != nil {
		return rail.List[rail.Subscription]{}, err
	}
	var found []rail.Subscription
	var subs []records.Subscription
	var left records.Omissions
	err = s.Books.Store.View(ctx, func(r store.Reader) (err error) {
		subs, left, err = records.ReadMarked(ctx, r, by.MarksPrefix(), after)
		return err
	})
	s.Books.Omit(ctx, left)
	if err != nil {
		return rail.List[rail.Subscription]{}, err
	}
	for i := range subs {
		if subs[i].OwnedBy(by) {
			subs[i].Removed = s.removed(&subs[i])
			found = append(found, subs[i].Subscription)
		}
	}
	return rail.Cut(rail.SubscriptionList, found, page.Skip(), page.Limit, func(s rail.Subscription) string { return string(s.ID[:]) }), nil
}

// Read returns a subscription of the subscriber's.
func (s *Subscriptions) Read(ctx context.Context, by records.Subscriber, id uuid.UUID) (_ rail.Subscription, err error) {
	if err := s.check(by); err != nil {
		return rail.Subscription{}, err
	}
	sub, err := s.ownSubscription(ctx, s.Books.Store, by, id)
	return sub.Subscription, err
}

// ChangeFor changes a subscription of the caller's.
func (s *Subscriptions) ChangeFor(ctx context.Context, by rail.Caller, id uuid.UUID, c rail.SubscriptionChange) (_ rail.Subscription, err error) {
	if err := s.check(records.Subscriber{Caller: by}); err != nil {
		return rail.Subscription{}, err
	}
	if c.URL != nil {
		url, err := s.checkURL(*c.URL)
		if err != nil {
			return rail.Subscription{}, err
		}
		c.URL = &url
	}
	var events []rail.EventType
	if c.Events != nil {
		var err error
		if events, err = checkEvents(c.Events); err != nil {
			return rail.Subscription{}, err
		}
	}
	now := s.Books.Now()
	sub, err := s.change(ctx, by, id, now, func(l *ledger.Ledger, sub *records.Subscription) error {
		again := c.URL != nil && *c.URL != sub.URL
		if again {
			from := sub.Host()
			if sub.URL = *c.URL; sub.Host() != from {
				others, _, err := records.ReadMarked(l.Ctx, l.Tx, records.SubjectPrefix(by.Subject), "")
				if err == nil {
					err = s.Opts.hasRoom(sub.Host(), others)
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
			by := rail.DisabledBy("")
			if *c.Disabled {
				by = rail.DisabledByOwner
			}
			switch changed := sub.Disable(by, now); {
			case changed && sub.Disabled:
				l.Stopped = append(l.Stopped, sub.Subscription)
			case changed && !sub.Unverified.IsZero():
				again = true
			}
			l.Put(records.EndpointKey(now, id), nil) // for waiting deliveries
		}
		if again {
			l.MustVerify(sub)
		}
		return nil
	})
	return sub.Subscription, err
}

// Unsubscribe removes a subscription of the caller's.
func (s *Subscriptions) Unsubscribe(ctx context.Context, by rail.Caller, id uuid.UUID) (err error) {
	if err := s.check(records.Subscriber{Caller: by}); err != nil {
		return err
	}
	now := s.Books.Now()
	return s.Books.Update(ctx, now, func(l *ledger.Ledger) error {
		sub, err := s.ownSubscription(l.Ctx, l.Tx, records.Subscriber{Caller: by}, id)
		if err != nil {
			return err
		}
		l.Unsubscribe(&sub)
		return nil
	})
}

// Stopped lists the subscriptions that are stopped, of all owners.
func (s *Subscriptions) Stopped(ctx context.Context, page rail.Page) (_ rail.List[rail.Subscription], err error) {
	page, err = page.Normalize()
	if err != nil {
		return rail.List[rail.Subscription]{}, err
	}
	after, err := page.Cursor(rail.SubscriptionList, 16)
	if err != nil {
		return rail.List[rail.Subscription]{}, err
	}
	q := store.Range{Table: store.TableWebhooks, From: "s", To: "t", Reverse: true}
	if after != "" {
		q.To = "s" + after
	}
	var found []rail.Subscription
	var left records.Omissions
	err = s.Books.Store.View(ctx, func(r store.Reader) (err error) {
		found = nil
		left, err = records.EachOf(ctx, r, q, records.SubscriptionOf, func(sub records.Subscription) bool {
			sub.Removed = s.removed(&sub)
			if sub.Stopped().By != "" {
				found = append(found, sub.Subscription)
			}
			return len(found) <= page.Skip()+page.Limit
		})
		return err
	})
	s.Books.Omit(ctx, left)
	if err != nil {
		return rail.List[rail.Subscription]{}, err
	}
	return rail.Cut(rail.SubscriptionList, found, page.Skip(), page.Limit, func(s rail.Subscription) string { return string(s.ID[:]) }), nil
}

// removed says whether the operator has removed an endpoint, or a client, from the options. A
// service without webhooks does not know.
func (s *Subscriptions) removed(sub *records.Subscription) bool {
	w := s.Opts
	if w != nil && sub.ByClient {
		return !slices.Contains(w.Clients, sub.Client)
	}
	return sub.Operator && w != nil && !slices.ContainsFunc(w.Operator, func(op rail.OperatorWebhook) bool { return op.URL == sub.URL })
}

// check returns an error if no webhooks are configured, or for an empty caller. The deliveries
// to the operator's endpoints are available also without webhooks.
func (s *Subscriptions) check(by records.Subscriber) error {
	switch {
	case by.Operator:
		return nil
	case s.Opts == nil:
		return rail.ErrNoWebhooks
	}
	return by.Caller.Check()
}

func (s *Subscriptions) ownSubscription(ctx context.Context, r store.Reader, by records.Subscriber, id uuid.UUID) (records.Subscription, error) {
	v, err := r.Get(ctx, records.SubscriptionKey(id))
	if err != nil {
		return records.Subscription{}, err
	}
	if v[0] == nil {
		return records.Subscription{}, rail.ErrNotFound
	}
	sub, err := records.DecodeSubscription(v[0])
	if err != nil {
		return records.Subscription{}, err
	}
	if !sub.OwnedBy(by) {
		return records.Subscription{}, rail.ErrNotFound
	}
	sub.Removed = s.removed(&sub)
	return sub, nil
}

// change changes a subscription of the caller's.
func (s *Subscriptions) change(ctx context.Context, by rail.Caller, id uuid.UUID, now time.Time, rules func(*ledger.Ledger, *records.Subscription) error) (sub records.Subscription, err error) {
	if err := s.check(records.Subscriber{Caller: by}); err != nil {
		return sub, err
	}
	err = s.Books.Update(ctx, now, func(l *ledger.Ledger) (err error) {
		if sub, err = s.ownSubscription(l.Ctx, l.Tx, records.Subscriber{Caller: by}, id); err != nil {
			return err
		}
		if err := rules(l, &sub); err != nil {
			return err
		}
		l.PutSubscription(&sub)
		return nil
	})
	return sub, err
}

// checkURL returns a URL in the form in which it is stored, or an error.
func (s *Subscriptions) checkURL(url string) (string, error) {
	if url == "" {
		return "", rail.Invalid("url", "is required")
	}
	if url = normalURL(url); len(url) > maxWebhookURL {
		return "", rail.Invalid("url", "has %d bytes, more than %d", len(url), maxWebhookURL)
	}
	return url, s.Opts.Sender.CheckURL(url)
}
