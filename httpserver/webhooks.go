package httpserver

import (
	"net/http"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// A webhookDoc is a subscription as its owner sees it.
type webhookDoc struct {
	traintravel.Subscription
	secret traintravel.Secret // empty but when it is made
}

func (d *webhookDoc) encode(e *encoder) {
	e.item("webhook")
	e.id("id", d.ID)
	e.text("url", d.URL)
	e.list("events", "events")
	for _, event := range d.Events {
		e.value("event", string(event))
	}
	e.endList("events")
	e.optional("secret", string(d.secret))
	e.flag("verified", d.Unverified.IsZero())
	if by := d.VerifyBy(); !by.IsZero() {
		e.time("verify_by", by.UTC())
	}
	e.flag("disabled", d.Disabled || d.Removed)
	if stopped := d.Stopped(); stopped.By != "" {
		e.text("disabled_by", string(stopped.By))
		e.text("disabled_reason", stopped.Reason())
		if !stopped.At.IsZero() {
			e.time("disabled_at", stopped.At.UTC())
		}
	}
	e.links([]link{{"self", webhooksPath, d.ID, ""}, {"deliveries", webhooksPath, d.ID, "/deliveries"}})
	e.close("webhook")
}

// A deliveryDoc is an event on its way to a subscription.
type deliveryDoc struct{ traintravel.Delivery }

func (d *deliveryDoc) encode(e *encoder) {
	e.item("delivery")
	e.id("id", d.ID)
	e.text("event", string(d.Type))
	e.time("created_at", d.Created.UTC())
	e.text("status", string(d.Status))
	e.whole("attempts", d.Attempts)
	if d.LastStatus != 0 {
		e.whole("last_status", d.LastStatus)
	}
	if !d.Next.IsZero() {
		e.time("next_attempt_at", d.Next.UTC())
	}
	if !d.Ended.IsZero() {
		e.time("ended_at", d.Ended.UTC())
	}
	e.optional("dead_reason", string(d.Dead))
	e.close("delivery")
}

func (s *Server) listWebhooks(x *exchange) error {
	q := x.query(pageParams)
	page := q.page()
	if err := q.problem(); err != nil {
		return err
	}
	found, err := s.service.Subscriptions(x.ctx(), x.by, page)
	if err != nil {
		return err
	}
	docs := make([]webhookDoc, len(found.Items))
	for i, sub := range found.Items {
		docs[i].Subscription = sub
	}
	return x.answer(http.StatusOK, listOf("webhooks", docs, q.links(x, found.Next)))
}

func (s *Server) createWebhook(x *exchange) error {
	key, err := x.idempotencyKey()
	if err != nil {
		return err
	}
	var ask traintravel.NewSubscription
	if err := x.decode(func(d *decoder) { ask = d.newWebhook() }); err != nil {
		return err
	}
	ask.IdempotencyKey = key
	sub, secret, err := s.service.Subscribe(x.ctx(), x.by, ask)
	if err != nil {
		return err
	}
	x.replayed(sub.Replayed)
	x.set("Location", string(link{"self", webhooksPath, sub.ID, ""}.append(nil, x.base)))
	return x.answer(http.StatusCreated, &webhookDoc{sub, secret})
}

func (s *Server) oneWebhook(x *exchange) error {
	id, err := x.id("webhookId")
	if err != nil {
		return err
	}
	sub, err := s.service.Subscription(x.ctx(), x.by, id)
	if err != nil {
		return err
	}
	return x.answer(http.StatusOK, &webhookDoc{Subscription: sub})
}

func (s *Server) changeWebhook(x *exchange) error {
	id, err := x.id("webhookId")
	if err != nil {
		return err
	}
	var change traintravel.SubscriptionChange
	if err := x.decode(func(d *decoder) { change = d.webhookChange() }); err != nil {
		return err
	}
	sub, err := s.service.ChangeSubscription(x.ctx(), x.by, id, change)
	if err != nil {
		return err
	}
	return x.answer(http.StatusOK, &webhookDoc{Subscription: sub})
}

func (s *Server) deleteWebhook(x *exchange) error {
	id, err := x.id("webhookId")
	if err != nil {
		return err
	}
	if err := s.service.Unsubscribe(x.ctx(), x.by, id); err != nil {
		return err
	}
	return x.empty(http.StatusNoContent)
}

func (s *Server) newWebhookSecret(x *exchange) error {
	id, key, err := x.keyed("webhookId")
	if err != nil {
		return err
	}
	sub, secret, err := s.service.NewSubscriptionSecret(x.ctx(), x.by, id, key)
	if err != nil {
		return err
	}
	x.replayed(sub.Replayed)
	return x.answer(http.StatusOK, &webhookDoc{sub, secret})
}

func (s *Server) pingWebhook(x *exchange) error {
	id, key, err := x.keyed("webhookId")
	if err != nil {
		return err
	}
	return x.accept(s.service.PingSubscription(x.ctx(), x.by, id, key))
}

func (s *Server) listDeliveries(x *exchange) error {
	q := x.query(pageParams)
	page := q.page()
	id, err := x.id("webhookId")
	if err != nil {
		return err
	}
	if err := q.problem(); err != nil {
		return err
	}
	found, err := s.service.Deliveries(x.ctx(), x.by, id, page)
	if err != nil {
		return err
	}
	docs := make([]deliveryDoc, len(found.Items))
	for i, d := range found.Items {
		docs[i].Delivery = d
	}
	return x.answer(http.StatusOK, listOf("deliveries", docs, q.links(x, found.Next)))
}

func (s *Server) retryDelivery(x *exchange) error {
	webhook, key, err := x.keyed("webhookId")
	if err != nil {
		return err
	}
	id, err := x.id("deliveryId")
	if err != nil {
		return err
	}
	return x.accept(s.service.RetryDelivery(x.ctx(), x.by, webhook, id, key))
}

// keyed reads a path's parameter and the key of a request that may be sent again.
func (x *exchange) keyed(name string) (uuid.UUID, string, error) {
	id, err := x.id(name)
	if err != nil {
		return uuid.Nil, "", err
	}
	key, err := x.idempotencyKey()
	return id, key, err
}

// accept answers with a delivery that is to be made.
func (x *exchange) accept(d traintravel.Delivery, err error) error {
	if err != nil {
		return err
	}
	x.replayed(d.Replayed)
	return x.answer(http.StatusAccepted, &deliveryDoc{d})
}

// newWebhook reads the body of a request to subscribe. Members that the server itself
// writes, such as id and secret, are ignored.
func (d *decoder) newWebhook() (n traintravel.NewSubscription) {
	d.object([]string{"url"}, func(name string) bool {
		switch name {
		case "url":
			n.URL = d.text()
		case "events":
			n.Events = d.events()
		case "disabled":
			n.Disabled = d.flag()
		default:
			return false
		}
		return true
	})
	return n
}

// webhookChange reads what of a subscription is to be another.
func (d *decoder) webhookChange() (c traintravel.SubscriptionChange) {
	d.object(nil, func(name string) bool {
		switch name {
		case "url":
			url := d.text()
			c.URL = &url
		case "events":
			c.Events = d.events()
		case "disabled":
			disabled := d.flag()
			c.Disabled = &disabled
		default:
			return false
		}
		return true
	})
	return c
}

// events reads types of events, of which there are some.
func (d *decoder) events() (events []traintravel.EventType) {
	d.array(func() { events = append(events, traintravel.EventType(d.text())) })
	return events
}
