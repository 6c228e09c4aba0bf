package httpserver_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/julienschmidt/httprouter"
	"github.com/lestrrat-go/jwx/v2/jwa"
	"github.com/lestrrat-go/jwx/v2/jwk"
	"github.com/lestrrat-go/jwx/v2/jws"
	"github.com/lestrrat-go/jwx/v2/jwt"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/httpserver"
	"github.com/traintravel/traintravel/store/boltstore"
)

// The benchmarks compare the server with a ceiling in the same run, over real
// loopback connections that are kept alive: rounds of both take turns, and the
// medians are what counts. The client shares the machine, so it does little.

const (
	benchConns  = 64
	benchRounds = 5
	benchRound  = time.Second
)

// A load works for a while with all connections and returns how many requests
// a second were answered.
type load func(b *testing.B, d time.Duration) float64

// compare reports the medians of two loads, and how the second is to the first.
func compare(b *testing.B, names [2]string, loads [2]load) {
	b.Helper()
	for _, l := range loads {
		l(b, benchRound/4)
	}
	var rates [2][]float64
	for b.Loop() {
		for range benchRounds {
			for i, l := range loads {
				rates[i] = append(rates[i], l(b, benchRound))
			}
		}
	}
	var medians [2]float64
	for i := range rates {
		slices.Sort(rates[i])
		medians[i] = rates[i][len(rates[i])/2]
		b.ReportMetric(medians[i], names[i]+"/s")
	}
	b.ReportMetric(medians[1]/medians[0], "ratio")
	b.ReportMetric(0, "ns/op")
}

// concurrently makes a load of one step that is repeated on each connection.
func concurrently(step func(conn int) error) load {
	return func(b *testing.B, d time.Duration) float64 {
		var done atomic.Int64
		var wg sync.WaitGroup
		begun := time.Now()
		for conn := range benchConns {
			wg.Go(func() {
				n := int64(0)
				for time.Since(begun) < d {
					if err := step(conn); err != nil {
						b.Error(err)
						return
					}
					n++
				}
				done.Add(n)
			})
		}
		wg.Wait()
		return float64(done.Load()) / time.Since(begun).Seconds()
	}
}

// A wire is a connection that knows just enough HTTP.
type wire struct {
	conn net.Conn
	in   *bufio.Reader
}

// wires serves a handler on a loopback listener and connects to it.
func wires(b *testing.B, h http.Handler) []*wire {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	s := &http.Server{Handler: h}
	go func() { _ = s.Serve(l) }()
	b.Cleanup(func() { _ = s.Close() })
	var all []*wire
	for range benchConns {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = c.Close() })
		all = append(all, &wire{c, bufio.NewReaderSize(c, 4096)})
	}
	return all
}

// do sends a request and returns the status and the length of the answer's body.
func (w *wire) do(request []byte) (status, length int, err error) {
	if _, err := w.conn.Write(request); err != nil {
		return 0, 0, err
	}
	for first := true; ; first = false {
		line, err := w.in.ReadSlice('\n')
		if err != nil {
			return 0, 0, err
		}
		switch {
		case first:
			status, _ = strconv.Atoi(string(line[9:12]))
		case len(line) == 2:
			_, err := w.in.Discard(length)
			return status, length, err
		case bytes.HasPrefix(line, []byte("Content-Length: ")):
			length, _ = strconv.Atoi(string(line[16 : len(line)-2]))
		}
	}
}

// over makes a load of requests that must be answered with a status.
func over(all []*wire, status int, request func() []byte) load {
	return concurrently(func(conn int) error {
		got, _, err := all[conn].do(request())
		if err == nil && got != status {
			err = fmt.Errorf("status %d, want %d", got, status)
		}
		return err
	})
}

// benchWorld is a server on a bolt file with a clock that runs, and a verifier
// with a real token.
func benchWorld(b *testing.B, options ...func(*world)) (*world, string) {
	b.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	private, err := jwk.FromRaw(key)
	if err != nil {
		b.Fatal(err)
	}
	for name, value := range map[string]any{jwk.KeyIDKey: "bench", jwk.AlgorithmKey: jwa.ES256, jwk.KeyUsageKey: "sig"} {
		if err := private.Set(name, value); err != nil {
			b.Fatal(err)
		}
	}
	public, err := private.PublicKey()
	if err != nil {
		b.Fatal(err)
	}
	text, err := json.Marshal(map[string]any{"keys": []any{public}})
	if err != nil {
		b.Fatal(err)
	}
	keys, err := httpserver.ParseKeySet(text)
	if err != nil {
		b.Fatal(err)
	}
	verifier, err := httpserver.NewVerifier(httpserver.VerifierOptions{Issuer: base, Audience: base, Keys: httpserver.StaticKeys(keys)})
	if err != nil {
		b.Fatal(err)
	}
	now := time.Now()
	claims, err := jwt.NewBuilder().Issuer(base).Audience([]string{base}).Subject("anna").IssuedAt(now).Expiration(now.Add(time.Hour)).
		JwtID(uuid.NewString()).Claim("client_id", "bench").Claim("scope", "read write").Build()
	if err != nil {
		b.Fatal(err)
	}
	headers := jws.NewHeaders()
	if err := headers.Set(jws.TypeKey, "at+jwt"); err != nil {
		b.Fatal(err)
	}
	token, err := jwt.Sign(claims, jwt.WithKey(jwa.ES256, private, jws.WithProtectedHeaders(headers)))
	if err != nil {
		b.Fatal(err)
	}
	store, err := boltstore.Open(filepath.Join(b.TempDir(), "bench.db"), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = store.Close() })
	w := newWorld(b, func(w *world) {
		w.store = store
		w.service_.Now = func() time.Time { return morning.Add(time.Since(now)) }
		w.service_.Holds = traintravel.HoldLimits{User: -1, Train: -1} // one user books all
		w.options.Auth = verifier
		w.options.RateLimit = 1_000_000_000
		w.options.Logger = slog.New(slog.DiscardHandler)
		for _, f := range options {
			f(w)
		}
	})
	return w, string(token)
}

// spread returns the IDs of trips on many days, so that no train fills up.
func (w *world) spread(days int) []uuid.UUID {
	w.t.Helper()
	var ids []uuid.UUID
	for day := range days {
		for _, pair := range [][2]string{{berlin, paris}, {paris, berlin}} {
			found, err := w.service.SearchTrips(context.Background(), traintravel.TripQuery{
				Origin: uuid.MustParse(pair[0]), Destination: uuid.MustParse(pair[1]), Depart: morning.AddDate(0, 0, 1+day),
			})
			if err != nil {
				w.t.Fatal(err)
			}
			for _, t := range found.Items {
				ids = append(ids, t.ID)
			}
		}
	}
	return ids
}

// GET /bookings/{bookingId} with a verified token, beside a bare httprouter
// handler that writes as many bytes.
func BenchmarkReadBooking(b *testing.B) {
	w, token := benchWorld(b)
	anna := traintravel.Caller{Subject: traintravel.Subject{Issuer: base, ID: "anna"}, Client: "bench"}
	booking, err := w.service.CreateBooking(b.Context(), anna, traintravel.NewBooking{TripID: w.spread(1)[0], PassengerName: "Anna Example"})
	if err != nil {
		b.Fatal(err)
	}
	request := []byte("GET /bookings/" + booking.ID.String() + " HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json\r\nAuthorization: Bearer " + token + "\r\n\r\n")
	ours := wires(b, w.server)
	status, length, err := ours[0].do(request)
	if err != nil || status != 200 {
		b.Fatal(status, err)
	}
	fixed := bytes.Repeat([]byte("x"), length)
	router := httprouter.New()
	router.GET("/bookings/:bookingId", func(w http.ResponseWriter, _ *http.Request, _ httprouter.Params) { _, _ = w.Write(fixed) })
	send := func() []byte { return request }
	compare(b, [2]string{"bare", "server"}, [2]load{over(wires(b, router), 200, send), over(ours, 200, send)})
}

// POST /bookings, beside CreateBooking on the library, on files of their own.
func BenchmarkCreateBooking(b *testing.B) {
	library, _ := benchWorld(b)
	w, token := benchWorld(b)
	trips := w.spread(200)
	var next atomic.Int64
	trip := func() uuid.UUID { return trips[next.Add(1)%int64(len(trips))] }
	anna := traintravel.Caller{Subject: traintravel.Subject{Issuer: base, ID: "anna"}, Client: "bench"}
	direct := concurrently(func(int) error {
		_, err := library.service.CreateBooking(context.Background(), anna, traintravel.NewBooking{TripID: trip(), PassengerName: "Anna Example"})
		return err
	})
	request := func() []byte {
		text := newBooking(trip().String())
		return []byte("POST /bookings HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAuthorization: Bearer " + token +
			"\r\nContent-Length: " + strconv.Itoa(len(text)) + "\r\n\r\n" + text)
	}
	compare(b, [2]string{"library", "server"}, [2]load{direct, over(wires(b, w.server), 201, request)})
}

// GET /stations among 3,000 of them, beside a bare httprouter handler that
// writes the same bytes.
func BenchmarkStations(b *testing.B) {
	w, token := benchWorld(b)
	tt := *w.timetable
	tt.Stations = slices.Clone(tt.Stations)
	for i := 0; len(tt.Stations) < 3000; i++ {
		st := tt.Stations[i%len(w.timetable.Stations)]
		st.ID = uuid.NewSHA1(uuid.Nil, []byte(strconv.Itoa(i)))
		st.Name += " " + strconv.Itoa(i)
		st.Latitude += float64(i%101-50) / 25
		st.Longitude += float64(i%97-48) / 20
		tt.Stations = append(tt.Stations, st)
	}
	if _, err := w.service.LoadTimetable(b.Context(), &tt); err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct{ name, query string }{
		{"all", ""}, {"hundred", "?limit=100"}, {"search", "?search=haupt"}, {"words", "?search=berlin+hbf"}, {"country", "?country=at"},
		{"coordinates", "?coordinates=52.5,13.4"}, {"everything", "?search=b&country=de&coordinates=52.5,13.4&limit=100"},
	} {
		b.Run(c.name, func(b *testing.B) { besideBare(b, w, token, "/stations"+c.query) })
	}
}

// BenchmarkTrips searches a day between two stations of the demo network, direct
// and with changes.
func BenchmarkTrips(b *testing.B) {
	w, token := benchWorld(b)
	for _, c := range []struct{ name, query string }{{"direct", "&direct=true"}, {"changes", ""}} {
		b.Run(c.name, func(b *testing.B) { besideBare(b, w, token, search+c.query) })
	}
}

// besideBare compares the rate of a GET with that of a bare handler that writes
// as many bytes.
func besideBare(b *testing.B, w *world, token, target string) {
	request := []byte("GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json\r\nAuthorization: Bearer " + token + "\r\n\r\n")
	ours := wires(b, w.server)
	status, length, err := ours[0].do(request)
	if err != nil || status != 200 {
		b.Fatal(status, err)
	}
	fixed := bytes.Repeat([]byte("x"), length)
	router := httprouter.New()
	path, _, _ := strings.Cut(target, "?")
	router.GET(path, func(w http.ResponseWriter, _ *http.Request, _ httprouter.Params) {
		w.Header().Set("Content-Length", strconv.Itoa(length))
		_, _ = w.Write(fixed)
	})
	send := func() []byte { return request }
	compare(b, [2]string{"bare", "server"}, [2]load{over(wires(b, router), 200, send), over(ours, 200, send)})
	b.ReportMetric(float64(length), "bytes")
}
