package gateway_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gateway"
	"github.com/traintravel/traintravel/internal/need"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/store/memstore"
)

var (
	anna       = traintravel.Caller{Subject: traintravel.Subject{Issuer: "i", ID: "anna"}, Client: "c"}
	here, away = uuid.MustParse("00000000-0000-4000-8000-00000000000a"), uuid.MustParse("00000000-0000-4000-8000-00000000000b")
)

// A shop is a service that asks a sandbox for its money over connections that a
// proxy breaks, all of it in a bubble of fake time.
type shop struct {
	*traintravel.Service
	t    *testing.T
	till till
	trip uuid.UUID
}

func newShop(t *testing.T) *shop {
	ctx := t.Context()
	bank := sandbox.New()
	p := &proxy{to: newHandler(t, bank)}
	wire := pipes{make(chan net.Conn), make(chan struct{})}
	server := &http.Server{Handler: p}
	go func() { _ = server.Serve(wire) }()
	transport := &http.Transport{DialContext: wire.dial}
	client, err := gateway.New("http://localhost", secret, gateway.ClientOptions{Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	service, err := traintravel.New(memstore.New(), traintravel.Options{Gateway: client})
	if err != nil {
		t.Fatal(err)
	}
	_, err = service.LoadTimetable(ctx, &traintravel.Timetable{
		Stations: []traintravel.Station{{ID: here, Name: "Here", Zone: "UTC"}, {ID: away, Name: "Away", Zone: "UTC", Longitude: 1}},
		Trains: []traintravel.Train{{
			Operator: "O", Number: "R 1", Zone: "UTC", Days: traintravel.Daily(traintravel.NewDate(2000, 1, 1), traintravel.NewDate(2000, 12, 31)),
			Calls:   []traintravel.Call{{Station: here, Arrive: 8 * 3600, Depart: 8 * 3600}, {Station: away, Arrive: 9 * 3600, Depart: 9 * 3600}},
			Coaches: []traintravel.Coach{{Number: "1", Seats: 1}}, Fare: traintravel.Fare{Currency: "eur", Base: 4999},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	trips, err := service.SearchTrips(ctx, traintravel.TripQuery{
		Origin: here, Destination: away, Depart: time.Date(2000, 1, 20, 0, 0, 0, 0, time.UTC), Page: traintravel.Page{Limit: 1},
	})
	if err != nil || len(trips.Items) != 1 {
		t.Fatalf("%+v, %v", trips, err)
	}
	run, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = service.Run(run)
	}()
	t.Cleanup(func() {
		stop()
		<-ended
		transport.CloseIdleConnections()
		_ = server.Close()
	})
	return &shop{service, t, till{client, bank, p}, trips.Items[0].ID}
}

// pipes are connections within the bubble.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- theirs:
		return ours, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error {
	close(p.closed)
	return nil
}

func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// pay pays, and returns what the payment has come to an hour later.
func (s *shop) pay(b traintravel.Booking) traintravel.Payment {
	s.t.Helper()
	now, err := s.PayBooking(s.t.Context(), anna, b.ID, traintravel.NewPayment{Amount: b.Price, Source: card(good)})
	if err != nil {
		s.t.Fatal(err)
	}
	time.Sleep(50 * time.Minute)
	p, err := s.Payment(s.t.Context(), anna, b.ID)
	if err != nil || p.ID != now.ID || now.Status != traintravel.Pending && now.Status != p.Status {
		s.t.Fatalf("%+v, then %+v, %v", now, p, err)
	}
	return p
}

func (s *shop) balance() traintravel.Money {
	held, err := s.till.sandbox.Balance(context.Background(), "eur")
	if err != nil {
		s.t.Fatal(err)
	}
	return held
}

// charged is how often the bank has taken money.
func (s *shop) charged() (n int) {
	all, err := s.till.sandbox.Movements(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, m := range all {
		if m.Charge == uuid.Nil && m.Outcome.Status == traintravel.Succeeded {
			n++
		}
	}
	return n
}

// Wherever and however the connection breaks, a paid booking is charged once, a failed payment
// has charged nothing, and a refund is made once.
func TestServiceOverBrokenConnections(t *testing.T) {
	t.Parallel()
	asOurs := page(404, "application/problem+json", `{"type":"urn:traintravel:gateway:not-found"}`)
	for name, f := range map[string]fault{
		"nothing":      pass,
		"request lost": loseRequest,
		"answer lost":  loseAnswer,
		"answer cut":   cutAnswer,
		"answer late":  delay,
		"bad gateway":  page(502, "text/html", "<h1>502 Bad Gateway</h1>"),
		"not found":    page(404, "text/html", "<h1>404 Not Found</h1>"),
		"as ours":      asOurs,
		"redirect":     redirect,
		"unsigned":     unsigned,
		"changed":      flip(50),
		"twice":        twice,
	} {
		for step := 0; step < 4; step += need.Stride(1) {
			t.Run(fmt.Sprintf("%s at %d", name, step), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s := newShop(t)
					// The charge's answer is lost, or the charge, so that more is asked; and
					// after the step, or several, all is well.
					switch step {
					case 0: // the charge
						s.till.proxy.next(f)
					case 1: // the first look-up, of a charge that came
						s.till.proxy.next(loseAnswer, f)
					case 2: // look-ups and the cancellation, of one that did not
						s.till.proxy.next(loseRequest, f, pass, f)
					case 3: // again and again
						s.till.proxy.next(f, f, f, f)
					}
					b, err := s.CreateBooking(t.Context(), anna, traintravel.NewBooking{TripID: s.trip, PassengerName: "Anna"})
					if err != nil {
						t.Fatal(err)
					}
					p := s.pay(b)
					if p.Status == traintravel.Failed { // the hold is there still
						if n := s.charged(); n != 0 {
							t.Fatalf("a payment that failed was charged %d times", n)
						}
						p = s.pay(b)
					}
					now, err := s.Booking(t.Context(), anna, b.ID)
					if err != nil || p.Status != traintravel.Succeeded || now.Status != traintravel.Confirmed || s.charged() != 1 || s.balance() != b.Price {
						t.Fatalf("%s, %s, %v, charged %d times, %s", p.Status, now.Status, err, s.charged(), s.balance())
					}

					s.till.proxy.next(f, f)
					if err := s.CancelBooking(t.Context(), anna, b.ID); err != nil {
						t.Fatal(err)
					}
					time.Sleep(time.Hour)
					all, err := s.Payments(t.Context(), anna, b.ID, traintravel.Page{})
					if err != nil || all.Items[0].RefundOf != p.ID || all.Items[0].Status != traintravel.Succeeded || s.balance() != eur(0) {
						t.Fatalf("%+v, %v, %s", all, err, s.balance())
					}
				})
			})
		}
	}
}
