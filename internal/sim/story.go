package main

import (
	"bufio"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/traintravel/traintravel/internal/sim/world"
)

var (
	// shortID is the end of an ID with the word before it, and longID an ID as reports of
	// Check have it.
	shortID = regexp.MustCompile(`(?:([a-z]+) )?\b([0-9a-f]{6})\b`)
	longID  = regexp.MustCompile(`[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{6}([0-9a-f]{6})`)
	// numbered begins a line about an operation.
	numbered = regexp.MustCompile(`^(\d+)\. `)
	// always are lines that matter, whatever they are about.
	always = regexp.MustCompile(` dies | starts, |lost; written|the faults end|imports |the operator (cancels|puts|blocks|unblocks|erases) | clock .* jumps|pauses`)
	// run is a train on a date.
	run = regexp.MustCompile(`([A-Z] \d+)(?: [A-Z]-[A-Z])? on (\d{4}-\d\d-\d\d)`)
	// written is a line of the trace that the story is told without.
	written = regexp.MustCompile(` writes \d+ [0-9a-f]+$`)
)

// idsOf are the ends of the IDs of bookings, payments and the like in a text. Trips are left
// out: many bookings have one.
func idsOf(text string) (ids []string) {
	for _, m := range shortID.FindAllStringSubmatch(text, -1) {
		if m[1] != "trip" {
			ids = append(ids, m[2])
		}
	}
	for _, m := range longID.FindAllStringSubmatch(text, -1) {
		ids = append(ids, m[1])
	}
	return ids
}

// runsOf are the trains with their dates in a text.
func runsOf(text string) (runs []string) {
	for _, m := range run.FindAllStringSubmatch(text, -1) {
		runs = append(runs, m[1]+" "+m[2])
	}
	return runs
}

// about returns the lines that are about what the failure names: its bookings, with their
// payments and charges. If it names none, they are those of the bookings on its trains.
func about(story []world.Line, failure string) []world.Line {
	known, runs := map[string]bool{}, runsOf(failure)
	for _, id := range idsOf(failure) {
		known[id] = true
	}
	of := make([][]string, len(story))
	for i, l := range story {
		of[i] = idsOf(l.Text)
		if len(runs) > 0 && slices.ContainsFunc(runsOf(l.Text), func(r string) bool { return slices.Contains(runs, r) }) {
			of[i] = append(of[i], "of the runs")
		}
	}
	if len(known) == 0 {
		known["of the runs"] = true
	}
	is := func(id string) bool { return known[id] }
	for grown := true; grown; {
		before := len(known)
		for _, ids := range of {
			if slices.ContainsFunc(ids, is) {
				for _, id := range ids {
					known[id] = known[id] || id != "of the runs"
				}
			}
		}
		grown = len(known) > before
	}
	var lines []world.Line
	for i, l := range story {
		if slices.ContainsFunc(of[i], is) {
			lines = append(lines, l)
		}
	}
	return lines
}

// matters is about with the lines that can matter to any failure, such as deaths.
func matters(story []world.Line, failure string) []world.Line {
	relevant := map[world.Line]bool{}
	for _, l := range about(story, failure) {
		relevant[l] = true
	}
	return slices.DeleteFunc(slices.Clone(story), func(l world.Line) bool { return !relevant[l] && !always.MatchString(l.Text) })
}

// short is the story of a history that was made as short as can be: each operation in it is
// needed, and of the other lines those that are about something else are left out.
func short(story []world.Line, failure string) []world.Line {
	relevant := map[world.Line]bool{}
	for _, l := range matters(story, failure) {
		relevant[l] = true
	}
	return slices.DeleteFunc(slices.Clone(story), func(l world.Line) bool {
		return !relevant[l] && !numbered.MatchString(l.Text) && len(idsOf(l.Text)) > 0
	})
}

// operationsOf are the numbers of the operations that lines are about.
func operationsOf(lines []world.Line) (ns []int) {
	for _, l := range lines {
		if m := numbered.FindStringSubmatch(l.Text); m != nil {
			if n, err := strconv.Atoi(m[1]); err == nil {
				ns = append(ns, n)
			}
		}
	}
	slices.Sort(ns)
	return slices.Compact(ns)
}

// storyOf reads the story from a trace.
func storyOf(trace io.Reader) (lines []world.Line, err error) {
	s := bufio.NewScanner(trace)
	s.Buffer(nil, 1<<24)
	for s.Scan() {
		if l, ok := lineOf(s.Text()); ok && !written.MatchString(l.Text) {
			lines = append(lines, l)
		}
	}
	return lines, s.Err()
}

// lineOf reads a line of a trace.
func lineOf(text string) (world.Line, bool) {
	at, rest, ok := strings.Cut(text, " ")
	n, err := strconv.ParseInt(at, 10, 64)
	return world.Line{At: time.Duration(n), Text: rest}, ok && err == nil
}
