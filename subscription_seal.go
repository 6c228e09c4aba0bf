package traintravel

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/whsec"
)

// newWebhookSecret makes a secret as Standard Webhooks writes them.
func newWebhookSecret() Secret {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // it never fails
	return Secret(whsec.Encode(b))
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

// seal encrypts a secret for a subscription and no other.
func (o *WebhookOptions) seal(secret Secret, id uuid.UUID) string {
	return string(o.sealer().Seal(nil, nil, []byte(secret), id[:]))
}

func (o *WebhookOptions) unseal(sealed string, id uuid.UUID) (Secret, error) {
	plain, err := o.sealer().Open(nil, nil, []byte(sealed), id[:])
	if err != nil {
		return "", errors.New("the secret of a subscription was sealed with another key: the service has not the SealKey that it had")
	}
	return Secret(plain), nil
}

// sealTold seals what a request is told of a subscription, for when it is repeated: the
// secret is not to be had again, and the subscription may have ended by then. What has to
// be erased with its owner cannot be read without SealKey.
func (o *WebhookOptions) sealTold(sub *subscription, secret Secret) string {
	told := *sub
	told.Owner, told.Client = Subject{}, "" // who repeats the request says so
	told.secrets = []sealedSecret{{sealed: string(secret)}}
	return o.seal(Secret(told.encode()), told.ID)
}

// firstSubscription is what a repeated request was told the first time.
func (s *subscriptions) firstSubscription(ctx context.Context, by Caller, a answer) (Subscription, Secret, error) {
	if a.sealed == "" { // remembered by an older version: as it stands
		sub, err := s.ownSubscription(ctx, s.books.store, subscriber{Caller: by}, a.about)
		if err != nil {
			return Subscription{}, "", err
		}
		secret, err := s.opts.unseal(sub.secrets[0].sealed, sub.ID)
		sub.Replayed = true
		return sub.Subscription, secret, err
	}
	record, err := s.opts.unseal(a.sealed, a.about)
	if err != nil {
		return Subscription{}, "", err
	}
	sub, err := decodeSubscription([]byte(record))
	if err != nil {
		return Subscription{}, "", err
	}
	if sub.ByClient && !by.ForItself { // a user who is named like the client
		return Subscription{}, "", ErrKeyReused
	}
	sub.Owner, sub.Client, sub.Replayed = by.Subject, by.Client, true
	return sub.Subscription, Secret(sub.secrets[0].sealed), nil
}

func (s *subscriptions) newSecret(ctx context.Context, by Caller, id uuid.UUID, key string) (_ Subscription, _ Secret, err error) {
	idem, err := s.books.idempotency(by, key, "secret "+id.String(), func(*fingerprint) {})
	if err != nil {
		return Subscription{}, "", err
	}
	if err := s.check(subscriber{Caller: by}); err != nil {
		return Subscription{}, "", err
	}
	now, secret := s.books.now(), newWebhookSecret()
	sealed := s.opts.seal(secret, id)
	for {
		was, missing := s.ownSubscription(ctx, s.books.store, subscriber{Caller: by}, id)
		if missing != nil && (idem.none() || !errors.Is(missing, ErrNotFound)) {
			return Subscription{}, "", missing
		}
		told := s.opts.sealTold(&was, secret)
		var first *answer
		err = s.books.update(ctx, now, func(l *ledger) (err error) {
			if first, err = l.recall(idem); first != nil || err != nil {
				return err
			}
			sub, err := s.ownSubscription(l.ctx, l.tx, subscriber{Caller: by}, id)
			switch {
			case err != nil:
				return err
			case missing != nil || !bytes.Equal(sub.encode(), was.encode()):
				return ErrChanged
			}
			sub.secrets = []sealedSecret{{sealed: sealed}, {sub.secrets[0].sealed, now.Add(overlap)}}
			l.putSubscription(&sub)
			l.remember(idem, answer{about: id, sealed: told})
			return nil
		})
		switch {
		case errors.Is(err, ErrChanged): // what was sealed is not what is told
		case err != nil:
			return Subscription{}, "", err
		case first != nil:
			return s.firstSubscription(ctx, by, *first)
		default:
			return was.Subscription, secret, nil
		}
	}
}
