package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// ClientOptions configures a Client. The zero value works.
type ClientOptions struct {
	// Transport sends the requests. Nil means one of the Client's own, without a
	// proxy. Redirects are never followed.
	Transport http.RoundTripper

	// Propagate, if not nil, may add headers to each request, such as the trace of
	// its context.
	Propagate func(context.Context, http.Header)
}

// A Client is a [traintravel.PaymentGateway] and a [traintravel.Canceller] that
// calls another program over HTTP. It is safe for concurrent use.
//
// Only a response that is signed for the same request determines the outcome: a
// status; an unknown ID, which is an error wrapping [traintravel.ErrNotFound]; or a
// gateway that cannot cancel, which is an error wrapping [errors.ErrUnsupported].
// Any other response, whatever its status, is an error, and the outcome is unknown. A
// request is sent once; the Transport sends it over a new connection only if the old
// one was closed before the other side can have read it. Errors contain nothing of
// sources and secrets.
type Client struct {
	base    string
	secrets ring
	http    *http.Client
	more    func(context.Context, http.Header) // ClientOptions.Propagate, or nil
}

var (
	_ traintravel.PaymentGateway = (*Client)(nil)
	_ traintravel.Canceller      = (*Client)(nil)
)

// New returns a Client of the gateway at a URL, which has to be https unless it is on
// this machine. The error is an [*traintravel.InvalidError] whose Field is url or
// secret. New starts nothing.
func New(baseURL, secret string, opts ClientOptions) (*Client, error) {
	base, err := parseBase(baseURL)
	if err != nil {
		return nil, &traintravel.InvalidError{Field: "url", Reason: err.Error()}
	}
	secrets, err := parseSecrets(secret)
	if err != nil {
		return nil, &traintravel.InvalidError{Field: "secret", Reason: err.Error()}
	}
	transport := opts.Transport
	if transport == nil {
		transport = &http.Transport{
			ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute,
			TLSHandshakeTimeout: 15 * time.Second, MaxResponseHeaderBytes: maxBody, DisableCompression: true,
		}
	}
	return &Client{base, secrets, &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, opts.Propagate}, nil
}

// parseBase refuses what must not be asked. Its errors quote nothing: there may
// be a password in it.
func parseBase(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Opaque != "":
		return "", errors.New("is not an absolute https URL")
	case u.User != nil:
		return "", errors.New("has a user or a password: both sides authenticate by the secret instead")
	case u.RawQuery != "" || u.ForceQuery || strings.Contains(text, "#"):
		return "", errors.New("has a query or a fragment")
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return "", errors.New("must begin with https://, because card numbers are sent to it")
	}
	return strings.TrimRight(u.String(), "/"), nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// URL returns the URL of the gateway, without a slash at its end.
func (c *Client) URL() string { return c.base }

// Charge is PUT /charges/{id}.
func (c *Client) Charge(ctx context.Context, ch traintravel.Charge) (traintravel.Outcome, error) {
	body, err := encodeCharge(ch)
	if err != nil {
		return traintravel.Outcome{}, fmt.Errorf("gateway: charge %s: %w", ch.ID, err)
	}
	return c.ask(ctx, "charge", ch.ID, http.MethodPut, "/charges/"+ch.ID.String(), body)
}

// Refund is PUT /refunds/{id}.
func (c *Client) Refund(ctx context.Context, r traintravel.Refund) (traintravel.Outcome, error) {
	body, err := encodeRefund(r)
	if err != nil {
		return traintravel.Outcome{}, fmt.Errorf("gateway: refund %s: %w", r.ID, err)
	}
	return c.ask(ctx, "refund", r.ID, http.MethodPut, "/refunds/"+r.ID.String(), body)
}

// Lookup is GET /outcomes/{id}.
func (c *Client) Lookup(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
	return c.ask(ctx, "look-up of", id, http.MethodGet, "/outcomes/"+id.String(), nil)
}

// Cancel is POST /charges/{id}/cancel. If the other side cannot cancel, the error
// wraps [errors.ErrUnsupported].
func (c *Client) Cancel(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
	return c.ask(ctx, "cancellation of", id, http.MethodPost, "/charges/"+id.String()+"/cancel", nil)
}

// Check looks up an ID that was never used. It returns nil if the other side responds
// correctly, and otherwise an error that says what is wrong. It moves no money.
func (c *Client) Check(ctx context.Context) error {
	_, err := c.Lookup(ctx, uuid.New())
	switch {
	case err == nil:
		return errors.New("gateway: it returned an outcome for an ID that was never used")
	case errors.Is(err, traintravel.ErrNotFound):
		return nil
	}
	return err
}

// ask sends one request and reads what became of an ID.
func (c *Client) ask(ctx context.Context, what string, id uuid.UUID, method, path string, body []byte) (out traintravel.Outcome, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("gateway: %s %s: %w", what, id, err)
		}
	}()
	status, mediaType, answer, err := c.send(ctx, method, path, body)
	if err != nil {
		return out, err
	}
	switch {
	case status == http.StatusOK && mediaType == "application/json":
		out, err = decodeOutcome(id, answer)
		if err == nil && out.Resolution != "" && strings.HasPrefix(path, "/charges/") {
			return traintravel.Outcome{}, errors.New("the answer has a resolution, but only refunds have one")
		}
		return out, err
	case mediaType == problemMediaType:
		slug := slugOf(answer)
		if status == http.StatusNotFound && slug == notFound {
			return out, traintravel.ErrNotFound
		}
		if status == http.StatusNotImplemented && slug == cannotCancel {
			return out, fmt.Errorf("answered %d, %s: %w", status, slug, errors.ErrUnsupported)
		}
		if slug == "" {
			slug = "an unknown problem"
		}
		return out, fmt.Errorf("answered %d, %s", status, slug)
	}
	return out, fmt.Errorf("answered %d with an unexpected media type", status)
}

// send returns an answer only if it was signed for this request.
func (c *Client) send(ctx context.Context, method, path string, body []byte) (status int, mediaType string, answer []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return 0, "", nil, errors.New("the request cannot be made")
	}
	id := uuid.NewString()
	c.secrets.sign(req.Header, id, time.Now(), method+" "+path, body)
	req.Header.Set("Accept", "application/json, "+problemMediaType)
	req.Header.Set("User-Agent", "traintravel")
	if len(body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.more != nil {
		c.more(ctx, req.Header)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // without the URL
		}
		return 0, "", nil, err
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	switch {
	case err != nil:
		return 0, "", nil, fmt.Errorf("the answer is cut off: %w", err)
	case len(answer) > maxBody:
		return 0, "", nil, errors.New("the answer has more than 64 KiB")
	}
	about, err := c.secrets.verify(resp.Header, time.Now(), strconv.Itoa(resp.StatusCode), answer)
	switch {
	case err != nil && resp.StatusCode == http.StatusUnauthorized:
		return 0, "", nil, fmt.Errorf("answered 401 (a different secret, or clock skew, has the same answer); checking the answer's own signature: %w", err)
	case err != nil:
		return 0, "", nil, fmt.Errorf("answered %d with an invalid signature: %w", resp.StatusCode, err)
	case about != id:
		return 0, "", nil, fmt.Errorf("answered %d to another request", resp.StatusCode)
	}
	mediaType, _, err = mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil {
		return 0, "", nil, fmt.Errorf("answered %d without a media type", resp.StatusCode)
	}
	return resp.StatusCode, mediaType, answer, nil
}
