package main

import (
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/traintravel/traintravel/internal/sim/world"
)

func TestFlags(t *testing.T) {
	s, err := parse(strings.Fields("-seeds 3:5 -days 365 -speed mixed -faults -death,-skew -users 2 -services 1 -store bolt -until 9 -quiet -shrink 0"), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	want := plan{Seed: 3, Days: 365, Speed: "mixed", Faults: "-death,-skew", Users: 2, Services: 1, Store: "bolt", Until: 9}
	if len(s.plans) != 3 || !reflect.DeepEqual(s.plans[0], want) || s.plans[2].Seed != 5 || !s.quiet || s.shrink != 0 || s.parallel < 1 {
		t.Errorf("parse returns %+v", s)
	}
	// The flags that repeat a plan make it again.
	again, err := parse(want.flags(), io.Discard)
	if err != nil || !reflect.DeepEqual(again.plans, s.plans[:1]) || again.shrink != time.Minute {
		t.Errorf("%v makes %+v, %v", want.flags(), again.plans, err)
	}
}

func TestWrongFlags(t *testing.T) {
	for args, want := range map[string]string{
		"-seeds 5:3":                    "the last is before the first",
		"-seeds 5":                      "two numbers",
		"-seeds a:b":                    "two numbers",
		"-seeds 1:18446744073709551615": "more than",
		"-seed -1":                      "invalid value",
		"-days 0":                       "-days is 0",
		"-days 4001":                    "1 to 4000",
		"-users 0":                      "-users is 0",
		"-services -1":                  "-services is -1",
		"-until -1":                     "-until is -1",
		"-store disk":                   "want mem or bolt",
		"-faults deth":                  "unknown class",
		"-mask nofile":                  "nofile",
		"-mask {\"onyl\":[1]}":          "not a mask",
		"-seed 1 -seeds 1:2":            "only one of",
		"-kept -days 3":                 "-days does not go with -kept",
		"-seeds 1:2 -story":             "-story is for one",
		"-coverage":                     "give -seeds",
		"-parallel 0":                   "-parallel is 0",
		"-shrink -1s":                   "-shrink is -1s",
		"-limit -1s":                    "-limit is -1s",
		"7":                             "unexpected argument",
		"-nonsense":                     "not defined",
	} {
		_, err := parse(strings.Fields(args), io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
		var errs strings.Builder
		if code := command(t.Context(), strings.Fields(args), io.Discard, &errs); code != misused || !strings.HasPrefix(errs.String(), "sim: ") {
			t.Errorf("%s: exit %d, %s", args, code, errs.String())
		}
	}
	if _, err := parse([]string{"-help"}, io.Discard); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-help: %v", err)
	}
}

func TestMask(t *testing.T) {
	strike := world.Strike{Class: world.Death, Place: "server 1|operation 7|update", K: 3}
	m := mask{Only: []int{3, 5}, Skip: []int{5}, Strikes: []world.Strike{strike}}
	file := filepath.Join(t.TempDir(), "mask.json")
	if err := os.WriteFile(file, []byte(m.json()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{m.json(), file} {
		var read mask
		if err := read.parse(text); err != nil || !reflect.DeepEqual(read, m) {
			t.Errorf("%s is read as %+v, %v", text, read, err)
		}
	}
	h := m.of(0)
	if h.Until != 5 || !h.Skip[1] || !h.Skip[2] || h.Skip[3] || !h.Skip[4] || !h.Skip[5] || !h.Strikes[strike] {
		t.Errorf("the mask of a history is %+v", h)
	}
	if h := (mask{Only: []int{}}).of(0); h.Until != 1 || !h.Skip[1] {
		t.Errorf("a mask of no operation is %+v", h)
	}
	if h := (mask{}).of(0); h.Until != 0 || len(h.Skip) > 0 {
		t.Errorf("a mask of all operations is %+v", h)
	}
	if !(mask{}).empty() || (mask{Only: []int{}}).empty() {
		t.Error("whether a mask is empty")
	}
}

func TestKeptSeeds(t *testing.T) {
	if plans, err := keptSeeds(keptFile); err != nil || len(plans) == 0 {
		t.Errorf("the seeds that are kept: %v, %v", plans, err)
	}
	plans, err := keptSeeds("# seeds\n\n-seed 3 -days 2 # why\n")
	if err != nil || len(plans) != 1 || plans[0].Seed != 3 || plans[0].Days != 2 || plans[0].Store != "mem" {
		t.Errorf("kept seeds: %+v, %v", plans, err)
	}
	for text, want := range map[string]string{
		"\n-seed 3":             "line 2: say after # why",
		"-seed x # why":         "line 1: invalid value",
		"-seed 3 more # why":    "unexpected \"more\"",
		"-seed 3 -days 0 # why": "-days is 0",
		"-seeds 1:3 # why":      "not defined",
	} {
		if _, err := keptSeeds(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func line(at time.Duration, text string) world.Line { return world.Line{At: at, Text: text} }

// The story of a failure has the lines of its bookings, their payments and charges, and deaths.
func TestStory(t *testing.T) {
	all := []world.Line{
		line(1, "1. server 1.1: user1 asks for a booking of R 1, trip 00000a: booking aaaaaa, held"),
		line(2, "2. server 1.1: user2 asks for a booking of R 1, trip 00000a: booking bbbbbb, held"),
		line(3, "the bank gets charge cccccc of booking aaaaaa, 1000 eur: succeeded"),
		line(4, "server 1.1 dies before it calls get"),
		line(5, "4. server 1.2: does what is due"),
		line(6, "the bank refunds 1000 eur of charge cccccc"),
		line(7, "notifier receives newBooking of booking bbbbbb"),
	}
	failure := "booking 01234567-89ab-7def-8123-456789aaaaaa is over, and the bank has 1000"
	got := about(all, failure)
	if want := []world.Line{all[0], all[2], all[5]}; !reflect.DeepEqual(got, want) {
		t.Errorf("the lines about it are %v", got)
	}
	if got, want := matters(all, failure), []world.Line{all[0], all[2], all[3], all[5]}; !reflect.DeepEqual(got, want) {
		t.Errorf("the lines that matter are %v", got)
	}
	sold := append(all[:7:7], line(8, "8. server 1.2: user1 asks for a booking of R 2 D-F on 2000-01-03, trip 000000: no place is left"))
	if got := about(sold, "the trip of R 2 on 2000-01-03 was refused as sold out"); !reflect.DeepEqual(got, sold[7:]) {
		t.Errorf("the lines about a run are %v", got)
	}
	if ns := operationsOf(got); !reflect.DeepEqual(ns, []int{1}) {
		t.Errorf("the operations are %v", ns)
	}
	if got := short(all, failure); len(got) != len(all)-1 {
		t.Errorf("the short story is %v", got)
	}
	lines, err := storyOf(strings.NewReader("5 server 1.1 dies before it calls get\n7 server 1.1 writes 3 00ab\n9 1. server 1.1: reads\n"))
	if err != nil || len(lines) != 2 || lines[1].At != 9 || lines[1].Text != "1. server 1.1: reads" {
		t.Errorf("the story of a trace is %v, %v", lines, err)
	}
}

func TestFirstDifference(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	a := write("a", "1 one\n2000000000 two\n")
	for text, want := range map[string]string{
		"1 one\n2000000000 two\n": "",
		"1 one\n3000000000 two\n": "the journals differ from line 2 on:\n  both:   day 0 00:00:00.000000001  one\n  first:  day 0 00:00:02  two\n  second: day 0 00:00:03  two\n",
		"1 one\n":                 "second: the journal ends\n",
	} {
		got, err := firstDifference(a, write("b", text))
		if err != nil || want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q differs: %s, %v", text, got, err)
		}
	}
}

func TestScrub(t *testing.T) {
	if got := scrub("panic: at 0xc00012ab (0.25s)"); got != "panic: at 0x… " {
		t.Errorf("scrub leaves %q", got)
	}
	if got := firstCause("goroutine 1\npanic: runtime error\n", io.EOF); got != "panic: runtime error" {
		t.Errorf("the cause is %q", got)
	}
}
