package published

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"regexp"
	"strings"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// Handler returns an API of the service that takes and shows the published IDs. The
// caller of a request is who next takes it to be from; false means that it is from nobody.
func (e *Examples) Handler(next http.Handler, caller func(*http.Request) (traintravel.Caller, bool)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		collection, id, more := split(r.URL.Path)
		switch by, known := caller(r); {
		case collection == "bookings" && id == booking && known:
			e.answerBooking(w, r, more, next, by)
		case collection == "trips":
			if own, ok := e.ownID(id); ok {
				r = at(r, "trips", own, more)
			}
			e.answer(w, r, next).send()
		case collection == "bookings" && r.Method == http.MethodPost:
			e.answer(w, withBody(r, e.read(r)), next).send()
		case collection == "bookings" || collection == "tickets":
			e.answer(w, r, next).send()
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// split takes a path apart: a collection, an ID in it or the zero one, and what follows.
func split(path string) (collection string, id uuid.UUID, more string) {
	collection, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	text := rest
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		text, more = rest[:i], rest[i:]
	}
	if id, err := uuid.Parse(text); err == nil && len(text) == len(id.String()) { // other forms are not for links
		return collection, id, more
	}
	return collection, uuid.Nil, more
}

// answerBooking answers what concerns a user's published booking. If that is paid, and to
// be paid by a request that does not say that it may be a repetition, it is held anew first.
func (e *Examples) answerBooking(w http.ResponseWriter, r *http.Request, more string, next http.Handler, by traintravel.Caller) {
	id, err := e.booking(r.Context(), by)
	if err != nil { // then there is none: the API says so
		e.answer(w, r, next).send()
		return
	}
	text, before := e.read(r), w.Header().Clone()
	a := e.answer(w, withBody(at(r, "bookings", id, more), text), next)
	if a.status == http.StatusConflict && bytes.Contains(a.body.Bytes(), []byte("/problems/already-paid")) && r.Header.Get("Idempotency-Key") == "" {
		if id, err := e.another(r.Context(), by, id); err == nil {
			clear(w.Header())
			maps.Copy(w.Header(), before)
			a = e.answer(w, withBody(at(r, "bookings", id, more), text), next)
		}
	}
	a.send()
}

// at is the request for something else of the service's.
func at(r *http.Request, collection string, id uuid.UUID, more string) *http.Request {
	moved, u := *r, *r.URL
	u.Path, u.RawPath = "/"+collection+"/"+id.String()+more, ""
	moved.URL = &u
	return &moved
}

// maxBody is more than a body may have that the API reads.
const maxBody = 64<<10 + 1

// A text is what was read of a body, and what comes after that.
type text struct {
	start []byte
	rest  io.Reader
}

// read reads a body as far as the API does, with the service's IDs in place of those of
// the published trips. It has the same length then.
func (e *Examples) read(r *http.Request) text {
	start, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return text{start, failing{err}}
	}
	return text{swap(start, e.ownID), r.Body}
}

// withBody is a request with a body that was read.
func withBody(r *http.Request, t text) *http.Request {
	changed := *r
	changed.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(t.start), t.rest), r.Body}
	return &changed
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

var anyID = regexp.MustCompile(`\b[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}\b`)

// swap puts others in place of the IDs in a text that it knows.
func swap(text []byte, other func(uuid.UUID) (uuid.UUID, bool)) []byte {
	return anyID.ReplaceAllFunc(text, func(found []byte) []byte {
		if id, err := uuid.ParseBytes(found); err == nil {
			if id, ok := other(id); ok {
				return []byte(id.String())
			}
		}
		return found
	})
}

// answer asks the API.
func (e *Examples) answer(w http.ResponseWriter, r *http.Request, next http.Handler) *answer {
	a := &answer{ResponseWriter: w, examples: e}
	next.ServeHTTP(a, r)
	return a
}

// An answer waits until all of it is there, and shows the published IDs when it is sent.
type answer struct {
	http.ResponseWriter
	examples *Examples
	status   int
	body     bytes.Buffer
}

func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(b)
}

// Unwrap is for [http.ResponseController].
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// send sends the answer to the client. A text has the same length with other IDs. What is
// not a text, such as the PDF of a ticket, stays as it was made.
func (a *answer) send() {
	h := a.Header()
	content := a.body.Bytes()
	if kind := h.Get("Content-Type"); strings.Contains(kind, "json") || strings.Contains(kind, "xml") || strings.HasPrefix(kind, "text/") {
		content = swap(content, a.examples.shownID)
	}
	if at, err := http.ParseTime(h.Get("Sunset")); err == nil {
		h.Set("Sunset", at.Add(a.examples.Ahead).UTC().Format(http.TimeFormat))
	}
	if a.status != 0 {
		a.ResponseWriter.WriteHeader(a.status)
	}
	if len(content) > 0 {
		_, _ = a.ResponseWriter.Write(content)
	}
}
