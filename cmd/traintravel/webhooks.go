package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/httpserver"
	"github.com/traintravel/traintravel/internal/keys"
	"github.com/traintravel/traintravel/internal/whsec"
	"github.com/traintravel/traintravel/tracing"
)

// webhookOptions are the operator's own webhooks, and those that users and programs
// subscribe.
func (p *program) webhookOptions(set settings, base string, ring *keys.Ring) (*traintravel.WebhookOptions, error) {
	sender, err := httpserver.NewWebhookSender(httpserver.WebhookSenderOptions{BaseURL: base, Tickets: true, AllowPrivate: set.webhookPrivate, Propagate: tracing.SendOn})
	if err != nil {
		return nil, err
	}
	o := &traintravel.WebhookOptions{Sender: lingering{sender, p.waits.deliver}, SealKey: ring.Seal(), Clients: set.webhookClients, PerHost: set.webhooksPerHost, Backlog: set.webhookBacklog}
	own := traintravel.OperatorWebhook{Secrets: []traintravel.Secret{traintravel.Secret(cmp.Or(p.env()[webhookSecret], ring.WebhookSecret()))}}
	for _, e := range set.webhookEvents {
		own.Events = append(own.Events, traintravel.EventType(e))
	}
	for _, own.URL = range set.webhooks {
		o.Operator = append(o.Operator, own)
	}
	return o, nil
}

// checkWebhooks finds mistakes in the settings of the operator's own webhooks.
func (p *program) checkWebhooks(set *settings) error {
	var errs []error
	for i, u := range set.webhooks {
		if slices.Contains(set.webhooks[:i], u) {
			errs = append(errs, usagef("invalid --webhook %.200q: it is given twice: give it once", withoutSecrets(u)))
		}
	}
	if secret := p.env()[webhookSecret]; secret != "" && len(set.webhooks) > 0 {
		if _, err := whsec.Decode(secret); err != nil {
			errs = append(errs, invalidSecret(webhookSecret, err.Error()))
		}
	}
	return errors.Join(errs...)
}

// secretForm is the form of a secret that is shared with another program.
const secretForm = `whsec_ and 24 to 64 random bytes in base64, such as "whsec_$(openssl rand -base64 32)"`

// invalidSecret is the error of a secret in a variable, which it does not show.
func invalidSecret(variable, fault string) error {
	return usagef("invalid %s, which %s: want %s", variable, fault, secretForm)
}

func (p *program) webhooks() *cobra.Command {
	var where storage
	var asJSON bool
	c := &cobra.Command{
		Use:   "webhooks",
		Short: "List undelivered events of the operator's webhooks, and retry them",
		Long: `List the operator's own webhooks (serve --webhook) that have had events, each with its
undelivered events, the newest first: those that will be retried, and dead ones, which
failed ten times in three days. Dead events are kept for 30 days; 'webhooks retry' sends
them again. A URL that is no longer among --webhook is listed while it has such events.
The disabled subscriptions of users and clients follow, with who disabled them, when and
why.

If a server has the data file open, it answers. Otherwise nothing is sent before the
next server starts.`,
		Args: takes(),
		RunE: func(c *cobra.Command, _ []string) error {
			return p.errand(c, where, "webhooks", webhookRequest{JSON: asJSON})
		},
	}
	where.flags(c.PersistentFlags())
	jsonFlag(c.PersistentFlags(), &asJSON)
	var all bool
	retry := &cobra.Command{
		Use:   "retry ID… | --all",
		Short: "Send events again: those with the IDs, or all dead ones",
		RunE: func(c *cobra.Command, ids []string) error {
			req := webhookRequest{All: all, JSON: asJSON}
			for _, text := range ids {
				id, err := uuid.Parse(text)
				if err != nil {
					return usagef("invalid ID %.200q: want the ID of an event, as 'webhooks' lists them", text)
				}
				req.Retry = append(req.Retry, id)
			}
			switch {
			case all && len(ids) > 0 && p.sources["all"] != "": // the environment, which the command line overrides
				req.All = false
			case all && len(ids) > 0:
				return usagef("IDs and --all exclude each other: give one of them")
			case !all && len(ids) == 0:
				return usagef("missing argument ID: give the IDs of the events to send again, or --all")
			}
			return p.errand(c, where, "webhooks", req)
		},
	}
	retry.Flags().BoolVar(&all, "all", false, "send all dead events again")
	c.AddCommand(retry)
	return c
}

// A webhookRequest asks for a list, or for deliveries to be retried.
type webhookRequest struct {
	Retry []uuid.UUID
	All   bool
	JSON  bool
}

// onWebhooks does what is asked.
func onWebhooks(ctx context.Context, service *traintravel.Service, req webhookRequest, tell teller) error {
	say := tell.say
	var own []traintravel.Subscription
	for sub, err := range items(func(page traintravel.Page) (traintravel.List[traintravel.Subscription], error) {
		return service.Desk().Subscriptions(ctx, page)
	}) {
		if err != nil {
			return err
		}
		own = append(own, sub)
	}
	switch {
	case len(req.Retry) > 0:
		return retryDeliveries(ctx, service, own, req, tell)
	case req.JSON:
		return webhooksJSON(ctx, service, own, req, tell)
	case len(own) == 0:
		say("No webhook of the operator has had an event.")
	}
	for _, sub := range own {
		at := withoutSecrets(sub.URL)
		if req.All && sub.Removed {
			say(at + removedHook)
			continue
		}
		if req.All {
			n, err := service.Desk().RetryDead(ctx, sub.ID)
			say(fmt.Sprintf("%s: %s will be sent again", at, howMany(n, "event", "events")))
			if err != nil {
				return err
			}
			continue
		}
		head := sync.OnceFunc(func() { say(at) })
		if sub.Removed { // and forgotten when nothing is left of it
			at += removedHook
		} else {
			head()
		}
		if err := undelivered(ctx, service, sub.ID, func(d traintravel.Delivery) { head(); say(deliveryLine(d)) }); err != nil {
			return err
		}
	}
	if req.All {
		return nil
	}
	return stopped(ctx, service, func(sub traintravel.Subscription) {
		s, when := sub.Stopped(), ""
		if !s.At.IsZero() {
			when = " at " + s.At.UTC().Format(time.RFC3339)
		}
		say(fmt.Sprintf("%v of user %q, client %q, host %s: disabled by the %s%s: %s", sub.ID, sub.Owner.ID, sub.Client, hostOf(sub.URL), s.By, when, s.Reason()))
	})
}

// stopped lists the disabled subscriptions of users and clients. Of their URLs the operator
// needs the host alone.
func stopped(ctx context.Context, service *traintravel.Service, each func(traintravel.Subscription)) error {
	for sub, err := range items(func(page traintravel.Page) (traintravel.List[traintravel.Subscription], error) {
		return service.StoppedSubscriptions(ctx, page)
	}) {
		if err != nil {
			return err
		}
		if sub.Owner.ID == "" { // the operator's own, which were listed
			continue
		}
		each(sub)
	}
	return nil
}

// removedHook follows the URL of an endpoint that is no longer among --webhook.
const removedHook = ": no longer among --webhook, so nothing is sent there; waiting events are given up after their last attempt"

// undelivered lists the undelivered events of a subscription.
func undelivered(ctx context.Context, service *traintravel.Service, sub uuid.UUID, each func(traintravel.Delivery)) error {
	for d, err := range items(func(page traintravel.Page) (traintravel.List[traintravel.Delivery], error) {
		return service.Desk().Deliveries(ctx, sub, page)
	}) {
		if err != nil {
			return err
		}
		if d.Status == traintravel.DeliveryDelivered {
			continue
		}
		each(d)
	}
	return nil
}

// deliveryLine is an undelivered event in a line.
func deliveryLine(d traintravel.Delivery) string {
	text := fmt.Sprintf("  %v %s of %s: %s after %s", d.ID, d.Type, d.Created.UTC().Format(time.RFC3339), d.Status, howMany(d.Attempts, "attempt", "attempts"))
	switch {
	case d.LastStatus != 0:
		text += fmt.Sprintf(", last answer %d", d.LastStatus)
	case d.Attempts > 0:
		text += ", last attempt without an answer"
	}
	if !d.Next.IsZero() {
		text += ", next attempt at " + d.Next.UTC().Format(time.RFC3339)
	}
	if !d.Ended.IsZero() {
		text += fmt.Sprintf(", given up at %s (%s)", d.Ended.UTC().Format(time.RFC3339), d.Dead)
	}
	return text
}

// items are all of a list that comes in pages.
func items[T any](list func(traintravel.Page) (traintravel.List[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for page, more := (traintravel.Page{Limit: traintravel.MaxLimit}), true; more; {
			l, err := list(page)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range l.Items {
				if !yield(item, nil) {
					return
				}
			}
			page.After, more = l.Next, l.Next != ""
		}
	}
}

// retryDeliveries has deliveries sent again, each to its endpoint.
func retryDeliveries(ctx context.Context, service *traintravel.Service, own []traintravel.Subscription, req webhookRequest, tell teller) error {
	for _, id := range req.Retry {
		err := error(traintravel.ErrNotFound)
		for i := 0; i < len(own) && errors.Is(err, traintravel.ErrNotFound); i++ {
			_, err = service.Desk().RetryDelivery(ctx, own[i].ID, id, "")
		}
		if errors.Is(err, traintravel.ErrDisabled) {
			return fmt.Errorf("cannot retry delivery %v: the server no longer posts to its URL; add it with --webhook", id)
		}
		if err != nil {
			return fmt.Errorf("%v: %w", id, err)
		}
		if !req.JSON {
			tell.say(fmt.Sprintf("%v will be sent again", id))
		}
	}
	if req.JSON {
		return sayJSON(tell, object{"retried": req.Retry})
	}
	return nil
}

// webhooksJSON lists webhooks with their undelivered events, or retries all that are dead.
func webhooksJSON(ctx context.Context, service *traintravel.Service, own []traintravel.Subscription, req webhookRequest, tell teller) error {
	hooks, disabled := []object{}, []object{}
	for _, sub := range own {
		hook := object{"url": withoutSecrets(sub.URL), "removed": sub.Removed}
		if req.All {
			n := 0
			var err error
			if !sub.Removed {
				n, err = service.Desk().RetryDead(ctx, sub.ID)
			}
			if hook["retried"] = n; err != nil {
				return err
			}
			hooks = append(hooks, hook)
			continue
		}
		events := []object{}
		err := undelivered(ctx, service, sub.ID, func(d traintravel.Delivery) {
			o := object{"id": d.ID, "type": d.Type, "created_at": d.Created, "status": d.Status, "attempts": d.Attempts}
			if d.LastStatus != 0 {
				o["last_answer"] = d.LastStatus
			}
			known(o, "next_attempt_at", d.Next)
			known(o, "ended_at", d.Ended)
			if d.Dead != "" {
				o["reason"] = d.Dead
			}
			events = append(events, o)
		})
		if err != nil {
			return err
		}
		if hook["undelivered"] = events; !sub.Removed || len(events) > 0 {
			hooks = append(hooks, hook)
		}
	}
	if req.All {
		return sayJSON(tell, object{"webhooks": hooks})
	}
	err := stopped(ctx, service, func(sub traintravel.Subscription) {
		s := sub.Stopped()
		o := object{"id": sub.ID, "issuer": sub.Owner.Issuer, "user_id": sub.Owner.ID, "client_id": sub.Client, "host": hostOf(sub.URL), "disabled_by": s.By, "disabled_reason": s.Reason()}
		known(o, "disabled_at", s.At)
		disabled = append(disabled, o)
	})
	if err != nil {
		return err
	}
	return sayJSON(tell, object{"webhooks": hooks, "disabled": disabled})
}

// hostOf is the host of a URL, "" if it has none.
func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Host
}
