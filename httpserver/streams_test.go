package httpserver_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/traintravel/traintravel/httpserver"
)

// Streams are those of an HTTP/2 connection whose client reads no body before it is told to.
type streams struct {
	t *testing.T
	*http2.Framer
	text bytes.Buffer
	enc  *hpack.Encoder
	dec  *hpack.Decoder
	last uint32
}

// dial2 begins HTTP/2 with a handler.
func dial2(t *testing.T, h http.Handler) *streams {
	t.Helper()
	host := httptest.NewUnstartedServer(h)
	host.Config.Protocols = new(http.Protocols)
	host.Config.Protocols.SetUnencryptedHTTP2(true)
	host.Start()
	t.Cleanup(host.Close)
	conn, err := net.Dial("tcp", host.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	s := &streams{t: t, Framer: http2.NewFramer(conn, conn), dec: hpack.NewDecoder(4096, nil)}
	s.enc = hpack.NewEncoder(&s.text)
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	if err := s.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}); err != nil {
		t.Fatal(err)
	}
	return s
}

// next reads frames up to the one that tells of the stream: its header, its end, or that
// it is reset.
func (s *streams) next(id uint32) http2.Frame {
	s.t.Helper()
	for {
		frame, err := s.ReadFrame()
		if err != nil {
			s.t.Fatal(err)
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				err = s.WriteSettingsAck()
			}
		case *http2.HeadersFrame, *http2.RSTStreamFrame:
			if frame.Header().StreamID == id {
				return frame
			}
		case *http2.DataFrame:
			if frame.Header().StreamID == id && frame.StreamEnded() {
				return frame
			}
		}
		if err != nil {
			s.t.Fatal(err)
		}
	}
}

// get asks for a path, and returns the stream and the status; "reset" if it is reset.
func (s *streams) get(path string) (id uint32, status string) {
	s.t.Helper()
	s.text.Reset()
	for _, f := range [][2]string{{":method", "GET"}, {":scheme", "http"}, {":authority", "x"}, {":path", path}} {
		if err := s.enc.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]}); err != nil {
			s.t.Fatal(err)
		}
	}
	id = 2*s.last + 1
	s.last++
	if err := s.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: s.text.Bytes(), EndStream: true, EndHeaders: true}); err != nil {
		s.t.Fatal(err)
	}
	headers, ok := s.next(id).(*http2.HeadersFrame)
	if !ok {
		return id, "reset"
	}
	fields, err := s.dec.DecodeFull(headers.HeaderBlockFragment())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, f := range fields {
		if f.Name == ":status" {
			status = f.Value
		}
	}
	return id, status
}

// read takes the body of a stream.
func (s *streams) read(id uint32) {
	s.t.Helper()
	if err := s.WriteWindowUpdate(id, 1<<16); err != nil {
		s.t.Fatal(err)
	}
	if _, ok := s.next(id).(*http2.DataFrame); !ok {
		s.t.Fatal("the body does not come to its end")
	}
}

// Over HTTP/2 a request is open until its client has had the answer, as small as it may
// be: a client that reads none has only so many streams that take memory.
func TestStreamsThatAreNotReadAreBounded(t *testing.T) {
	t.Parallel()
	answered := make(chan httpserver.Answer, 1000)
	w := newWorld(t, func(w *world) {
		w.options.MaxRequests, w.options.RateLimit = 4, -1
		w.options.Answered = func(_ context.Context, a httpserver.Answer) { answered <- a }
	})
	beside := w.server.Beside("/oauth/*", http.HandlerFunc(w.server.Refuse))
	for name, c := range map[string]struct {
		http.Handler
		path, status string
	}{
		"the API":     {w.server, "/stations", "401"},
		"no resource": {w.server, "/nothing", "404"},
		"a document":  {w.server, "/problems/sold-out", "200"},
		"beside":      {beside, "/oauth/nothing", "404"},
	} {
		s := dial2(t, c.Handler)
		var open []uint32
		for range 4 {
			id, status := s.get(c.path)
			if open = append(open, id); status != c.status {
				t.Errorf("%s: a stream is answered %s, want %s", name, status, c.status)
			}
		}
		for range 2 {
			id, status := s.get(c.path)
			if open = append(open, id); status != "429" {
				t.Errorf("%s: beyond four streams that are not read one is answered %s, want 429", name, status)
			}
		}
		for _, id := range open {
			s.read(id)
		}
		id, status := s.get(c.path)
		if s.read(id); status != c.status {
			t.Errorf("%s: when all are read a stream is answered %s, want %s", name, status, c.status)
		}
	}
	s := dial2(t, w.server)
	var open []uint32
	for n := range 129 {
		id, status := s.get("/healthz")
		if open = append(open, id); status != "200" && n < 128 || status != "reset" && n == 128 {
			t.Fatalf("of the health checks that are not read number %d is answered %s", n+1, status)
		}
	}
	for n := range 5 {
		if _, status := s.get("/nothing"); status != "404" && n < 4 || status != "reset" && n == 4 {
			t.Errorf("then of other requests number %d is answered %s", n+1, status)
		}
	}
	s.read(open[0])
	if _, status := s.get("/nothing"); status != "429" {
		t.Errorf("when one is read a refusal is %s, want 429", status)
	}
	var cut httpserver.Answer
	for cut.Route != "/healthz" || cut.Status == 200 {
		cut = <-answered
	}
	if got := fmt.Sprint(cut.Status, cut.Bytes); got != "0 0" {
		t.Errorf("a stream that was reset is told of as status and bytes %s, want 0 0", got)
	}
}
