package httpserver_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"io"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/traintravel/traintravel/httpserver"
	"github.com/traintravel/traintravel/ticket"
)

// A countingKey is a key of tickets that counts what it signs.
type countingKey struct {
	*ecdsa.PrivateKey
	signed atomic.Int64
}

func (k *countingKey) Sign(r io.Reader, digest []byte, opts crypto.SignerOpts) ([]byte, error) {
	k.signed.Add(1)
	return k.PrivateKey.Sign(r, digest, opts)
}

func newCountingIssuer(t *testing.T) (*countingKey, *ticket.Issuer) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key := &countingKey{PrivateKey: private}
	issuer, err := ticket.NewIssuer(key)
	if err != nil {
		t.Fatal(err)
	}
	return key, issuer
}

// A ticket is signed once for all who ask for it, and only its owner gets it, for as long
// as it is good and the key is the server's.
func TestTicketIsMadeOnce(t *testing.T) {
	t.Parallel()
	key, issuer := newCountingIssuer(t)
	w := newWorld(t, func(w *world) { w.options.Tickets = issuer })
	b := w.book()
	w.pay(b)
	want := int64(0)
	for _, accept := range []string{"application/octet-stream", "image/png", "application/pdf", "text/calendar", "application/ld+json", "application/json"} {
		before := key.signed.Load()
		first := w.ticketOf(b, "", header("Accept", accept)).want(200)
		if key.signed.Load() > before {
			want++
		}
		var asking sync.WaitGroup
		for range 20 {
			asking.Go(func() {
				if again := w.ticketOf(b, "", header("Accept", accept)); again.status != 200 || again.body != first.body {
					t.Errorf("%s: %d, and it is another", accept, again.status)
				}
			})
		}
		asking.Wait()
		w.serve("GET", "/bookings/"+b.ID+"/ticket", as("berta-r"), header("Accept", accept)).problem(404, "not-found")
		w.serve("GET", "/bookings/"+b.ID+"/ticket", as("anna-w"), header("Accept", accept)).problem(403, "forbidden")
	}
	if n := key.signed.Load(); n != want {
		t.Errorf("%d signatures, want %d", n, want)
	}

	rotated, issuer := newCountingIssuer(t)
	w.options.Tickets = issuer
	before := w.ticketOf(b, "", header("Accept", "application/octet-stream")).body
	server, err := httpserver.New(w.service, w.options)
	if err != nil {
		t.Fatal(err)
	}
	w.server = server
	if after := w.ticketOf(b, "", header("Accept", "application/octet-stream")).want(200); after.body == before || rotated.signed.Load() == 0 {
		t.Error("a server with another key answers with a ticket that was signed before")
	}

	w.do("DELETE", "/bookings/"+b.ID, as("anna-w")).want(204)
	for _, accept := range []string{"application/octet-stream", "application/pdf"} {
		w.ticketOf(b, "", header("Accept", accept)).problem(404, "not-found")
	}
}
