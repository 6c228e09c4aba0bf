package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stripe/stripe-go/v85"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gateway"
	"github.com/traintravel/traintravel/paymenttest"
)

const (
	secret = "whsec_bm90IGEgc2VjcmV0OiBldmVyeWJvZHkga25vd3MgaXQ="
	good   = "4242424242424242"
)

// mock is the URL of the stripe-mock of all tests.
var mock string

func TestMain(m *testing.M) { os.Exit(withMock(m)) }

// withMock runs the tests with Stripe's stripe-mock, in the version of go.mod.
func withMock(m *testing.M) int {
	dir, err := os.MkdirTemp("", "stripe-mock")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	exe := filepath.Join(dir, "stripe-mock.exe")
	if out, err := exec.Command("go", "build", "-o", exe, "github.com/stripe/stripe-mock").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building stripe-mock: %v\n%s", err, out)
		return 1
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	addr := free.Addr().String()
	free.Close()
	cmd := exec.Command(exe, "-http-addr", addr)
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	mock = "http://" + addr
	for range 600 {
		if c, err := net.Dial("tcp", addr); err == nil {
			c.Close()
			return m.Run()
		}
		time.Sleep(50 * time.Millisecond)
	}
	fmt.Fprintln(os.Stderr, "stripe-mock does not listen")
	return 1
}

func card(number traintravel.Secret) traintravel.Source {
	return traintravel.Source{Card: &traintravel.Card{
		Name: "J. Doe", Number: number, CVC: "937", ExpMonth: 12, ExpYear: 2040, Country: "GB", City: "London", PostCode: "N12 9XX",
	}}
}

func charge(number traintravel.Secret) traintravel.Charge {
	return traintravel.Charge{ID: uuid.New(), Booking: uuid.New(), Amount: traintravel.Money{Amount: 4999, Currency: "eur"}, Source: card(number)}
}

func newBooks(t testing.TB) *books {
	b, err := openBooks(filepath.Join(t.TempDir(), "b.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.close)
	return b
}

// open is a gateway that does not ask Stripe again on its own, nor has net/http do
// so: that takes a request with an idempotency key for one to be repeated if the
// connection is an old one.
func open(f *fake, b *books) *stripeGateway {
	return newStripe("sk_test_123", stripe.BackendConfig{
		URL: stripe.String(f.url), MaxNetworkRetries: stripe.Int64(0),
		HTTPClient: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
	}, b)
}

// The contract of payment gateways, from the server's client to Stripe.
func TestSuite(t *testing.T) {
	paymenttest.Run(t, func(t testing.TB) paymenttest.Gateway {
		f := newFake(t, mock)
		h, err := gateway.NewHandler(open(f, newBooks(t)), secret, gateway.HandlerOptions{})
		if err != nil {
			t.Fatal(err)
		}
		lossy := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			h.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		})
		return paymenttest.Gateway{
			PaymentGateway: client(t, h),
			AnswersLost:    client(t, lossy),
			Succeeds:       card(good),
			Declines:       card("4000000000000002"),
			ChargedBack:    card(disputed),
			NotRefundable:  card(closedCard),
			SettlesLater:   card(later),
			FailsLater:     card(laterNot),
			Settle:         f.settle,
			// What Stripe takes: from half a euro on, with at most eight digits.
			Amounts: []traintravel.Money{{Amount: 50, Currency: "eur"}, {Amount: 1999, Currency: "chf"}, {Amount: 99_999_999, Currency: "eur"},
				{Amount: 500, Currency: "jpy"}, {Amount: 4990, Currency: "isk"}, {Amount: 49_990, Currency: "tnd"}},
			Moved: func(_ context.Context, id uuid.UUID) (traintravel.Money, error) {
				amount, currency, charges := f.kept(id.String())
				if charges > 1 {
					return traintravel.Money{}, fmt.Errorf("%s was charged %d times", id, charges)
				}
				if currency == "isk" {
					amount /= 100
				}
				return traintravel.Money{Amount: amount, Currency: currency}, nil
			},
		}
	})
}

// A railway takes its money through Stripe, on a way on which requests and answers are lost.
func TestSimulate(t *testing.T) {
	paymenttest.Simulate(t, func(t testing.TB) paymenttest.Gateway {
		f := newFake(t, mock)
		h, err := gateway.NewHandler(open(f, newBooks(t)), secret, gateway.HandlerOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return paymenttest.Gateway{
			PaymentGateway: client(t, h), Succeeds: card(good), Declines: card("4000000000000002"), SettlesLater: card(later), Settle: f.settle,
		}
	})
}

func client(t testing.TB, h http.Handler) *gateway.Client {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	c, err := gateway.New(server.URL, secret, gateway.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDeclines(t *testing.T) {
	t.Parallel()
	for number, want := range map[traintravel.Secret]string{
		"4000000000000002": traintravel.CardDeclined,
		"4000000000009995": traintravel.InsufficientFunds,
		"4000000000000069": traintravel.ExpiredCard,
		"4000000000000127": traintravel.IncorrectCVC,
		"4000000000000119": traintravel.ProcessingError,
		"4000002500003155": "authentication_required",
	} {
		g := open(newFake(t, mock), newBooks(t))
		out, err := g.Charge(t.Context(), charge(number))
		if err != nil || out.Status != traintravel.Failed || out.Failure.Code != want || out.Failure.Message == "" {
			t.Errorf("%s: %+v, %v, want %s", string(number), out, err, want)
		}
	}
	bank := charge(good)
	bank.Source = traintravel.Source{Bank: &traintravel.BankAccount{}}
	if out, err := open(newFake(t, mock), newBooks(t)).Charge(t.Context(), bank); err != nil || out.Failure.Code != "source_not_supported" {
		t.Errorf("a bank account: %+v, %v", out, err)
	}
}

// Whichever response of Stripe is lost, and whether the process dies with it, the money is
// charged once, or never after a failure was returned, and refunded once.
func TestLostAnswersOfStripe(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for n := 1; n <= 8; n++ {
		for _, then := range []string{"again", "cancel"} {
			f, b := newFake(t, mock), newBooks(t)
			f.lose = func(i int) bool { return i == n }
			c := charge(good)
			_, err := open(f, b).Charge(ctx, c)
			lost := err != nil
			if !lost && n <= 3 {
				t.Fatalf("the answer %d was not lost", n)
			}
			g := open(f, b) // with nothing but the books
			out, err := g.Lookup(ctx, c.ID)
			_, _, charges := f.kept(c.ID.String())
			switch {
			case errors.Is(err, traintravel.ErrNotFound):
				if charges != 0 {
					t.Fatalf("answer %d: taken, and never heard of it", n)
				}
			case err != nil && n > 3: // the look-up's own answer was lost
			case err != nil || out.Status != traintravel.Succeeded || charges != 1:
				t.Fatalf("answer %d: %+v, %v, taken %d times", n, out, err, charges)
			}
			if then == "again" {
				out, err = g.Charge(ctx, c)
			} else {
				out, err = g.Cancel(ctx, c.ID)
			}
			if err != nil {
				out, err = g.Lookup(ctx, c.ID)
			}
			_, _, charges = f.kept(c.ID.String())
			if err != nil || (out.Status == traintravel.Succeeded) != (charges == 1) || charges > 1 {
				t.Fatalf("answer %d, %s: %+v, %v, taken %d times", n, then, out, err, charges)
			}
			if out.Status == traintravel.Failed {
				if out, err = g.Charge(ctx, c); err != nil || out.Status != traintravel.Failed {
					t.Fatalf("after its cancellation: %+v, %v", out, err)
				}
				continue
			}
			r := traintravel.Refund{ID: uuid.New(), Charge: c.ID, Amount: traintravel.Money{Amount: 1000, Currency: "eur"}}
			for range 3 {
				if out, err = open(f, b).Refund(ctx, r); err == nil && out.Status != traintravel.Succeeded {
					t.Fatalf("answer %d: the refund: %+v", n, out)
				}
				f.mu.Lock()
				clear(f.first) // a day later Stripe has forgotten the keys
				f.mu.Unlock()
			}
			if amount, _, _ := f.kept(c.ID.String()); amount != 3999 || err != nil {
				t.Fatalf("answer %d: %d is left, %v", n, amount, err)
			}
		}
	}
}

// A charge that is requested again after Stripe has forgotten the idempotency keys.
func TestForgottenKeys(t *testing.T) {
	t.Parallel()
	for _, number := range []traintravel.Secret{good, "4000000000000002"} {
		f, b := newFake(t, mock), newBooks(t)
		c := charge(number)
		first, err := open(f, b).Charge(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		clear(f.first)
		c.Source = card(good)
		// The books as they were before the outcome was written down.
		e, _, err := b.read(c.ID)
		if err != nil {
			t.Fatal(err)
		}
		e.Outcome = traintravel.Outcome{}
		if err := b.write(c.ID, e); err != nil {
			t.Fatal(err)
		}
		again, err := open(f, b).Charge(t.Context(), c)
		if _, _, charges := f.kept(c.ID.String()); err != nil || again != first || charges > 1 {
			t.Errorf("%+v, then %+v, %v, taken %d times", first, again, err, charges)
		}
	}
}

// Errors of Stripe are reported without the contents of the request.
func TestErrors(t *testing.T) {
	t.Parallel()
	for status, body := range map[int]string{
		400: `{"error":{"type":"invalid_request_error","message":"4242424242424242 is no"}}`,
		401: `{"error":{"type":"invalid_request_error","message":"Invalid API Key"}}`,
		429: `{"error":{"type":"invalid_request_error","code":"rate_limit"}}`,
		402: `{"error":{"type":"api_error","message":"4242424242424242"}}`,
		500: `{"error":{"type":"api_error"}}`,
		502: `<h1>4242424242424242</h1>`,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}))
		g := newStripe("sk_test_123", stripe.BackendConfig{URL: stripe.String(server.URL), MaxNetworkRetries: stripe.Int64(0)}, newBooks(t))
		out, err := g.Charge(t.Context(), charge(good))
		if err == nil || errors.Is(err, traintravel.ErrNotFound) || strings.Contains(err.Error(), good) {
			t.Errorf("%d: %+v, %v", status, out, err)
		}
		server.Close()
	}
}
