package gateway_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gateway"
	"github.com/traintravel/traintravel/sandbox"
)

const (
	secret = "whsec_bm90IGEgc2VjcmV0OiBldmVyeWJvZHkga25vd3MgaXQ="
	newer  = "whsec_YW5vdGhlciBvbmUgdGhhdCBldmVyeWJvZHkga25vd3M="
)

func eur(cents int64) traintravel.Money { return traintravel.Money{Amount: cents, Currency: "eur"} }

func card(number traintravel.Secret) traintravel.Source {
	return traintravel.Source{Card: &traintravel.Card{
		Name: "Zoë 🚆", Number: number, CVC: "987", ExpMonth: 12, ExpYear: 2040, Country: "GB",
		Address1: "123 Fake Street", Address2: "4th Floor", City: "London", PostCode: "N12 9XX",
	}}
}

func account(number traintravel.Secret) traintravel.Source {
	return traintravel.Source{Bank: &traintravel.BankAccount{
		Name: "J. Doe", Number: number, AccountType: traintravel.Individual, BankName: "Starling Bank", Country: "GB",
	}}
}

const good, declined = "4242424242424242", "4000000000000002"

func charge(s traintravel.Source) traintravel.Charge {
	return traintravel.Charge{ID: uuid.New(), Booking: uuid.New(), Amount: eur(4999), Source: s}
}

func refund(c traintravel.Charge) traintravel.Refund {
	return traintravel.Refund{ID: uuid.New(), Charge: c.ID, Amount: c.Amount}
}

// newClient is a client of what listens at a URL.
func newClient(t testing.TB, url string) *gateway.Client {
	t.Helper()
	c, err := gateway.New(url, secret, gateway.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// serve serves a gateway on a port of this machine, by way of a proxy, and holds
// what passes to the description.
func serve(t testing.TB, gw traintravel.PaymentGateway) *proxy {
	t.Helper()
	return listen(t, newDescription(t).held(t, newHandler(t, gw)))
}

func newHandler(t testing.TB, gw traintravel.PaymentGateway) http.Handler {
	t.Helper()
	h, err := gateway.NewHandler(gw, secret, gateway.HandlerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// listen puts a proxy on a port of this machine.
func listen(t testing.TB, h http.Handler) *proxy {
	t.Helper()
	p := &proxy{to: h}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

// A till is a sandbox with a proxy before it, and a client.
type till struct {
	*gateway.Client
	sandbox *sandbox.Gateway
	proxy   *proxy
}

func newTill(t testing.TB) till {
	t.Helper()
	s := sandbox.New()
	p := serve(t, s)
	return till{newClient(t, p.url), s, p}
}

func wantStatus(t *testing.T, o traintravel.Outcome, err error, want traintravel.PaymentStatus) {
	t.Helper()
	if err != nil || o.Status != want {
		t.Fatalf("got %+v, %v, want %s", o, err, want)
	}
}
