package httpserver

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/fair"
)

// Beside returns a handler for other routes, such as those of an authorization server next to
// this one. It protects them against overload by single callers, like those of the API: the
// concurrent requests of an address are limited; a request is passed on when its body has
// arrived completely, which must be in time; and its response is sent when the handler has
// returned. The handler must call Admit before it works. Refused requests get a problem
// document. Responses are reported to Options.Answered and Options.AccessLog, like the
// Server's own, with route as their route. The handler must not flush or hijack, because its
// responses are buffered.
func (s *Server) Beside(route string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := &heldAnswer{header: w.Header(), who: s.house.address(s.client(r))}
		if s.watched() {
			begun, id := time.Now(), uuid.New()
			r = r.WithContext(context.WithValue(r.Context(), requestKey{}, id))
			r.Pattern = r.Method + " " + route
			defer func() {
				s.report(r.Context(), Answer{Request: id, Method: knownMethod(r.Method), Route: route,
					Status: a.status, Bytes: a.body.Len(), Took: time.Since(begun)})
			}()
		}
		if !s.house.open.Take(a.who, 1) {
			defer s.house.aside(r, a.who)()
			s.refuse(a, r, problemManyAtATime)
		} else {
			defer s.house.open.Give(a.who, 1)
			s.answerBeside(w, a, r, h)
		}
		if s.closes(r, a.who) {
			a.header["Connection"] = s.fixed.close
		}
		if a.body.Len() > 0 && r.ProtoMajor >= 2 { // as in exchange.write
			a.header["Content-Length"] = []string{strconv.Itoa(a.body.Len())}
		}
		w.WriteHeader(a.status)
		if r.Method != http.MethodHead {
			s.house.deliver(w, r, a.who, a.body.Bytes(), false)
		}
	})
}

// answerBeside has a handler make its answer when all of the request has come.
func (s *Server) answerBeside(w http.ResponseWriter, a *heldAnswer, r *http.Request, h http.Handler) {
	if r.Body != nil && r.Body != http.NoBody {
		size := int(r.ContentLength)
		if size < 0 || size > maxBody {
			size = maxBody
		}
		var in []byte
		err := s.house.receive(w, r, a.who, size, &in)
		switch _, tooLarge := errors.AsType[*http.MaxBytesError](err); {
		case errors.Is(err, os.ErrDeadlineExceeded):
			s.refuse(a, r, problemSlow)
			return
		case errors.Is(err, problemUnfinished):
			s.refuse(a, r, problemUnfinished)
			return
		case err == nil || tooLarge: // then what has come is more than the handler wants
			r.Body = http.NoBody
			if len(in) > 0 {
				r.Body = &receivedBody{*bytes.NewReader(in)}
			}
		default: // the handler finds out at its end
			r.Body = &receivedBody{*bytes.NewReader(in)}
		}
	}
	h.ServeHTTP(a, r)
	a.WriteHeader(http.StatusOK)
}

// A receivedBody is one that has come.
type receivedBody struct{ bytes.Reader }

// Close is for [http.Request.Body].
func (*receivedBody) Close() error { return nil }

// A heldAnswer is one that is not sent yet. Its header is that of the answer.
type heldAnswer struct {
	header http.Header
	status int
	body   bytes.Buffer
	who    fair.Caller
}

func (a *heldAnswer) Header() http.Header { return a.header }

func (a *heldAnswer) WriteHeader(status int) {
	if a.status == 0 && status >= 200 {
		a.status = status
	}
}

func (a *heldAnswer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(b)
}

// Admit waits until another handler, such as an authorization server next to this one, may
// process a request, in turn by the address that the request is from. It returns a function
// to call once when the response has been made, or nil if too many requests wait; then refuse
// the request with 503.
func (s *Server) Admit(r *http.Request) (done func()) {
	who := s.house.address(s.client(r))
	err := s.house.enter(r.Context(), signingIn, who, 1)
	if err == nil {
		return func() { s.house.leave(signingIn, who) }
	}
	if s.house.tell() {
		s.log.WarnContext(r.Context(), "request refused", "method", knownMethod(r.Method), "problem", problemOverloaded.slug)
	}
	return nil
}

// Address returns the client address of a request to another handler, for what that handler
// stores for each address: the client that a trusted proxy names, for IPv6 its /64 network.
func (s *Server) Address(r *http.Request) string { return fair.Customer(s.client(r)).String() }

// Refuse responds to a request to another handler, such as an authorization server next to
// this one, that matches none of its routes: with the problem 405 if the response header has
// Allow, and otherwise with 404. It does not count the request against a quota, and does not
// require a token.
func (s *Server) Refuse(w http.ResponseWriter, r *http.Request) {
	if w.Header()["Allow"] != nil {
		s.refuse(w, r, problemMethod)
		return
	}
	s.refuse(w, r, problemNoPath)
}

// refuse answers a request to another handler with what is wrong.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, why error) {
	s.answering(&route{scope: beside, cache: s.fixed.noStore, handle: func(*exchange) error { return why }})(w, r, nil)
}
