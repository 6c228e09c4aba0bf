package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/traintravel/traintravel/internal/need"
)

// killRoundsEnv says how often to kill a server, if not killRounds times.
const (
	killRoundsEnv = "TRAINTRAVEL_KILL_ROUNDS"
	killRounds    = 6
)

// The load: so many users at once, of whom each has at most so many bookings,
// on a train of so many seats that runs on so many days.
const (
	killUsers    = 6
	killBookings = 6
	killSeats    = 9
	killDays     = 3
)

// killsHere returns how often to kill. It skips the test where that is not possible.
func killsHere(t *testing.T) int {
	t.Helper()
	need.Short(t, "processes that are killed")
	if runtime.GOOS == "windows" {
		t.Skip("the test stops servers with SIGTERM, which Windows does not have")
	}
	rounds, err := strconv.Atoi(cmp.Or(os.Getenv(killRoundsEnv), fmt.Sprint(killRounds)))
	if err != nil {
		t.Fatalf("%s: %v", killRoundsEnv, err)
	}
	return rounds
}

// TestKilled kills a server while people book, pay and cancel over HTTP, and then the next one
// on the same file, repeatedly. Everything acknowledged is true, and visible only to its owner.
// All subscribers get their events at least once, and can recognise repeated ones.
func TestKilled(t *testing.T) {
	rounds := killsHere(t)
	t.Parallel()
	o := newOffice(t)
	for round := range rounds {
		if round%3 == 2 { // one that dies while it starts
			p := o.spawn()
			time.Sleep(rand.N(60 * time.Millisecond))
			p.kill()
		}
		o.open()
		o.look()
		o.hearing.subscribe(o.users[round%killUsers], round)
		o.kill(round)
	}
	o.open()
	o.look()
	o.hearing.end()
	o.close()
	o.audit()
	t.Logf("%d rounds: %v", rounds, o.count)
	for _, what := range []string{"booked", "paid", "cancelled", "unanswered"} {
		if o.count[what] == 0 {
			t.Errorf("nothing was %s: the load is too light", what)
		}
	}
}

// An office is what outlives the server: its file, and its customers, who know
// what they were answered.
type office struct {
	*testing.T
	dir   string
	feeds []string // of the timetable
	args  []string // more of them for the server
	users []*customer
	trips []ride

	server *process
	client *http.Client
	killed atomic.Bool // the server is, or is about to be

	hearing *hearing
	moment  atomic.Int32  // at which to kill the server
	now     chan struct{} // is told that it has come

	mu    sync.Mutex
	count map[string]int
}

// The moments, by rounds: any, between a commit and what is sent of it, and between
// that and what is recorded of the answer.
const (
	whenever = iota
	whenBooked
	whenPosted
	moments
)

// at says whether it is the moment to kill the server.
func (o *office) at(moment int32) bool {
	if moment == whenever || !o.moment.CompareAndSwap(moment, whenever) {
		return false
	}
	o.now <- struct{}{}
	return true
}

// A ride is what is sold.
type ride struct {
	ID       string
	Price    json.Number
	Currency string
	Seats    int `json:"seats_available"`
}

// newOffice sells a small train, and whatever more feeds there are.
func newOffice(t *testing.T, feeds ...string) *office {
	t.Helper()
	o := &office{T: t, dir: t.TempDir(), feeds: append(feeds, "small="+writeFeed(t, "1")), count: map[string]int{}, now: make(chan struct{}, 1)}
	o.hear()
	o.load()
	for i := range killUsers {
		o.users = append(o.users, &customer{office: o, name: fmt.Sprintf("user-%d", i), tickets: map[string]*purchase{}, asked: map[string]bool{}})
	}
	o.open()
	defer o.server.kill()
	o.hearing.begin()
	anna := o.users[0]
	var from, to page[struct{ ID string }]
	anna.read("/stations?search=Aberg", &from)
	anna.read("/stations?search=Bdorf", &to)
	for day := range killDays {
		date := time.Now().AddDate(0, 0, 3+day).Format(time.DateOnly)
		var found page[ride]
		anna.read(fmt.Sprintf("/trips?origin=%s&destination=%s&date=%s", from.Data[0].ID, to.Data[0].ID, date), &found)
		if len(found.Data) != 1 || found.Data[0].Seats != killSeats {
			t.Fatalf("trips on %s: %v", date, found)
		}
		o.trips = append(o.trips, found.Data[0])
	}
	return o
}

func (o *office) data() string { return filepath.Join(o.dir, "trains.db") }

// load imports the timetable.
func (o *office) load() {
	args := append([]string{"import", "--data", o.data(), "--coaches", fmt.Sprintf("1:4 2:%d", killSeats-4)}, o.feeds...)
	if code, _, stderr := once(o.T, nil, args...); code != 0 {
		o.Errorf("import: %d, %s", code, stderr)
	}
}

func (o *office) spawn() *process {
	args := append([]string{"serve", "--data", o.data(), "--base-url", shownBase, "--rate-limit", "0", "--user-holds", "0", "--train-holds", "0", "--hold", "24h"}, o.hearing.flags()...)
	return spawn(o, o.dir, append(args, o.args...)...)
}

// open starts a server, for which everybody has a token.
func (o *office) open() {
	o.server = o.spawn().listen()
	o.client = &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 2 * killUsers}}
	o.killed.Store(false)
	for _, u := range o.users {
		u.token = issue(o, u.name, o.data())
	}
}

// kill has everybody at work, and kills the server in the middle of it.
func (o *office) kill(round int) {
	ctx, stop := context.WithCancel(o.Context())
	defer stop()
	var all sync.WaitGroup
	before := o.counted()
	for _, u := range o.users {
		all.Go(func() { u.work(ctx, round) })
	}
	const enough = 30 // so much is to be done before the kill
	for at := time.Now().Add(100*time.Millisecond + rand.N(300*time.Millisecond)); time.Now().Before(at) || o.counted() < before+enough; {
		time.Sleep(time.Millisecond)
		if o.Failed() {
			break
		}
	}
	if moment := int32(round % moments); moment != whenever {
		o.moment.Store(moment)
		select {
		case <-o.now:
		case <-time.After(time.Minute):
			o.Errorf("moment %d does not come", moment)
		}
	}
	o.killed.Store(true)
	o.server.kill()
	stop()
	all.Wait()
	o.client.CloseIdleConnections()
	o.complaints()
}

// close stops the server as an operator does.
func (o *office) close() {
	o.client.CloseIdleConnections()
	if err := o.server.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		o.Fatal(err)
	}
	<-o.server.ended
	if state := o.server.cmd.ProcessState; !state.Success() {
		o.Errorf("stopped, the server ends with %v", state)
	}
	o.complaints()
}

// complaints are what the server must not say.
func (o *office) complaints() {
	said := o.server.stderr.String()
	for line := range strings.Lines(said) {
		if strings.Contains(line, "level=ERROR") || strings.Contains(line, "DATA RACE") || strings.Contains(line, "panic") {
			o.Errorf("the server says: %s", line)
		}
	}
	if o.Failed() {
		o.Fatalf("all that it says:\n%s", said)
	}
}

func (o *office) counts(what string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.count[what]++
}

// counted is how much was done.
func (o *office) counted() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.count["booked"] + o.count["paid"] + o.count["cancelled"]
}
