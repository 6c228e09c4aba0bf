package gateway_test

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
)

// A proxy is what may lie between the two sides. It passes requests on, unless it
// has a fault for the next ones.
type proxy struct {
	to  http.Handler
	url string

	mu     sync.Mutex
	faults []fault
	rest   fault // of those for whom there is none; nil is pass
	seen   []*http.Request
	last   *httptest.ResponseRecorder // what was answered last by who is behind it
}

// A fault does something to a request. ask passes it on, once each time, and
// returns the answer.
type fault func(w http.ResponseWriter, r *http.Request, ask func() *httptest.ResponseRecorder)

// next has the next requests meet faults, one each.
func (p *proxy) next(faults ...fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = append(p.faults, faults...)
}

// always has all requests that have no fault of their own meet this one.
func (p *proxy) always(f fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rest = f
}

// asked is how many requests have come.
func (p *proxy) asked() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.seen)
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	f := fault(pass)
	p.mu.Lock()
	p.seen = append(p.seen, r)
	if p.rest != nil {
		f = p.rest
	}
	if len(p.faults) > 0 {
		f, p.faults = p.faults[0], p.faults[1:]
	}
	p.mu.Unlock()
	f(w, r, func() *httptest.ResponseRecorder {
		again := r.Clone(r.Context())
		again.Body = io.NopCloser(bytes.NewReader(body))
		rec := httptest.NewRecorder()
		p.to.ServeHTTP(rec, again)
		p.mu.Lock()
		p.last = rec
		p.mu.Unlock()
		return rec
	})
}

func send(w http.ResponseWriter, a *httptest.ResponseRecorder) {
	maps.Copy(w.Header(), a.Header())
	w.WriteHeader(a.Code)
	_, _ = w.Write(a.Body.Bytes())
}

func abort() { panic(http.ErrAbortHandler) }

func pass(w http.ResponseWriter, _ *http.Request, ask func() *httptest.ResponseRecorder) {
	send(w, ask())
}

// What breaks before the request has arrived.

func loseRequest(http.ResponseWriter, *http.Request, func() *httptest.ResponseRecorder) { abort() }

// page answers for who is behind, as proxies do.
func page(status int, mediaType, body string) fault {
	return func(w http.ResponseWriter, _ *http.Request, _ func() *httptest.ResponseRecorder) {
		w.Header().Set("Content-Type", mediaType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func redirect(w http.ResponseWriter, r *http.Request, _ func() *httptest.ResponseRecorder) {
	http.Redirect(w, r, "/elsewhere"+r.URL.Path, http.StatusTemporaryRedirect)
}

// What breaks after it has.

func loseAnswer(_ http.ResponseWriter, _ *http.Request, ask func() *httptest.ResponseRecorder) {
	ask()
	abort()
}

func cutAnswer(w http.ResponseWriter, _ *http.Request, ask func() *httptest.ResponseRecorder) {
	a := ask()
	maps.Copy(w.Header(), a.Header())
	w.WriteHeader(a.Code)
	_, _ = w.Write(a.Body.Bytes()[:a.Body.Len()/2])
	_ = http.NewResponseController(w).Flush()
	abort()
}

// delay answers when who asked has given up.
func delay(_ http.ResponseWriter, r *http.Request, ask func() *httptest.ResponseRecorder) {
	ask()
	<-r.Context().Done()
}

func twice(w http.ResponseWriter, _ *http.Request, ask func() *httptest.ResponseRecorder) {
	ask()
	send(w, ask())
}

func unsigned(w http.ResponseWriter, _ *http.Request, ask func() *httptest.ResponseRecorder) {
	a := ask()
	for _, name := range []string{"Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"} {
		a.Header().Del(name)
	}
	send(w, a)
}

// changed sends another answer than the one there was.
func changed(change func(a *httptest.ResponseRecorder)) fault {
	return func(w http.ResponseWriter, _ *http.Request, ask func() *httptest.ResponseRecorder) {
		a := ask()
		change(a)
		send(w, a)
	}
}

func status(code int) fault {
	return changed(func(a *httptest.ResponseRecorder) { a.Code = code })
}

// flip changes one bit of the body.
func flip(at int) fault {
	return changed(func(a *httptest.ResponseRecorder) { a.Body.Bytes()[at%a.Body.Len()] ^= 1 })
}

// replay answers with what was answered to another request.
func (p *proxy) replay(w http.ResponseWriter, _ *http.Request, ask func() *httptest.ResponseRecorder) {
	p.mu.Lock()
	earlier := p.last
	p.mu.Unlock()
	ask()
	send(w, earlier)
}
