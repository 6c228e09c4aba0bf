package httpserver_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/httpserver"
)

// A benchPost is a service that posts to subscribers, each of whom is a user of his own
// with a receiver of his own, and those receivers.
type benchPost struct {
	*world
	b       *testing.B
	port    string
	trips   []uuid.UUID
	users   []traintravel.Caller
	next    atomic.Int64
	hanging atomic.Pointer[string] // the host of a receiver that does not answer

	mu      sync.Mutex
	booked  map[string]time.Time // by ID of the booking, since when its event has been there
	arrived map[string]time.Time
	body    []byte // one that was posted
	all     chan struct{}
	want    int
}

// host is where a user receives: the loopback network has many addresses, so that each
// has connections of his own.
func (p *benchPost) host(user int) string {
	return netip.AddrFrom4([4]byte{127, 1, byte(user >> 8), byte(user)}).String() + ":" + p.port
}

func newBenchPost(b *testing.B, users int) *benchPost {
	b.Helper()
	sender, err := httpserver.NewWebhookSender(httpserver.WebhookSenderOptions{BaseURL: base, AllowPrivate: true})
	if err != nil {
		b.Fatal(err)
	}
	l, err := net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		b.Fatal(err)
	}
	p := &benchPost{b: b, booked: map[string]time.Time{}, arrived: map[string]time.Time{}}
	p.world, _ = benchWorld(b, func(w *world) {
		w.service_.Webhooks = &traintravel.WebhookOptions{Sender: sender, SealKey: make([]byte, 32)}
	})
	if _, p.port, err = net.SplitHostPort(l.Addr().String()); err != nil {
		b.Fatal(err)
	}
	s := &http.Server{Handler: p}
	go func() { _ = s.Serve(l) }()
	b.Cleanup(func() { _ = s.Close() })
	p.trips = p.spread(200)
	for user := range users {
		by := traintravel.Caller{Subject: traintravel.Subject{Issuer: base, ID: fmt.Sprint("user ", user)}, Client: "bench"}
		p.users = append(p.users, by)
		if _, _, err := p.service.Subscribe(b.Context(), by, traintravel.NewSubscription{URL: "http://" + p.host(user) + "/"}); err != nil {
			b.Fatal(err)
		}
	}
	return p
}

// ServeHTTP receives.
func (p *benchPost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || len(body) < 43 {
		return
	}
	if h := p.hanging.Load(); h != nil && *h == r.Host {
		<-r.Context().Done()
		return
	}
	p.mu.Lock()
	p.arrived[string(body[7:43])] = time.Now() // it begins with {"id":"
	p.body = body
	if len(p.arrived) == p.want {
		close(p.all)
	}
	p.mu.Unlock()
}

func (p *benchPost) book(user int) {
	id := p.bookFor(user)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.booked[id] = time.Now()
}

func (p *benchPost) bookFor(user int) string {
	trip := p.trips[p.next.Add(1)%int64(len(p.trips))]
	made, err := p.service.CreateBooking(p.b.Context(), p.users[user], traintravel.NewBooking{TripID: trip, PassengerName: "Anna Example"})
	if err != nil {
		p.b.Error(err)
	}
	return made.ID.String()
}

// await forgets what came, and returns a channel that is closed when so much has come.
func (p *benchPost) await(n int) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.booked)
	clear(p.arrived)
	p.all, p.want = make(chan struct{}), n
	return p.all
}

// run runs the service until the function returned is called.
func (p *benchPost) run() (stop func()) {
	ctx, cancel := context.WithCancel(p.b.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = p.service.Run(ctx) })
	return func() { cancel(); running.Wait() }
}

// Events that wait for 64 receivers, one of each user's, from a bolt file to the
// receiver, beside a bare client that posts the same bodies on as many connections.
func BenchmarkWebhooks(b *testing.B) {
	const each = 200
	p := newBenchPost(b, benchConns)
	ours := func(b *testing.B, _ time.Duration) float64 {
		all := p.await(benchConns * each)
		var booking sync.WaitGroup
		for user := range benchConns {
			booking.Go(func() {
				for range each {
					p.book(user)
				}
			})
		}
		booking.Wait()
		begun := time.Now()
		stop := p.run()
		<-all
		took := time.Since(begun)
		time.Sleep(100 * time.Millisecond) // what is left to record is not posted again
		stop()
		return benchConns * each / took.Seconds()
	}
	ours(b, 0) // there is a body to post
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: benchConns}}
	bare := concurrently(func(conn int) error {
		resp, err := client.Post("http://"+p.host(conn)+"/", "application/json", bytes.NewReader(p.body))
		if err != nil {
			return err
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		return resp.Body.Close()
	})
	body := p.body
	compare(b, [2]string{"bare", "posted"}, [2]load{func(b *testing.B, d time.Duration) float64 {
		p.await(0)
		p.body = body
		return bare(b, d)
	}, ours})
}

// The time from a booking to its event's arrival with 1,000 receivers, beside the same
// with one more that does not answer and one that cannot be reached, who get an event
// with every fifth booking of the others.
func BenchmarkWebhooksIsolated(b *testing.B) {
	const users, rounds, pace = 1000, 5, 3 * time.Millisecond
	all := [2]*benchPost{newBenchPost(b, users+2), newBenchPost(b, users+2)}
	bad := all[1]
	hanging := bad.host(users)
	bad.hanging.Store(&hanging)
	closed, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	_ = closed.Close()
	url := "http://" + closed.Addr().String() + "/"
	subs, err := bad.service.Subscriptions(b.Context(), bad.users[users+1], traintravel.Page{})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := bad.service.ChangeSubscription(b.Context(), bad.users[users+1], subs.Items[0].ID, traintravel.SubscriptionChange{URL: &url}); err != nil {
		b.Fatal(err)
	}
	var took [2][]time.Duration
	round := func(p *benchPost) (took []time.Duration) {
		stop := p.run()
		defer stop()
		p.await(-1)
		for user := range users {
			p.book(user)
			if user%5 == 0 {
				p.bookFor(users)
				p.bookFor(users + 1)
			}
			time.Sleep(pace)
		}
		time.Sleep(time.Second)
		p.mu.Lock()
		defer p.mu.Unlock()
		for id, at := range p.booked {
			came, ok := p.arrived[id]
			if !ok {
				b.Error("an event did not arrive within a second")
			}
			took = append(took, max(0, came.Sub(at)))
		}
		return took
	}
	for b.Loop() {
		for range rounds {
			for i, p := range all {
				took[i] = append(took[i], round(p)...)
			}
		}
	}
	var p99 [2]time.Duration
	for i := range took {
		slices.Sort(took[i])
		p99[i] = took[i][len(took[i])*99/100]
	}
	b.ReportMetric(float64(p99[0].Microseconds()), "alone-p99-µs")
	b.ReportMetric(float64(p99[1].Microseconds()), "beside-p99-µs")
	b.ReportMetric(float64(p99[1])/float64(p99[0]), "ratio")
	b.ReportMetric(0, "ns/op")
}
