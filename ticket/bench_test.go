package ticket_test

import (
	"testing"

	"github.com/traintravel/traintravel/ticket"
)

func BenchmarkContainer(b *testing.B) {
	i, t := issuer(b, newKey(b)), sample(b, nil)
	for b.Loop() {
		_ = container(b, i, t, 0)
	}
}

func BenchmarkVerify(b *testing.B) {
	key := newKey(b)
	keys, err := ticket.NewKeys(&key.PublicKey)
	if err != nil {
		b.Fatal(err)
	}
	code := container(b, issuer(b, key), sample(b, nil), 0)
	for b.Loop() {
		if _, err := keys.Verify(code); err != nil {
			b.Fatal(err)
		}
	}
}
