package httpserver

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/whsec"
)

// WebhookSenderOptions configures a WebhookSender. BaseURL is required.
type WebhookSenderOptions struct {
	// BaseURL begins the links in posted events; see Options.BaseURL.
	BaseURL string
	// Tickets says that confirmed bookings link to their tickets. Set it if Options.Tickets
	// is set.
	Tickets bool
	// AllowPrivate accepts subscribers' URLs with http or private addresses. It is for tests:
	// a subscriber can then have the server post to any machine in its network.
	AllowPrivate bool
	// Transport sends all requests instead of the sender's own connections, and alone decides
	// where they go: the sender then checks only addresses that are written in a URL. Nil is the
	// sender's own.
	Transport http.RoundTripper
	// Propagate, if not nil, may add to the headers of each request, such as the trace
	// that its context belongs to.
	Propagate func(context.Context, http.Header)
}

// A WebhookSender is a [traintravel.WebhookSender] that posts events according to Standard
// Webhooks (https://www.standardwebhooks.com): newBooking with the booking, byte for byte as
// in the response of POST /bookings; other events with their type, timestamp and data. It
// follows no redirects and uses no proxies from the environment.
//
// For subscribers, it checks the resolved address of each connection. The operator's
// endpoints may have any address.
type WebhookSender struct {
	base           base
	tickets        bool
	private        bool // subscribers may name any address
	guarded, plain http.RoundTripper
	more           func(context.Context, http.Header) // WebhookSenderOptions.Propagate, or nil
}

const (
	// idlePerHost is how many connections to a host wait for the next event: as many
	// as deliveries are under way to an endpoint.
	idlePerHost = 16
	// maxReceived limits how much of a response is read: its headers, and its body.
	maxReceived = 64 << 10
)

// NewWebhookSender returns a sender, or an [*traintravel.InvalidError]. It starts
// nothing.
func NewWebhookSender(opts WebhookSenderOptions) (*WebhookSender, error) {
	b, err := parseBase(opts.BaseURL)
	if err != nil {
		return nil, badOption("WebhookSenderOptions.BaseURL", err.Error())
	}
	s := &WebhookSender{base: b, tickets: opts.Tickets, private: opts.AllowPrivate, guarded: opts.Transport, plain: opts.Transport, more: opts.Propagate}
	if opts.Transport == nil {
		s.plain = webhookTransport(&net.Dialer{})
		if s.guarded = s.plain; !opts.AllowPrivate {
			s.guarded = webhookTransport(&net.Dialer{Control: guardian.Safe})
		}
	}
	return s, nil
}

// webhookTransport keeps connections that a dialer makes.
func webhookTransport(d *net.Dialer) *http.Transport {
	return &http.Transport{
		DialContext: d.DialContext, ForceAttemptHTTP2: true, DisableCompression: true,
		MaxIdleConns: 4096, MaxIdleConnsPerHost: idlePerHost, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: maxReceived,
		HTTP2: &http.HTTP2Config{SendPingTimeout: 10 * time.Second, PingTimeout: 5 * time.Second}, // notices dead connections
	}
}

// Send posts an event. It returns only the status of the response and the time to wait; its
// errors contain the receiver's host, and nothing else of the URL.
func (s *WebhookSender) Send(ctx context.Context, p traintravel.WebhookPost) (traintravel.WebhookAnswer, error) {
	req, err := s.request(ctx, p)
	if err != nil {
		return traintravel.WebhookAnswer{}, err
	}
	way := s.guarded
	if p.Operator {
		way = s.plain
	} else if req.URL.Scheme != "https" && !s.private { // it was subscribed while that was allowed
		return traintravel.WebhookAnswer{}, errors.New("webhook: the URL is not https")
	} else if !openPort(req.URL.Port()) { // likewise
		return traintravel.WebhookAnswer{}, errors.New("webhook: the port " + req.URL.Port() + " is not one of 80, 443, and 1024 to 65535")
	}
	resp, err := way.RoundTrip(req)
	if err != nil {
		return traintravel.WebhookAnswer{}, fmt.Errorf("webhook %s://%s: %w", req.URL.Scheme, req.URL.Host, unquoted(err))
	}
	defer resp.Body.Close()
	if resp.ContentLength != 0 {
		_, _ = io.CopyN(io.Discard, resp.Body, maxReceived) // so that the connection can be used again
	}
	return traintravel.WebhookAnswer{Status: resp.StatusCode, RetryAfter: retryAfter(resp.Header.Get("Retry-After"), time.Now())}, nil
}

// request makes the request that posts an event.
func (s *WebhookSender) request(ctx context.Context, p traintravel.WebhookPost) (*http.Request, error) {
	u, err := url.Parse(p.URL)
	if err != nil {
		return nil, errors.New("webhook: the URL is invalid") // the error would show it
	}
	id, at := p.Event.ID.String(), strconv.FormatInt(time.Now().Unix(), 10)
	body := s.body(p.Event)
	signature, err := sign(p.Secrets, id, at, body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	u.RawQuery = inLine(u.RawQuery)
	req.URL, req.Host = u, u.Host
	v := []string{"application/json", "traintravel", id, at, signature, string(p.Event.Type)} // of all, in one piece
	req.Header = http.Header{
		"Content-Type": v[0:1:1], "User-Agent": v[1:2:2],
		"Webhook-Id": v[2:3:3], "Webhook-Timestamp": v[3:4:4], "Webhook-Signature": v[4:5:5],
		"Webhook-Event": v[5:6:6],
		// Not sent; it says that the request may be repeated on another connection if
		// the receiver has closed this one, as it may: the event comes again anyway.
		"Idempotency-Key": {},
	}
	if s.more != nil {
		s.more(ctx, req.Header)
	}
	if u.User != nil { // the operator's
		password, _ := u.User.Password()
		req.SetBasicAuth(u.User.Username(), password)
	}
	return req, nil
}

// inLine is a query as the line of a request can have it: without blanks, which would end
// it, and in ASCII. Of a path net/url does as much.
func inLine(query string) string {
	var b []byte
	for _, c := range []byte(query) {
		if ' ' < c && c < 0x7f {
			b = append(b, c)
		} else {
			b = fmt.Appendf(b, "%%%02X", c)
		}
	}
	return string(b)
}

// sign returns the signatures of a body, one by each secret.
func sign(secrets []traintravel.Secret, id, at string, body []byte) (string, error) {
	head := []byte(id + "." + at + ".")
	b := make([]byte, 0, 48*len(secrets))
	var sum [sha256.Size]byte
	for _, secret := range secrets {
		key, err := whsec.Decode(string(secret))
		if err != nil {
			return "", fmt.Errorf("webhook: %w", err)
		}
		mac := hmac.New(sha256.New, key)
		_, _ = mac.Write(head)
		_, _ = mac.Write(body)
		if len(b) > 0 {
			b = append(b, ' ')
		}
		b = base64.StdEncoding.AppendEncode(append(b, "v1,"...), mac.Sum(sum[:0]))
	}
	return string(b), nil
}

// body is what is posted of an event. The trip of a booking that stands could be looked
// up when it happened.
func (s *WebhookSender) body(e traintravel.Event) []byte {
	enc := encoder{base: s.base.text, b: make([]byte, 0, 1024)}
	live := e.Booking.Status == traintravel.Held || e.Booking.Status == traintravel.Confirmed
	booking := bookingDoc{Booking: e.Booking, trip: live, ticket: s.tickets}
	if e.Type == traintravel.BookingCreated {
		enc.write(&booking)
		return enc.b
	}
	enc.item("event")
	enc.text("type", string(e.Type))
	enc.time("timestamp", e.Created.UTC())
	enc.open("data")
	switch {
	case e.Type == traintravel.Ping:
	case e.Type == traintravel.PaymentFailed && e.Payment != nil:
		(&paymentDoc{*e.Payment, live}).members(&enc)
	default:
		booking.members(&enc)
	}
	enc.close("data")
	enc.close("event")
	return enc.b
}

// retryAfter is how long a receiver asks to wait (RFC 9110, section 10.2.3).
func retryAfter(value string, now time.Time) time.Duration {
	if value == "" {
		return 0
	}
	n, err := strconv.ParseUint(value, 10, 32)
	if err == nil || errors.Is(err, strconv.ErrRange) { // n is the greatest then
		return time.Duration(n) * time.Second
	}
	if t, err := http.ParseTime(value); err == nil {
		return max(0, t.Sub(now))
	}
	return 0
}

// unquoted is an error of a transport, or says less: some quote what was answered.
func unquoted(err error) error {
	if isAny[*net.OpError](err) || isAny[*net.DNSError](err) || isAny[*tls.CertificateVerificationError](err) || isAny[tls.RecordHeaderError](err) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	return errors.New("the receiver sent no HTTP response")
}

func isAny[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
