package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// attacksEnv says how long each attack goes on, if not for attackTime. In attacks of
// judgedTime or more, one after the other, what honest customers wait is judged; in shorter
// ones, at once, it is only told.
const (
	attacksEnv = "TRAINTRAVEL_ATTACKS"
	attackTime = time.Second
	judgedTime = 5 * time.Second
)

// What honest customers may feel of an attack, and how much memory the server may have.
const (
	mostTimesIdle = 5         // the 99th percentile of a request, of that in peace
	mostMemory    = 400 << 10 // KiB
)

// An attack is what somebody does to a server, from addresses that begin as they are
// told, until ctx ends. It is bounded in what it sends.
type attack struct {
	name    string
	builtin bool // the sign-in is the server's own
	do      func(ctx context.Context, v *victim)
}

// A victim is a server at its default limits, in a process of its own, with what it needs
// of others.
type victim struct {
	t       *testing.T
	server  *process
	data    string
	partner *partner
	token   func(user string) string
	holding sync.Map // connections of attackers, by themselves
}

// TestAttacks plays what strangers, users and partners can do to a server while honest
// customers search, book, pay, read their tickets and look. None of their requests is
// refused, the server keeps within its memory, and afterwards it is as idle as before.
func TestAttacks(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("attackers need addresses of their own, which 127.0.0.0/8 has on Linux alone")
	}
	length, err := time.ParseDuration(cmp.Or(os.Getenv(attacksEnv), attackTime.String()))
	if err != nil {
		t.Fatalf("%s: %v", attacksEnv, err)
	}
	for _, a := range attacks() {
		t.Run(a.name, func(t *testing.T) {
			if length < judgedTime {
				t.Parallel()
			}
			a.play(t, length)
		})
	}
}

// play has honest customers at work in peace, and then under attack.
func (a attack) play(t *testing.T, length time.Duration) {
	v := newVictim(t, a.builtin)
	before := v.levels()
	peace := v.customers(t.Context(), length)
	ctx, stop := context.WithTimeout(t.Context(), length)
	defer stop()
	var attacking sync.WaitGroup
	attacking.Go(func() { a.do(ctx, v) })
	war := v.customers(ctx, length)
	stop()
	v.partner.answer()
	attacking.Wait()
	v.release()
	ratio := float64(war.p99()) / float64(max(peace.p99(), time.Millisecond))
	memory := v.peak()
	t.Logf("%s: 99th percentile %v in peace, %v under attack (%.1f times), %d requests; peak %d MiB", a.name, peace.p99(), war.p99(), ratio, len(war.took), memory>>10)
	for _, refusal := range append(peace.refused, war.refused...) {
		t.Errorf("%s: an honest customer was refused: %s", a.name, refusal)
	}
	if memory > mostMemory {
		t.Errorf("%s: the server had %d MiB, more than %d", a.name, memory>>10, mostMemory>>10)
	}
	if length >= judgedTime && ratio > mostTimesIdle {
		t.Errorf("%s: the 99th percentile is %.1f times that in peace, more than %d", a.name, ratio, mostTimesIdle)
	}
	v.settle(before)
}

// from is a client whose connections come from an address of its own.
func (v *victim) from(address string) *net.Dialer {
	return &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}, Timeout: 10 * time.Second}
}

// dial connects to the server from an address, until the attack is over.
func (v *victim) dial(ctx context.Context, address string) (net.Conn, error) {
	conn, err := v.from(address).DialContext(ctx, "tcp", strings.TrimPrefix(v.server.base, "http://"))
	if err == nil {
		v.holding.Store(conn, true)
	}
	return conn, err
}

// release ends the attackers' connections.
func (v *victim) release() {
	v.holding.Range(func(conn, _ any) bool {
		_ = conn.(net.Conn).Close()
		return true
	})
}

// client is one who asks from an address, with a token.
func (v *victim) client(address string) *http.Client {
	transport := &http.Transport{DialContext: v.from(address).DialContext, MaxIdleConnsPerHost: 64}
	v.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: time.Minute}
}

// levels are how busy the server is: goroutines, and requests in hand.
func (v *victim) levels() map[string]float64 {
	all := scrape(v.t, v.server.admin)
	busy := 0.0
	for name, n := range all {
		if strings.HasPrefix(name, "traintravel_http_work_busy") || strings.HasPrefix(name, "traintravel_http_work_waiting") {
			busy += n
		}
	}
	return map[string]float64{"goroutines": all["go_goroutines"], "requests": busy}
}

// settle waits until the server is as idle as before, but for connections of honest
// customers that are kept.
func (v *victim) settle(before map[string]float64) {
	v.t.Helper()
	var now map[string]float64
	for tries := 0; tries < 600; tries++ {
		if now = v.levels(); now["requests"] == 0 && now["goroutines"] < before["goroutines"]+200 {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	v.t.Errorf("a minute after the attack there is %v, and before it there was %v", now, before)
}

// peak is the most memory that the server's process had, in KiB.
func (v *victim) peak() int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", v.server.cmd.Process.Pid))
	if err != nil {
		v.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				v.t.Fatal(err)
			}
			return n
		}
	}
	v.t.Fatal("the system does not say how much memory a process had")
	return 0
}

// A day is what honest customers saw.
type day struct {
	mu      sync.Mutex
	took    []time.Duration
	refused []string
}

func (d *day) p99() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.took) == 0 {
		return 0
	}
	slices.Sort(d.took)
	return d.took[len(d.took)*99/100]
}

// honest are how many customers there are at a time, and pause how long each thinks
// between requests: they keep within their quotas.
const (
	honest = 8
	pause  = 20 * time.Millisecond
)

var customerNumber atomic.Int64

// customers are at work for so long, each a user of its own at an address of its own.
func (v *victim) customers(ctx context.Context, length time.Duration) *day {
	d := &day{}
	until := time.Now().Add(length)
	var all sync.WaitGroup
	for range honest {
		all.Go(func() {
			for time.Now().Before(until) && ctx.Err() == nil {
				n := customerNumber.Add(1)
				token := v.token(fmt.Sprintf("honest%d", n))
				client := v.client(fmt.Sprintf("127.1.%d.%d", n/250%250, 1+n%250))
				for journeys := 0; journeys < 50 && time.Now().Before(until) && ctx.Err() == nil; journeys++ {
					v.journey(d, client, token)
				}
			}
		})
	}
	all.Wait()
	return d
}

// bookOne books and pays for a trip that nobody else wants, and returns the booking's ID.
func (v *victim) bookOne(client *http.Client, token string) string {
	d := &day{}
	id := v.journey(d, client, token)
	for _, refusal := range d.refused {
		v.t.Error(refusal)
	}
	return id
}

// journey is a search, a booking, its payment and a look at it. It returns the booking's ID.
func (v *victim) journey(d *day, client *http.Client, token string) (id string) {
	when := time.Now().AddDate(0, 0, 2+int(customerNumber.Add(1)%200)).Format(time.DateOnly)
	found := v.ask(d, client, token, "GET", "/trips?origin="+berlin+"&destination="+paris+"&date="+when, "")
	trips, _ := found["data"].([]any)
	if len(trips) == 0 {
		return ""
	}
	trip := trips[0].(map[string]any)
	booked := v.ask(d, client, token, "POST", "/bookings", fmt.Sprintf(`{"trip_id": %q, "passenger_name": "John Doe"}`, trip["id"]))
	id, _ = booked["id"].(string)
	if id == "" {
		return ""
	}
	v.ask(d, client, token, "POST", "/bookings/"+id+"/payment", fmt.Sprintf(`{"amount": %v, "currency": %q, "source": {"object": "card", "name": "J. Doe", "number": "4242424242424242",
		"cvc": "123", "exp_month": 12, "exp_year": %d, "address_country": "gb"}}`, trip["price"], trip["currency"], time.Now().Year()+2))
	v.ask(d, client, token, "GET", "/bookings/"+id, "")
	return id
}

// ask makes a request of an honest customer, which is answered with success.
func (v *victim) ask(d *day, client *http.Client, token, method, path, body string) (answer map[string]any) {
	time.Sleep(pause)
	req, err := http.NewRequest(method, v.server.base+path, strings.NewReader(body))
	if err != nil {
		v.t.Error(err)
		return nil
	}
	req.Header.Set("Authorization", "Bearer "+token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	began, refused := time.Now(), ""
	resp, err := client.Do(req)
	if err == nil {
		var text []byte
		text, err = io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode >= 300 {
			refused = fmt.Sprintf("%s %s: %d %s", method, path, resp.StatusCode, text)
		} else if err == nil {
			err = json.Unmarshal(text, &answer)
		}
	}
	took := time.Since(began)
	if err != nil {
		refused = fmt.Sprintf("%s %s: %v", method, path, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.took = append(d.took, took)
	if refused != "" {
		d.refused = append(d.refused, refused)
	}
	return answer
}
