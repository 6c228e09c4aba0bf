package webhooks

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/ledger"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/whsec"
	"github.com/traintravel/traintravel/rail"
)

// newWebhookSecret makes a secret in the form of Standard Webhooks.
func newWebhookSecret() rail.Secret {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // it never fails
	return rail.Secret(whsec.Encode(b))
}

// sealer is AES-256-GCM: SealKey has been checked.
func (o *WebhookOptions) sealer() cipher.AEAD {
	block, err := aes.NewCipher(o.SealKey)
	if err != nil {
		panic(err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err)
	}
	return aead
}

// seal encrypts a secret for one subscription only.
func (o *WebhookOptions) seal(secret rail.Secret, id uuid.UUID) string {
	return string(o.sealer().Seal(nil, nil, []byte(secret), id[:]))
}

func (o *WebhookOptions) unseal(sealed string, id uuid.UUID) (rail.Secret, error) {
	plain, err := o.sealer().Open(nil, nil, []byte(sealed), id[:])
	if err != nil {
		return "", errors.New("the secret of a subscription was sealed with another key: set Options.Webhooks.SealKey to the key used then")
	}
	return rail.Secret(plain), nil
}

// sealTold seals the response to a request about a subscription, for its repetition: the secret
// cannot be retrieved later, and the subscription may have ended by then. Data that must be
// erased with its owner cannot be read without SealKey.
func (o *WebhookOptions) sealTold(sub *records.Subscription, secret rail.Secret) string {
	told := *sub
	told.Owner, told.Client = rail.Subject{}, "" // who repeats the request says so
	told.Secrets = []records.SealedSecret{{Sealed: string(secret)}}
	return o.seal(rail.Secret(told.Encode()), told.ID)
}

// firstSubscription returns the first response to a repeated request.
func (s *Subscriptions) firstSubscription(ctx context.Context, by rail.Caller, a records.Answer) (rail.Subscription, rail.Secret, error) {
	if a.Sealed == "" { // recorded by an older version: returned as it is
		sub, err := s.ownSubscription(ctx, s.Books.Store, records.Subscriber{Caller: by}, a.About)
		if err != nil {
			return rail.Subscription{}, "", err
		}
		secret, err := s.Opts.unseal(sub.Secrets[0].Sealed, sub.ID)
		sub.Replayed = true
		return sub.Subscription, secret, err
	}
	record, err := s.Opts.unseal(a.Sealed, a.About)
	if err != nil {
		return rail.Subscription{}, "", err
	}
	sub, err := records.DecodeSubscription([]byte(record))
	if err != nil {
		return rail.Subscription{}, "", err
	}
	if sub.ByClient && !by.ForItself { // a user with the client's name
		return rail.Subscription{}, "", rail.ErrKeyReused
	}
	sub.Owner, sub.Client, sub.Replayed = by.Subject, by.Client, true
	return sub.Subscription, rail.Secret(sub.Secrets[0].Sealed), nil
}

// NewSecret replaces the secret of a subscription. The previous one is used too for a while.
func (s *Subscriptions) NewSecret(ctx context.Context, by rail.Caller, id uuid.UUID, key string) (_ rail.Subscription, _ rail.Secret, err error) {
	idem, err := s.Books.Idempotency(by, key, "secret "+id.String(), func(*records.Fingerprint) {})
	if err != nil {
		return rail.Subscription{}, "", err
	}
	if err := s.check(records.Subscriber{Caller: by}); err != nil {
		return rail.Subscription{}, "", err
	}
	now, secret := s.Books.Now(), newWebhookSecret()
	sealed := s.Opts.seal(secret, id)
	for {
		was, missing := s.ownSubscription(ctx, s.Books.Store, records.Subscriber{Caller: by}, id)
		if missing != nil && (idem.None() || !errors.Is(missing, rail.ErrNotFound)) {
			return rail.Subscription{}, "", missing
		}
		told := s.Opts.sealTold(&was, secret)
		var first *records.Answer
		err = s.Books.Update(ctx, now, func(l *ledger.Ledger) (err error) {
			if first, err = l.Recall(idem); first != nil || err != nil {
				return err
			}
			sub, err := s.ownSubscription(l.Ctx, l.Tx, records.Subscriber{Caller: by}, id)
			switch {
			case err != nil:
				return err
			case missing != nil || !bytes.Equal(sub.Encode(), was.Encode()):
				return rail.ErrChanged
			}
			sub.Secrets = []records.SealedSecret{{Sealed: sealed}, {Sealed: sub.Secrets[0].Sealed, Until: now.Add(overlap)}}
			l.PutSubscription(&sub)
			l.Remember(idem, records.Answer{About: id, Sealed: told})
			return nil
		})
		switch {
		case errors.Is(err, rail.ErrChanged): // the sealed subscription differs from the current one
		case err != nil:
			return rail.Subscription{}, "", err
		case first != nil:
			return s.firstSubscription(ctx, by, *first)
		default:
			return was.Subscription, secret, nil
		}
	}
}
