package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A place is the base URL of a server, where customers and attackers come.
type place string

// from is a client whose connections come from an address of its own.
func from(address string) *net.Dialer {
	return &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}, Timeout: 10 * time.Second}
}

// client is one who asks from an address.
func (s place) client(address string) *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: from(address).DialContext, MaxIdleConnsPerHost: 64}, Timeout: time.Minute}
}

// A day is what honest customers saw.
type day struct {
	mu      sync.Mutex
	took    []time.Duration
	refused []string
}

func (d *day) p99() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.took) == 0 {
		return 0
	}
	slices.Sort(d.took)
	return d.took[len(d.took)*99/100]
}

// honest are how many customers there are at a time, and pause how long each thinks
// between requests: they keep within their quotas.
const (
	honest = 8
	pause  = 20 * time.Millisecond
)

var customerNumber atomic.Int64

// customers are at work for so long, each a user of its own at an address of its own.
func (v *victim) customers(ctx context.Context, length time.Duration) *day {
	d := &day{}
	until := time.Now().Add(length)
	var all sync.WaitGroup
	for range honest {
		all.Go(func() {
			for time.Now().Before(until) && ctx.Err() == nil {
				n := customerNumber.Add(1)
				token := v.token(fmt.Sprintf("honest%d", n))
				client := v.client(fmt.Sprintf("127.1.%d.%d", n/250%250, 1+n%250))
				for journeys := 0; journeys < 50 && time.Now().Before(until) && ctx.Err() == nil; journeys++ {
					v.journey(d, client, token)
				}
				client.CloseIdleConnections()
			}
		})
	}
	all.Wait()
	return d
}

// bookOne books and pays for a trip that nobody else wants, and returns the booking's ID.
func (s place) bookOne(t *testing.T, client *http.Client, token string) string {
	t.Helper()
	d := &day{}
	id := s.journey(d, client, token)
	for _, refusal := range d.refused {
		t.Error(refusal)
	}
	return id
}

// journey is a search, a booking, its payment and a look at it. It returns the booking's ID.
func (s place) journey(d *day, client *http.Client, token string) (id string) {
	when := time.Now().AddDate(0, 0, 2+int(customerNumber.Add(1)%200)).Format(time.DateOnly)
	found := s.ask(d, client, token, "GET", "/trips?origin="+berlin+"&destination="+paris+"&date="+when, "")
	trips, _ := found["data"].([]any)
	if len(trips) == 0 {
		return ""
	}
	trip := trips[0].(map[string]any)
	booked := s.ask(d, client, token, "POST", "/bookings", bookingOf(trip))
	id, _ = booked["id"].(string)
	if id == "" {
		return ""
	}
	s.ask(d, client, token, "POST", "/bookings/"+id+"/payment", paymentOf(trip, "4242424242424242"))
	s.ask(d, client, token, "GET", "/bookings/"+id, "")
	return id
}

// bookingOf is a request to book a trip.
func bookingOf(trip map[string]any) string {
	return fmt.Sprintf(`{"trip_id": %q, "passenger_name": "John Doe"}`, trip["id"])
}

// paymentOf is a request to pay for a trip with a card.
func paymentOf(trip map[string]any, card string) string {
	return fmt.Sprintf(`{"amount": %v, "currency": %q, "source": {"object": "card", "name": "J. Doe", "number": %q,
		"cvc": "123", "exp_month": 12, "exp_year": %d, "address_country": "gb"}}`, trip["price"], trip["currency"], card, time.Now().Year()+2)
}

// ask makes a request of an honest customer, which is answered with success.
func (s place) ask(d *day, client *http.Client, token, method, path, body string) (answer map[string]any) {
	time.Sleep(pause)
	req, err := http.NewRequest(method, string(s)+path, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	began, refused := time.Now(), ""
	resp, err := client.Do(req)
	if err == nil {
		var text []byte
		text, err = io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode >= 300 {
			refused = fmt.Sprintf("%s %s: %d %s", method, path, resp.StatusCode, text)
		} else if err == nil {
			err = json.Unmarshal(text, &answer)
		}
	}
	took := time.Since(began)
	if err != nil {
		refused = fmt.Sprintf("%s %s: %v", method, path, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.took = append(d.took, took)
	if refused != "" {
		d.refused = append(d.refused, refused)
	}
	return answer
}
