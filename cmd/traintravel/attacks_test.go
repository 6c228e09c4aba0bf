package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lestrrat-go/jwx/v2/jwa"
	"github.com/lestrrat-go/jwx/v2/jwk"
	"github.com/lestrrat-go/jwx/v2/jws"
	"github.com/lestrrat-go/jwx/v2/jwt"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gateway"
	"github.com/traintravel/traintravel/sandbox"
)

// A partner is what the victim needs of others: an issuer of tokens and a payment
// gateway, each of which can be made to hang.
type partner struct {
	issuer, gateway *httptest.Server
	key             jwk.Key
	silent          chan struct{} // the issuer answers nothing once it is closed
	ended           chan struct{} // nothing hangs once it is closed
	once            sync.Once
}

// hangingCard is one whose charges the gateway never answers.
const hangingCard = "5555555555554444"

func newPartner(t *testing.T) *partner {
	t.Helper()
	p := &partner{silent: make(chan struct{}), ended: make(chan struct{})}
	raw, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if p.key, err = jwk.FromRaw(raw); err != nil {
		t.Fatal(err)
	}
	_ = p.key.Set(jwk.KeyIDKey, "k1")
	_ = p.key.Set(jwk.AlgorithmKey, jwa.ES256)
	public, err := p.key.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": p.issuer.URL, "jwks_uri": p.issuer.URL + "/keys"})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-p.silent:
			<-p.ended
		default:
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": []jwk.Key{public}})
	})
	p.issuer = httptest.NewServer(mux)
	bank := &hangingBank{sandbox.New(), p.ended}
	handler, err := gateway.NewHandler(bank, sharedSecret, gateway.HandlerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p.gateway = httptest.NewServer(handler)
	t.Cleanup(func() {
		p.answer()
		p.gateway.Close()
		p.issuer.Close()
	})
	return p
}

// answer has nothing hang any more.
func (p *partner) answer() { p.once.Do(func() { close(p.ended) }) }

// A hangingBank answers all charges but those of one card.
type hangingBank struct {
	*sandbox.Gateway
	ended chan struct{}
}

func (b *hangingBank) Charge(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
	if card := c.Source.Card; card != nil && string(card.Number) == hangingCard {
		select {
		case <-b.ended:
		case <-ctx.Done():
		}
		return traintravel.Outcome{}, errors.New("hung")
	}
	return b.Gateway.Charge(ctx, c)
}

// sign makes a token of a user, under a key ID.
func (p *partner) sign(t *testing.T, audience, user, keyID string) string {
	t.Helper()
	token, err := jwt.NewBuilder().Issuer(p.issuer.URL).Audience([]string{audience}).Subject(user).IssuedAt(time.Now()).
		Expiration(time.Now().Add(time.Hour)).JwtID(user+keyID).Claim("client_id", "app").Claim("scope", "read write").Build()
	if err != nil {
		t.Fatal(err)
	}
	headers := jws.NewHeaders()
	_ = headers.Set(jws.TypeKey, "at+jwt")
	_ = headers.Set(jws.KeyIDKey, keyID)
	key, err := p.key.Clone()
	if err != nil {
		t.Fatal(err)
	}
	_ = key.Set(jwk.KeyIDKey, keyID)
	signed, err := jwt.Sign(token, jwt.WithKey(jwa.ES256, key, jws.WithProtectedHeaders(headers)))
	if err != nil {
		t.Fatal(err)
	}
	return string(signed)
}

// newVictim starts a server at its default limits.
func newVictim(t *testing.T, builtin bool) *victim {
	t.Helper()
	dir := t.TempDir()
	v := &victim{t: t, data: filepath.Join(dir, "t.db"), partner: newPartner(t)}
	args := []string{"serve", "--data", v.data, "--admin-addr", "127.0.0.1:0", "--base-url", shownBase, "--gateway", v.partner.gateway.URL}
	if !builtin {
		args = append(args, "--issuer", v.partner.issuer.URL)
	}
	v.server = spawnOn(t, nil, []string{gatewaySecret + "=" + sharedSecret}, dir, args...).listen()
	v.token = func(user string) string {
		if builtin {
			return issue(t, user, v.data)
		}
		return v.partner.sign(t, shownBase, user, "k1")
	}
	return v
}

// attacks are what is played. The first column of the table in docs/operations.md names them.
func attacks() []attack {
	return []attack{
		{name: "unread pages over HTTP/2", do: unread("/docs/swagger-ui-bundle.js", 20, "")},
		{name: "unread stations of one user", do: unread("/stations?limit=100", 6, "greedy")},
		{name: "slow bodies", do: slowBodies},
		{name: "forged tokens while the issuer hangs", do: forgedTokens},
		{name: "a gateway that hangs", do: hangingPayments},
		{name: "one ticket at once", do: oneTicketAtOnce},
		{name: "XML of empty elements", do: emptyElements},
		{name: "resets over HTTP/2", do: resets},
		{name: "headers that never end", do: slowHeaders},
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
func (v *victim) open2(ctx context.Context, address string) (*stream2, error) {
	conn, err := v.dial(ctx, address)
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
func unread(path string, connections int, user string) func(context.Context, *victim) {
	return func(ctx context.Context, v *victim) {
		token := ""
		if user != "" {
			token = v.token(user)
		}
		for n := 0; n < connections && ctx.Err() == nil; n++ {
			s, err := v.open2(ctx, "127.0.0.66")
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

// slowBodies begins 1,200 bodies and does not go on with them.
func slowBodies(ctx context.Context, v *victim) {
	for n := 0; n < 1200 && ctx.Err() == nil; n++ {
		conn, err := v.dial(ctx, "127.0.0.67")
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
func slowHeaders(ctx context.Context, v *victim) {
	for n := 0; n < 1200 && ctx.Err() == nil; n++ {
		conn, err := v.dial(ctx, "127.0.0.68")
		if err != nil {
			return
		}
		fmt.Fprintf(conn, "GET /stations HTTP/1.1\r\nHost: x\r\nX-Long: ")
	}
	<-ctx.Done()
}

// crowdOf has a request made again and again, by so many at once, at most so often in all.
func crowdOf(ctx context.Context, most, atOnce int, request func() error) {
	var all sync.WaitGroup
	turns := make(chan struct{}, most)
	for range most {
		turns <- struct{}{}
	}
	close(turns)
	for range atOnce {
		all.Go(func() {
			for range turns {
				if ctx.Err() != nil || request() != nil {
					return
				}
			}
		})
	}
	all.Wait()
}

// send makes a request of an attacker, who does not mind the answer.
func send(ctx context.Context, client *http.Client, method, target, token, form, body string) error {
	req, err := http.NewRequestWithContext(ctx, method, target, strings.NewReader(body))
	if err != nil {
		return err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if form != "" {
		req.Header.Set("Content-Type", form)
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil // it goes on
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.Body.Close()
}

// forgedTokens sends tokens of keys that the issuer does not have, when it hangs.
func forgedTokens(ctx context.Context, v *victim) {
	close(v.partner.silent)
	client := v.client("127.0.0.69")
	token := v.partner.sign(v.t, shownBase, "forger", "no such key")
	crowdOf(ctx, 5000, 500, func() error { return send(ctx, client, "GET", v.server.base+"/stations", token, "", "") })
}

// hangingPayments has four users pay with a card that the gateway never answers for.
func hangingPayments(ctx context.Context, v *victim) {
	var unminded day
	var all sync.WaitGroup
	for n := range 4 {
		all.Go(func() {
			token := v.token(fmt.Sprintf("debtor%d", n))
			client := v.client("127.0.0.70")
			day := time.Now().AddDate(0, 0, 250).Format(time.DateOnly)
			found := v.ask(&unminded, client, token, "GET", "/trips?origin="+berlin+"&destination="+paris+"&date="+day, "")
			trips, _ := found["data"].([]any)
			if len(trips) == 0 {
				return
			}
			trip := trips[0].(map[string]any)
			var payments sync.WaitGroup
			for range 9 { // as many as a user may hold
				booked := v.ask(&unminded, client, token, "POST", "/bookings", fmt.Sprintf(`{"trip_id": %q, "passenger_name": "John Doe"}`, trip["id"]))
				body := fmt.Sprintf(`{"amount": %v, "currency": %q, "source": {"object": "card", "name": "J. Doe", "number": %q,
					"cvc": "123", "exp_month": 12, "exp_year": %d, "address_country": "gb"}}`, trip["price"], trip["currency"], hangingCard, time.Now().Year()+2)
				for range 12 {
					payments.Go(func() {
						_ = send(ctx, client, "POST", fmt.Sprint(v.server.base, "/bookings/", booked["id"], "/payment"), token, "application/json", body)
					})
				}
			}
			payments.Wait()
		})
	}
	all.Wait()
}

// oneTicketAtOnce has a user ask for one ticket 600 times at once.
func oneTicketAtOnce(ctx context.Context, v *victim) {
	token, client := v.token("traveller"), v.client("127.0.0.71")
	id := v.bookOne(client, token)
	crowdOf(ctx, 600, 600, func() error { return send(ctx, client, "GET", v.server.base+"/bookings/"+id+"/ticket", token, "", "") })
}

// emptyElements sends bodies of 16,000 elements with nothing in them.
func emptyElements(ctx context.Context, v *victim) {
	token, client := v.token("author"), v.client("127.0.0.72")
	body := "<booking>" + strings.Repeat("<a/>", 16_000) + "</booking>"
	crowdOf(ctx, 2000, 50, func() error {
		return send(ctx, client, "POST", v.server.base+"/bookings", token, "application/xml", body)
	})
}

// resets opens streams and takes them back at once.
func resets(ctx context.Context, v *victim) {
	token := v.token("restless")
	for n := 0; n < 100 && ctx.Err() == nil; n++ {
		s, err := v.open2(ctx, "127.0.0.73")
		if err != nil {
			return
		}
		for range 1000 {
			id, err := s.get("/stations?limit=100", token)
			if err == nil {
				err = s.WriteRSTStream(id, http2.ErrCodeCancel)
			}
			if err != nil { // the server has had enough
				break
			}
		}
	}
}

// signIns posts the form of the sign-in, and asks for tokens, again and again.
func signIns(ctx context.Context, v *victim) {
	client := v.client("127.0.0.74")
	form := url.Values{"user": {"mallory"}, "client_id": {"demo"}}.Encode()
	crowdOf(ctx, 20_000, 50, func() error {
		return send(ctx, client, "POST", v.server.base+"/oauth/authorize", "", "application/x-www-form-urlencoded", form)
	})
}
