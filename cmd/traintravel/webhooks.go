package main

import (
	"cmp"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/httpserver"
	"github.com/traintravel/traintravel/internal/keys"
)

// webhookSecret is the environment variable that has the secret of the operator's own
// webhooks.
const webhookSecret = "TRAINTRAVEL_WEBHOOK_SECRET"

// webhooks are the operator's own, and those that users and programs subscribe.
func (p *program) webhooks(set settings, base string, ring *keys.Ring) (*traintravel.WebhookOptions, error) {
	sender, err := httpserver.NewWebhookSender(httpserver.WebhookSenderOptions{BaseURL: base, Tickets: true, AllowPrivate: set.webhookPrivate})
	if err != nil {
		return nil, err
	}
	o := &traintravel.WebhookOptions{Sender: sender, SealKey: ring.Seal(), Clients: set.webhookClients}
	secret := traintravel.Secret(cmp.Or(p.env()[webhookSecret], ring.WebhookSecret()))
	for _, url := range set.webhooks {
		o.Operator = append(o.Operator, traintravel.OperatorWebhook{URL: url, Secrets: []traintravel.Secret{secret}})
	}
	return o, nil
}
