package httpserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// RemoteOptions configures [RemoteKeys]. Issuer is required.
type RemoteOptions struct {
	// Issuer is the URL of an authorization server: https, or http if its host
	// is loopback. Its metadata (RFC 8414, or OpenID discovery) must name this
	// issuer byte for byte.
	Issuer string

	// Client sends the requests to the issuer. Nil is a client that uses no proxy and keeps no
	// connections. Redirects are never followed.
	Client *http.Client

	// Limit is how long keys are used while the issuer cannot be reached; after that no tokens
	// can be verified. Zero is one hour; the minimum is five minutes.
	Limit time.Duration

	// Logger receives errors when keys cannot be fetched, and keys that cannot be used. Nil logs
	// nothing.
	Logger *slog.Logger

	// Fetched is called after each request for the issuer's keys, with nil if it succeeded. Nil
	// is not called.
	Fetched func(error)

	// Now is real time. Nil is time.Now.
	Now func() time.Time
}

// How old keys may get, and how often an issuer is asked.
const (
	keysFresh   = 2 * time.Minute                // nobody asks
	keysCurrent = 4*time.Minute + 30*time.Second // asked meanwhile; after that requests wait for the answer
	askTimeout  = 10 * time.Second               // for all that one question takes
	askAgain    = 10 * time.Second               // after an answer, at the earliest
	retryFirst  = time.Second                    // after a failure, and doubled with each
	retryLast   = 30 * time.Second
	rediscover  = time.Hour // metadata is read again

	mostStrangers = 64 // tokens of unknown keys that wait for an answer
)

// RemoteKeys returns a source that fetches the keys of a remote issuer. It does so when a
// request needs them: in the background once they are two minutes old; before the request
// continues when they are nearly five minutes old; and, at most every ten seconds, when a token
// names an unknown key. While the issuer cannot be reached, the last keys are used until
// RemoteOptions.Limit.
//
// It fetches on a separate goroutine, which ends within ten seconds.
func RemoteKeys(o RemoteOptions) (KeySource, error) {
	if err := checkIssuerURL(o.Issuer); err != nil {
		return nil, err
	}
	if o.Limit == 0 {
		o.Limit = time.Hour
	}
	if o.Limit < 5*time.Minute {
		return nil, fmt.Errorf("Limit is %v: want at least five minutes", o.Limit)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &remoteKeys{opts: o, issuer: &issuerClient{issuer: o.Issuer, http: askingClient(o.Client)}}, nil
}

type remoteKeys struct {
	opts      RemoteOptions
	issuer    *issuerClient // of the one question at a time
	last      atomic.Pointer[fetchedKeys]
	strangers atomic.Int64 // tokens of keys that are not known which wait for the issuer

	mu       sync.Mutex
	question *question // that is being asked, or nil
	asked    time.Time // when the last one was answered, or failed
	failures int       // since the last answer
	why      error     // of the last failure
}

// fetchedKeys are keys and when the issuer was asked for them.
type fetchedKeys struct {
	set  *KeySet
	text []byte
	at   time.Time
}

// A question to the issuer. Its error may be read when done is closed.
type question struct {
	done chan struct{}
	err  error
}

// Keys returns the issuer's keys: see [KeySource].
func (r *remoteKeys) Keys(ctx context.Context, refresh bool) (*KeySet, error) {
	now := r.opts.Now()
	have := r.last.Load()
	if !refresh && have != nil && now.Sub(have.at) < keysFresh {
		return have.set, nil
	}
	q, failing := r.ask(now)
	usable := have != nil && now.Sub(have.at) < r.opts.Limit
	if usable && !refresh && (failing || q == nil || now.Sub(have.at) < keysCurrent) {
		return have.set, nil // the fetch in progress is for later tokens
	}
	if q == nil { // too early to fetch again
		if refresh && usable && !failing {
			return have.set, nil
		}
		return nil, r.failed()
	}
	if refresh { // bound the tokens that wait, as anybody can forge tokens with unknown keys
		if r.strangers.Add(1) > mostStrangers {
			r.strangers.Add(-1)
			return nil, fmt.Errorf("%w: too many tokens with unknown keys wait for %s", ErrUnavailable, r.opts.Issuer)
		}
		defer r.strangers.Add(-1)
	}
	select {
	case <-q.done:
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, ctx.Err())
	}
	if q.err == nil {
		return r.last.Load().set, nil
	}
	if usable && !refresh {
		return have.set, nil
	}
	return nil, r.failed()
}

// failed returns the error of the last fetch.
func (r *remoteKeys) failed() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return fmt.Errorf("%w: the keys of %s: %w", ErrUnavailable, r.opts.Issuer, r.why)
}

// ask starts a fetch unless one is in progress or ended lately; in the latter case q is nil.
// It also says whether the last fetch failed.
func (r *remoteKeys) ask(now time.Time) (q *question, failing bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	failing = r.failures > 0
	if r.question != nil {
		return r.question, failing
	}
	wait := askAgain
	if failing {
		wait = min(retryFirst<<min(r.failures-1, 10), retryLast)
	}
	if since := now.Sub(r.asked); !r.asked.IsZero() && since >= 0 && since < wait {
		return nil, failing
	}
	r.question = &question{done: make(chan struct{})}
	go r.answer(r.question)
	return r.question, failing
}

// answer fetches the keys, and wakes all who wait.
func (r *remoteKeys) answer(q *question) {
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	at := r.opts.Now() // keys are as old as the question
	set, err := r.fetch(ctx, at)
	if r.opts.Fetched != nil {
		r.opts.Fetched(err)
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	r.question, r.asked, q.err = nil, r.opts.Now(), err
	if err != nil {
		r.failures++
		r.why = err
		r.opts.Logger.Warn("fetching the keys of the token issuer failed; will retry", "issuer", r.opts.Issuer, "error", err)
	} else {
		r.failures, r.why = 0, nil
		r.last.Store(set)
	}
	close(q.done)
}

// fetch reads the issuer's keys. It returns the previous set if its text has not changed.
func (r *remoteKeys) fetch(ctx context.Context, at time.Time) (_ *fetchedKeys, err error) {
	defer func() { // no input of an issuer may end the process
		if p := recover(); p != nil {
			err = errors.New("reading the keys panicked")
			r.opts.Logger.Error("reading the keys of the token issuer panicked", "issuer", r.opts.Issuer, "panic", p)
		}
	}()
	text, err := r.issuer.keys(ctx, at)
	if err != nil {
		return nil, err
	}
	if last := r.last.Load(); last != nil && bytes.Equal(last.text, text) {
		return &fetchedKeys{set: last.set, text: text, at: at}, nil
	}
	set, err := ParseKeySet(text)
	if err != nil {
		return nil, err
	}
	for _, why := range set.skipped {
		r.opts.Logger.Warn("a key of the token issuer was skipped", "issuer", r.opts.Issuer, "why", why)
	}
	return &fetchedKeys{set: set, text: text, at: at}, nil
}
