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
	always = regexp.MustCompile(` dies | starts, |lost; written|the faults end|imports |cancels run|restores run|blocks |pauses`)
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

// about returns the lines that are about what the failure names: its bookings, and their
// payments and charges.
func about(story []world.Line, failure string) []world.Line {
	known := map[string]bool{}
	for _, id := range idsOf(failure) {
		known[id] = true
	}
	of := make([][]string, len(story))
	for i, l := range story {
		of[i] = idsOf(l.Text)
	}
	is := func(id string) bool { return known[id] }
	for grown := true; grown; {
		before := len(known)
		for _, ids := range of {
			if slices.ContainsFunc(ids, is) {
				for _, id := range ids {
					known[id] = true
				}
			}
		}
		grown = len(known) > before
	}
	var lines []world.Line
	for i, l := range story {
		if slices.ContainsFunc(of[i], is) || always.MatchString(l.Text) {
			lines = append(lines, l)
		}
	}
	return lines
}

// short is the story of a history that was made as short as can be: each operation in it is
// needed, and of the other lines those that are about something else are left out.
func short(story []world.Line, failure string) []world.Line {
	relevant := map[world.Line]bool{}
	for _, l := range about(story, failure) {
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
