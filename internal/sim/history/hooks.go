package history

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/sim/model"
	"github.com/traintravel/traintravel/internal/sim/world"
)

// hookKinds are what subscribers do. Without webhooks, in some histories, they do nothing.
func hookKinds() []kind {
	return []kind{
		{"subscribe", 2, (*operation).subscribe},
		{"unsubscribe", 1, (*operation).unsubscribe},
		{"change subscription", 1, (*operation).changeSubscription},
		{"new secret", 1, (*operation).newSecret},
		{"ping", 1, (*operation).ping},
		{"deliveries", 2, (*operation).deliveries},
		{"retry delivery", 2, (*operation).retryDelivery},
		{"retry dead", 1, (*operation).retryDead},
	}
}

// setUpHooks draws whether events are posted, and to which endpoints of the operator's.
func (h *history) setUpHooks() {
	r := h.Seed.At("webhooks", 0)
	if h.hooks.on = r.IntN(3) > 0; !h.hooks.on {
		return
	}
	for i := range r.IntN(3) {
		secrets := []traintravel.Secret{secretOf(byte(i)), secretOf(byte(10 + i))}[:1+r.IntN(2)]
		events := traintravel.EventTypes()
		if i > 0 {
			events = events[:1+r.IntN(len(events))]
		}
		s := &model.Subscription{URL: fmt.Sprintf("http://operator-%d.example/events", i+1), Events: events}
		h.hooks.operators = append(h.hooks.operators, s)
		h.m.AddOperator(s, secrets...)
		h.operators = append(h.operators, traintravel.OperatorWebhook{URL: s.URL, Secrets: secrets, Events: events})
	}
}

// secretOf returns one of the operator's own secrets, as Standard Webhooks writes them.
func secretOf(n byte) traintravel.Secret {
	return traintravel.Secret("whsec_" + []string{"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=", "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWc="}[n/10][:42] + fmt.Sprintf("%c=", 'A'+4*(n%10)))
}

// hook draws a subscription that is there, nil if there is none.
func (op *operation) hook() *model.Subscription {
	which := op.r.Float64()
	known := slices.DeleteFunc(slices.Clone(op.hooks.made), func(s *model.Subscription) bool { return !s.Known() })
	if len(known) == 0 {
		return nil
	}
	return known[int(which*float64(len(known)))]
}

// subscribe subscribes a new endpoint, of a user or of the agency.
func (op *operation) subscribe() {
	by := op.user()
	what, twice := op.r.IntN(4), op.r.IntN(4) == 0
	events := slices.Clone(traintravel.EventTypes())
	if op.r.IntN(2) == 0 {
		events = events[:1+op.r.IntN(len(events))]
	}
	known := slices.DeleteFunc(slices.Clone(op.hooks.made), func(s *model.Subscription) bool { return !s.Known() })
	if !op.hooks.on || len(known) >= mostHooks {
		return
	}
	switch what {
	case 0:
		by = traintravel.Caller{Subject: traintravel.Subject{ID: agency}, Client: agency, ForItself: true}
	case 1:
		by.Client = agency
	}
	s := &model.Subscription{URL: fmt.Sprintf("https://receiver-%d.example/events", op.n), By: by, Events: events}
	n := traintravel.NewSubscription{URL: s.URL, Events: events, IdempotencyKey: fmt.Sprint("subscription ", op.n)}
	op.hooks.made = append(op.hooks.made, s)
	for try := range again {
		var got traintravel.Subscription
		var key traintravel.Secret
		var err error
		op.m.Subscribing(s)
		told := op.told(func(ctx context.Context, s *server) { got, key, err = s.Subscribe(ctx, by, n) })
		op.say("%s subscribes %s: %s", by.ID, s.URL, result(err))
		op.m.Subscribed(told, s, got, key, err)
		if !model.Unanswered(err) && !twice {
			return
		}
		twice = false
		op.s = op.server(op.serverOf(op.n) + try + 1)
	}
}

// unsubscribe ends a subscription.
func (op *operation) unsubscribe() {
	s := op.hook()
	if s == nil {
		return
	}
	var err error
	op.m.Ending(s)
	told := op.told(func(ctx context.Context, v *server) { err = v.Unsubscribe(ctx, s.By, s.ID) })
	op.say("%s unsubscribes %s: %s", s.By.ID, s.URL, result(err))
	op.m.Ended(told, s, err)
}

// changeSubscription disables or enables a subscription.
func (op *operation) changeSubscription() {
	s, off := op.hook(), op.r.IntN(2) == 0
	if s == nil {
		return
	}
	var got traintravel.Subscription
	var err error
	op.m.Changing(s)
	told := op.told(func(ctx context.Context, v *server) {
		got, err = v.ChangeSubscription(ctx, s.By, s.ID, traintravel.SubscriptionChange{Disabled: &off})
	})
	op.say("%s changes the subscription of %s, disabled: %v: %s", s.By.ID, s.URL, off, result(err))
	op.m.Changed(told, s, off, got, err)
}

// newSecret asks for a new secret of a subscription, and again a few times without an answer.
func (op *operation) newSecret() {
	s := op.hook()
	if s == nil {
		return
	}
	for try := range again {
		var key traintravel.Secret
		var err error
		op.m.Renewing(s)
		told := op.told(func(ctx context.Context, v *server) {
			_, key, err = v.NewSubscriptionSecret(ctx, s.By, s.ID, fmt.Sprint("secret ", op.n))
		})
		op.say("%s gets a new secret for %s: %s", s.By.ID, s.URL, result(err))
		if op.m.Renewed(told, s, key, err); !model.Unanswered(err) {
			return
		}
		op.s = op.server(op.serverOf(op.n) + try + 1)
	}
}

// ping has a ping posted, and asks for the subscription.
func (op *operation) ping() {
	s := op.hook()
	if s == nil {
		return
	}
	var err error
	op.told(func(ctx context.Context, v *server) {
		_, err = v.PingSubscription(ctx, s.By, s.ID, fmt.Sprint("ping ", op.n))
	})
	op.say("%s pings %s: %s", s.By.ID, s.URL, result(err))
	op.m.HookAnswer(s, err, "a ping to")
	var got traintravel.Subscription
	told := op.told(func(ctx context.Context, v *server) { got, err = v.Subscription(ctx, s.By, s.ID) })
	op.posted()
	op.m.ReadSubscription(told, s, got, !op.w.Receivers.Shut(s.URL).IsZero(), err)
}

// deliveries asks for all deliveries of a subscription, and a stranger for the first.
func (op *operation) deliveries() {
	s, limit, stranger := op.hook(), 20+op.r.IntN(80), op.r.IntN(4) == 0
	if s == nil || !op.seldom() {
		return
	}
	all := op.listDeliveries(s, limit)
	op.say("%s lists the deliveries to %s: %d", s.By.ID, s.URL, len(all))
	if stranger {
		by := traintravel.Caller{Subject: traintravel.Subject{ID: "stranger"}}
		if s.By.Client == "" && op.r.IntN(2) == 0 {
			by = traintravel.Caller{Subject: s.By.Subject, Client: "another program"}
		}
		var err error
		op.told(func(ctx context.Context, v *server) { _, err = v.Deliveries(ctx, by, s.ID, traintravel.Page{}) })
		op.say("a stranger lists the deliveries to %s: %s", s.URL, result(err))
		op.m.RefusedHook(s, err)
	}
}

func (op *operation) listDeliveries(s *model.Subscription, limit int) []traintravel.Delivery {
	var all []traintravel.Delivery
	var err error
	told := op.told(func(ctx context.Context, v *server) {
		all, err = pages(limit, func(p traintravel.Page) (traintravel.List[traintravel.Delivery], error) {
			return v.Deliveries(ctx, s.By, s.ID, p)
		})
	})
	op.posted()
	got := op.received(s)
	op.m.Delivered(told, s, all, func(id uuid.UUID) bool { return got[id] }, err)
	return all
}

// received are the events that an endpoint has, by their IDs.
func (h *history) received(s *model.Subscription) map[uuid.UUID]bool {
	got := map[uuid.UUID]bool{}
	for _, e := range h.w.Receivers.Got(s.URL) {
		got[e.Event.ID] = true
	}
	return got
}

// retryDelivery has one of the latest deliveries posted again.
func (op *operation) retryDelivery() {
	s, which := op.hook(), op.r.Float64()
	if s == nil {
		return
	}
	var some traintravel.List[traintravel.Delivery]
	var err error
	op.told(func(ctx context.Context, v *server) {
		some, err = v.Deliveries(ctx, s.By, s.ID, traintravel.Page{Limit: 10})
	})
	if err != nil || len(some.Items) == 0 {
		return
	}
	d := some.Items[int(which*float64(len(some.Items)))]
	var got traintravel.Delivery
	op.told(func(ctx context.Context, v *server) {
		got, err = v.RetryDelivery(ctx, s.By, s.ID, d.ID, fmt.Sprint("retry ", op.n))
	})
	op.say("%s retries the %s delivery of %s to %s: %s", s.By.ID, d.Status, d.Type, s.URL, result(err))
	op.posted()
	op.m.Retried(s, d, got, !op.w.Receivers.Shut(s.URL).IsZero(), err)
}

// retryDead has the dead deliveries of a subscription, or of an endpoint of the operator's,
// posted again.
func (op *operation) retryDead() {
	s, operators := op.hook(), op.r.IntN(2) == 0
	var n int
	var err error
	if len(op.hooks.operators) > 0 && operators {
		op.told(func(ctx context.Context, v *server) {
			var subs traintravel.List[traintravel.Subscription]
			if subs, err = v.Desk().Subscriptions(ctx, traintravel.Page{}); err == nil && len(subs.Items) > 0 {
				n, err = v.Desk().RetryDead(ctx, subs.Items[0].ID)
			}
		})
		op.say("the operator retries the dead deliveries to an endpoint: %d, %s", n, result(err))
		if err != nil && !model.Unanswered(err) {
			op.m.Fail("A1", "a retry of the operator's was answered with %v", err)
		}
		return
	}
	if s == nil {
		return
	}
	op.told(func(ctx context.Context, v *server) { n, err = v.RetryDead(ctx, s.By, s.ID) })
	op.say("%s retries the dead deliveries to %s: %d, %s", s.By.ID, s.URL, n, result(err))
	op.m.Retried(s, traintravel.Delivery{Status: traintravel.DeliveryDead}, traintravel.Delivery{Status: traintravel.DeliveryPending}, !op.w.Receivers.Shut(s.URL).IsZero(), err)
}

// settleHooks compares what each endpoint has with what it was entitled to.
func (h *history) settleHooks(bare *traintravel.Service) {
	h.posted()
	ctx := context.Background()
	events := h.w.Receivers.Got(world.TheNotifier)
	endpoints, err := pages(10, func(p traintravel.Page) (traintravel.List[traintravel.Subscription], error) {
		return bare.Desk().Subscriptions(ctx, p)
	})
	if err != nil {
		h.m.Fail("L1", "the operator's endpoints cannot be read: %v", err)
	}
	for _, s := range slices.Concat(h.hooks.operators, h.hooks.made) {
		for _, e := range endpoints {
			if s.Operator && e.URL == s.URL {
				s.ID = e.ID
			}
		}
		if !s.Known() {
			continue
		}
		begin := time.Now()
		all, err := pages(100, func(p traintravel.Page) (traintravel.List[traintravel.Delivery], error) {
			if s.Operator {
				return bare.Desk().Deliveries(ctx, s.ID, p)
			}
			return bare.Deliveries(ctx, s.By, s.ID, p)
		})
		got := h.received(s)
		h.m.Delivered(model.Told{Begin: begin, End: time.Now()}, s, all, func(id uuid.UUID) bool { return got[id] }, err)
		h.m.SettledSubscription(s, h.w.Receivers.Shut(s.URL), events, got, all)
	}
}
