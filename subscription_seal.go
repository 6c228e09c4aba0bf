package traintravel

import (
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
func (s *Service) sealer() cipher.AEAD {
	block, err := aes.NewCipher(s.opts.Webhooks.SealKey)
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
func (s *Service) seal(secret Secret, id uuid.UUID) string {
	return string(s.sealer().Seal(nil, nil, []byte(secret), id[:]))
}

func (s *Service) unseal(sealed string, id uuid.UUID) (Secret, error) {
	plain, err := s.sealer().Open(nil, nil, []byte(sealed), id[:])
	if err != nil {
		return "", errors.New("the secret of a subscription was sealed with another key: the service has not the SealKey that it had")
	}
	return Secret(plain), nil
}
