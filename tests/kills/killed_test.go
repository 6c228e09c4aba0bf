package kills_test

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel/internal/audittest"
	"github.com/traintravel/traintravel/internal/need"
	"github.com/traintravel/traintravel/internal/officetest"
)

// killRoundsEnv says how often to kill a process, if not killRounds times.
const (
	killRoundsEnv = "TRAINTRAVEL_KILL_ROUNDS"
	killRounds    = 8
)

// TestKilled kills a process that sells, takes money and tells of it, at any
// moment, and then the next one on the same files, again and again. Whatever
// it has acknowledged is so, nothing is there twice, and once the last one may
// end its work in peace, money, places and events agree.
func TestKilled(t *testing.T) {
	if text := os.Getenv(killedEnv); text != "" {
		untilKilled(t, text)
		return
	}
	if runtime.GOOS == "windows" {
		t.Skip("the test has never been run on Windows")
	}
	need.Short(t, "other processes")
	t.Parallel()
	rounds, err := strconv.Atoi(cmp.Or(os.Getenv(killRoundsEnv), fmt.Sprint(killRounds)))
	if err != nil {
		t.Fatalf("%s: %v", killRoundsEnv, err)
	}
	w := &witness{
		T: t, dir: t.TempDir(), clock: officetest.Opens,
		trips: map[string]uuid.UUID{}, booked: map[request]uuid.UUID{}, expired: map[uuid.UUID]bool{}, count: map[string]int{},
	}
	for round := range rounds {
		w.kill(round)
		w.look(fmt.Sprintf("after kill %d", round+1))
		w.arrive()
		if rand.N(2) == 0 {
			w.clock = w.clock.Add(2 * time.Minute) // until somebody starts the next one
		}
	}
	w.rest()
	w.look("in the end")
	w.settled()
	t.Logf("%d rounds: %v", rounds, w.count)
	for _, what := range []string{"booked", "paid", "cancelled", "expired", "confirmed", "in flight", "refunded"} {
		if w.count[what] == 0 {
			t.Errorf("none of all bookings was %s: the load is too light", what)
		}
	}
}

// A witness knows what the killed processes have said, and compares it with
// what they have left.
type witness struct {
	*testing.T
	dir   string
	clock time.Time // of the service

	said    []note
	asked   [killUsers][]request // what each user wanted last
	booked  map[request]uuid.UUID
	trips   map[string]uuid.UUID
	books   audittest.Books    // as they were after the last kill
	expired map[uuid.UUID]bool // bookings that were found so

	bank, mail []note
	count      map[string]int
}

func (w *witness) path(file string) string { return filepath.Join(w.dir, file) }

// kill starts a process, hears what it says, and kills it at a random moment.
func (w *witness) kill(round int) {
	began := time.Now()
	do := orders{Dir: w.dir, Round: round, Ahead: w.clock.Sub(began)}
	for _, all := range w.asked {
		for _, q := range all {
			if q.Round >= round-2 {
				do.Again = append(do.Again, q)
			}
		}
	}
	text, err := json.Marshal(do)
	if err != nil {
		w.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		w.Fatal(err)
	}
	cmd := exec.CommandContext(w.Context(), exe, "-test.run=^TestKilled$", "-test.count=1", "-test.v=false")
	cmd.Env = append(os.Environ(), killedEnv+"="+string(text))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		w.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		w.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	const early = 4 // of so many rounds the first is killed while it starts
	death := doom{kill: cmd.Process.Kill, enough: 100}
	var output strings.Builder // whatever else it says
	lines := bufio.NewScanner(stdout)
	for lines.Scan() { // to the end: what it said before the kill counts
		var n note
		if err := json.Unmarshal(lines.Bytes(), &n); err != nil {
			fmt.Fprintln(&output, lines.Text())
			continue
		}
		switch {
		case n.What == "begins" && round%early == 0:
			death.enough = 0
			death.after(rand.N(60 * time.Millisecond))
		case n.What == "ready" && round%early != 0:
			death.after(300*time.Millisecond + rand.N(300*time.Millisecond))
		}
		death.hear(n)
		w.hear(n)
	}
	_ = cmd.Wait()
	w.clock = w.clock.Add(time.Since(began))
	if !death.came() || strings.Contains(stderr.String(), "DATA RACE") || strings.Contains(stderr.String(), "could not be") {
		w.Fatalf("round %d: the process to be killed ended by itself, or with complaints:\n%s\n%s", round, output.String(), stderr.String())
	}
}

// A doom kills when the time has come and enough was done.
type doom struct {
	kill   func() error
	enough int

	mu   sync.Mutex
	done int
	dead bool
}

func (d *doom) hear(n note) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n.What == "booked" || n.What == "paid" || n.What == "cancelled" {
		d.done++
	}
}

func (d *doom) after(wait time.Duration) {
	time.AfterFunc(wait, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.done < d.enough {
			d.after(time.Millisecond)
			return
		}
		d.dead = d.kill() == nil
	})
}

func (d *doom) came() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dead
}

// hear takes down what the process has said.
func (w *witness) hear(n note) {
	q := n.Request
	switch n.What {
	case "broken":
		w.Errorf("the process says: %s", n.Name)
	case "trip":
		if was, ok := w.trips[n.Name]; ok && was != n.ID {
			w.Errorf("the trip %s has the ID %v, which was %v", n.Name, n.ID, was)
		}
		w.trips[n.Name] = n.ID
	case "asking":
		all := &w.asked[q.User]
		*all = append(*all, q)
		*all = (*all)[max(0, len(*all)-3):]
	case "booked":
		if was, ok := w.booked[q]; ok && was != n.Booking {
			w.Errorf("%s was answered with booking %v and now with %v", q.key(), was, n.Booking)
		}
		w.booked[q] = n.Booking
		w.said = append(w.said, n)
		w.count["booked"]++
	case "paid", "cancelled", "lapsed":
		w.said = append(w.said, n)
		w.count[n.What]++
	}
}
