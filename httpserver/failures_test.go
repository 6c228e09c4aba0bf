package httpserver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/httpserver"
	"github.com/traintravel/traintravel/store/memstore"
)

// A failingStore fails, or panics, when it is told to.
type failingStore struct {
	traintravel.Store
	fail func() error
}

func (s *failingStore) err() error {
	if s.fail == nil {
		return nil
	}
	return s.fail()
}

func (s *failingStore) Get(ctx context.Context, keys ...traintravel.Key) ([][]byte, error) {
	if err := s.err(); err != nil {
		return nil, err
	}
	return s.Store.Get(ctx, keys...)
}

func (s *failingStore) View(ctx context.Context, fn func(traintravel.Reader) error) error {
	if err := s.err(); err != nil {
		return err
	}
	return s.Store.View(ctx, fn)
}

func (s *failingStore) Update(ctx context.Context, fn func(traintravel.Tx) error) error {
	if err := s.err(); err != nil {
		return err
	}
	return s.Store.Update(ctx, fn)
}

// newFailingWorld is a world whose store fails when it is told to.
func newFailingWorld(t *testing.T) (*world, *failingStore) {
	store := &failingStore{}
	return newWorld(t, func(w *world) {
		store.Store = w.store
		w.store = store
	}), store
}

// Internal errors are logged under the instance that the client gets, and shown to nobody else.
func TestFailures(t *testing.T) {
	t.Parallel()
	w, store := newFailingWorld(t)
	b := w.book()
	path := "/bookings/" + b.ID
	pay := payment("113.58", goodCard)
	for name, fail := range map[string]func() error{
		"error": func() error { return errors.New("secret: disk /dev/x is full") },
		"panic": func() error { panic("secret: a fault of the store's") },
		"nil":   func() error { var s *failingStore; return s.fail() },
	} {
		store.fail = fail
		for _, ask := range []func() answer{
			func() answer { return w.get(path) },
			func() answer { return w.get("/bookings") },
			func() answer { return w.get(path + "/payment") },
			func() answer { return w.get(path + "/payments") },
			func() answer { return w.post("/bookings", newBooking(b.TripID)) },
			func() answer { return w.post(path+"/payment", pay) },
			func() answer { return w.do("DELETE", path, as("anna-w")) },
		} {
			p := ask().problem(500, "internal-error")
			if all := p.Title + p.Detail; strings.Contains(all, "secret") || strings.Contains(all, "goroutine") || len(p.Errors) > 0 {
				t.Errorf("%s: the problem tells too much: %+v", name, p)
			}
			log, id := w.log.String(), strings.TrimPrefix(p.Instance, "urn:uuid:")
			_, line, _ := strings.Cut(log, id)
			line, _, _ = strings.Cut(line, "\n")
			if name != "nil" && !strings.Contains(line, "secret: ") {
				t.Errorf("%s: the log says of %s: %s", name, id, line)
			}
		}
	}
	if log := w.log.String(); strings.Contains(log, "424242") || strings.Contains(log, "Anna") || !strings.Contains(log, "failures_test.go") {
		t.Errorf("the log holds a passenger or a card, or no place of the panic: %s", log)
	}
	store.fail = nil
	w.get(path).want(200)
}

// A store that cannot write at the moment, or for what its operator has to mend,
// is a service that is not available. What may have been written is not to be tried again blindly.
func TestStoreUnavailable(t *testing.T) {
	t.Parallel()
	w, store := newFailingWorld(t)
	b := w.book()
	for _, why := range []error{traintravel.ErrUnavailable, syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EROFS, syscall.EIO} {
		err := fmt.Errorf("commit: %w", &fs.PathError{Op: "write", Path: "secret.db", Err: why})
		store.fail = func() error { return err }
		a := w.post("/bookings", newBooking(b.TripID))
		p := a.problem(503, "unavailable")
		if a.header.Get("Retry-After") == "" {
			t.Error("there is no Retry-After")
		}
		if strings.Contains(p.Detail, "secret") {
			t.Errorf("the problem tells too much: %s", p.Detail)
		}
		w.do("DELETE", "/bookings/"+b.ID, as("anna-w")).problem(503, "unavailable")
		store.fail = func() error { return fmt.Errorf("%w: %w", traintravel.ErrUnknownOutcome, err) }
		w.post("/bookings", newBooking(b.TripID)).problem(500, "internal-error")
	}
	if log := w.log.String(); !strings.Contains(log, "secret.db") {
		t.Errorf("the log does not say why: %s", log)
	}
}

// A store whose data has moved away, or is not all there yet, is not available.
func TestClosedStore(t *testing.T) {
	t.Parallel()
	w, store := newFailingWorld(t)
	b := w.book()
	half := memstore.New()
	ctx, stop := context.WithCancel(t.Context())
	if err := traintravel.Copy(ctx, half, store.Store, traintravel.CopyOptions{Progress: func(int64, int64) { stop() }}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	whole := store.Store
	if err := traintravel.Copy(t.Context(), memstore.New(), whole, traintravel.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	for why, s := range map[error]traintravel.Store{traintravel.ErrMoved: whole, traintravel.ErrCopying: half} {
		store.Store = s
		a := w.post("/bookings", newBooking(b.TripID))
		if a.problem(503, "unavailable"); a.header.Get("Retry-After") == "" {
			t.Errorf("%v: there is no Retry-After", why)
		}
		if !strings.Contains(w.log.String(), why.Error()) {
			t.Errorf("the log does not say %q: %s", why, w.log)
		}
	}
}

// A request that its client has given up is not a failure of the server's.
func TestClientGone(t *testing.T) {
	t.Parallel()
	var told []string
	store := &failingStore{}
	w := newWorld(t, func(w *world) {
		store.Store, w.store = w.store, store
		w.options.Answered = func(_ context.Context, a httpserver.Answer) { told = append(told, fmt.Sprint(a.Status, a.Problem)) }
	})
	store.fail = func() error { return context.Canceled }
	gone := func(r *http.Request) {
		ctx, stop := context.WithCancel(r.Context())
		stop()
		*r = *r.WithContext(ctx)
	}
	w.do("GET", "/bookings", as("anna-r"), gone).problem(503, "unavailable")
	w.get("/bookings").problem(500, "internal-error")
	if log := w.log.String(); strings.Count(log, "level=ERROR") != 1 || strings.Contains(log, "level=WARN") {
		t.Errorf("the log: %s", log)
	}
	if want := []string{"0", "500internal-error"}; !slices.Equal(told, want) {
		t.Errorf("the host is told of %q, want %q", told, want)
	}
	unread := func(r *http.Request) { r.Body, r.ContentLength = io.NopCloser(brokenReader{}), -1 }
	w.do("POST", "/bookings", as("anna-w"), body(""), unread).problem(400, "invalid-request")
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// An abort that the host asks for passes through.
func TestAbort(t *testing.T) {
	t.Parallel()
	w, store := newFailingWorld(t)
	store.fail = func() error { panic(http.ErrAbortHandler) }
	defer func() {
		if v := recover(); v != http.ErrAbortHandler {
			t.Errorf("recovered %v", v)
		}
	}()
	w.get("/bookings")
	t.Error("the abort was swallowed")
}

// A server lives under somebody else's mux, starts nothing, and needs no logger.
func TestMounted(t *testing.T) {
	// Not parallel: it counts goroutines.
	w := newWorld(t)
	before := runtime.NumGoroutine()
	quiet, err := httpserver.New(w.service, httpserver.Options{Auth: tokens{}, BaseURL: base})
	if err != nil {
		t.Fatal(err)
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("New started %d goroutines", n-before)
	}
	mux := http.NewServeMux()
	mux.Handle("/api/", http.StripPrefix("/api", quiet))
	host := httptest.NewServer(mux)
	defer host.Close()
	for target, status := range map[string]int{"/api/stations?limit=1": 200, "/api/nothing": 404, "/stations": 404} {
		req, err := http.NewRequest("GET", host.URL+target, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer anna-rw")
		resp, err := host.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != status {
			t.Errorf("%s: %d %v", target, resp.StatusCode, err)
		}
		if target == "/api/stations?limit=1" && !strings.Contains(string(text), `"links":{"self":"`+base+`/stations?limit=1"`) {
			t.Errorf("links below a mux: %s", text)
		}
	}
}
