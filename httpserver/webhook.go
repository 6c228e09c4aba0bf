package httpserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// WebhookOptions are the settings of a Webhook. URLs and BaseURL are required.
type WebhookOptions struct {
	// URLs are where to post to: absolute, http or https.
	URLs []string
	// BaseURL begins the links in what is posted; see Options.BaseURL.
	BaseURL string
	// Transport carries the requests. Nil is one of the Webhook's own, which
	// knows no proxy. Redirects are never followed.
	Transport http.RoundTripper
}

// A Webhook is a [traintravel.Notifier] that posts newBooking events: the
// booking as the API shows it, links included. Other events are acknowledged
// and sent nowhere. A receiver acknowledges with 200; all else, a redirect and
// 204 included, is a failure, and Notify returns an error so that the event
// comes again. Those who have acknowledged it do not get it again then, as
// long as the Webhook lives.
type Webhook struct {
	targets []target
	base    base
	client  *http.Client

	mu    sync.Mutex
	done  map[uuid.UUID][]bool // which targets have an event that others lack
	order []uuid.UUID          // of done, oldest first
}

type target struct {
	url  string
	name string // for errors: no path, no query, which may be secret
}

const (
	webhookTimeout = 15 * time.Second
	// maxHalfDone bounds how many events a Webhook remembers that some of its
	// receivers have and others not. Beyond it the oldest is sent to all.
	maxHalfDone = 10_000
)

// NewWebhook returns a Webhook, or an [*traintravel.InvalidError]. It starts
// nothing.
func NewWebhook(opts WebhookOptions) (*Webhook, error) {
	b, err := parseBase(opts.BaseURL)
	if err != nil {
		return nil, badOption("WebhookOptions.BaseURL", err.Error())
	}
	h := &Webhook{base: b, done: map[uuid.UUID][]bool{}}
	for _, text := range opts.URLs {
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
			return nil, badOption("WebhookOptions.URLs", "has one that is no absolute http or https URL")
		}
		h.targets = append(h.targets, target{u.String(), u.Scheme + "://" + u.Host})
	}
	if len(h.targets) == 0 {
		return nil, badOption("WebhookOptions.URLs", "is empty")
	}
	transport := opts.Transport
	if transport == nil {
		transport = &http.Transport{
			ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute,
			TLSHandshakeTimeout: webhookTimeout, MaxResponseHeaderBytes: 64 << 10,
		}
	}
	h.client = &http.Client{
		Transport: transport, Timeout: webhookTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return h, nil
}

// Notify posts an event to all who do not have it yet, at the same time.
func (h *Webhook) Notify(ctx context.Context, e traintravel.Event) error {
	if e.Type != traintravel.BookingCreated {
		return nil
	}
	// It was sold just now, so its trip can be looked up.
	var doc encoder
	doc.base = h.base.text
	doc.write(&bookingDoc{Booking: e.Booking, trip: true})
	body := doc.b
	done := h.delivered(e.ID)
	errs := make([]error, len(h.targets))
	var wg sync.WaitGroup
	for i, t := range h.targets {
		if !done[i] {
			wg.Go(func() { errs[i] = h.post(ctx, t, e, body) })
		}
	}
	wg.Wait()
	for i := range errs {
		done[i] = errs[i] == nil
	}
	err := errors.Join(errs...)
	h.remember(e.ID, done, err == nil)
	return err
}

// post sends an event to one receiver. Of the answer only the status is told.
func (h *Webhook) post(ctx context.Context, t target, e traintravel.Event, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.url, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("webhook %s: the request cannot be made", t.name)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "traintravel")
	req.Header.Set("Webhook-Event", string(e.Type))
	req.Header.Set("Webhook-Id", e.ID.String())
	resp, err := h.client.Do(req)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // without the URL
		}
		return fmt.Errorf("webhook %s: %w", t.name, err)
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10) // so that the connection can be used again
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("webhook %s: answered %d, not 200", t.name, resp.StatusCode)
	}
	return nil
}

// delivered returns a copy of who has an event.
func (h *Webhook) delivered(event uuid.UUID) []bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	done := make([]bool, len(h.targets))
	copy(done, h.done[event])
	return done
}

// remember keeps who has an event until all have it.
func (h *Webhook) remember(event uuid.UUID, done []bool, all bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, known := h.done[event]
	switch {
	case all:
		delete(h.done, event) // its place in order is passed over later
		return
	case !known:
		h.order = append(h.order, event)
	}
	h.done[event] = done
	for len(h.order) > maxHalfDone {
		delete(h.done, h.order[0])
		h.order = h.order[1:]
	}
}
