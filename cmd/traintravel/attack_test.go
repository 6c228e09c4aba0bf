package main

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/traintravel/traintravel/internal/need"
)

// attacksEnv says how long each attack goes on, if not for attackTime or a sample of it. In
// attacks of judgedTime or more, one after the other, what honest customers wait is judged;
// in shorter ones, at once, it is only told.
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

// TestAttacks attacks a server, as strangers, users and partners could, while honest customers
// search, book, pay and read their tickets. None of their requests is refused, the server stays
// within its memory, and afterwards it is as idle as before.
func TestAttacks(t *testing.T) {
	need.Short(t, "other processes")
	if runtime.GOOS != "linux" {
		t.Skip("each attacker needs a loopback address of its own, and only Linux has all of 127.0.0.0/8")
	}
	length, err := time.ParseDuration(cmp.Or(os.Getenv(attacksEnv), need.Sample(attackTime/4, attackTime).String()))
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
	start := v.server.processorTime()
	peace := v.customers(t.Context(), length)
	inPeace := v.server.processorTime() - start
	enemy := &attacker{Attack: a.name, Shop: v.place}
	for _, user := range a.users {
		enemy.Tokens = append(enemy.Tokens, v.token(user))
	}
	if a.ready != nil {
		a.ready(v, enemy)
	}
	start = v.server.processorTime()
	attackers := besiege(t, enemy)
	war := v.customers(t.Context(), length)
	inWar := v.server.processorTime() - start
	v.partner.answer()
	sent := attackers.end()
	if a.after != nil {
		a.after(v)
	}
	ratio := float64(war.p99()) / float64(max(peace.p99(), time.Millisecond))
	memory := v.peak()
	t.Logf("%s: 99th percentile %v in peace, %v under attack (%.1f times), %d requests; peak %d MiB; the server used %v of a processor in peace and %v under attack; the attacker: %s", a.name, peace.p99(), war.p99(), ratio, len(war.took), memory>>10, inPeace, inWar, sent)
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
