package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// twice runs a history twice, in two processes, and compares what they wrote in their
// journals. It reports the first line that differs.
func (r runner) twice(ctx context.Context, p plan, story bool) (*outcome, error) {
	var files [2]string
	var runs [2]*outcome
	for i := range runs {
		files[i] = filepath.Join(r.scratch, fmt.Sprintf("journal %d of %d", i, p.Seed))
		defer os.Remove(files[i])
		o, err := r.start(ctx, job{Plan: p, Story: story, Trace: files[i]})
		if err != nil {
			return nil, err
		}
		runs[i] = o
	}
	o := runs[0]
	o.cpu = (o.cpu + runs[1].cpu) / 2
	differ, err := firstDifference(files[0], files[1])
	if err != nil {
		return nil, err
	}
	if differ != "" || o.Hash != runs[1].Hash {
		o.differs, o.output = true, differ
	}
	return o, nil
}

// differenceAfter is how many lines before the first that differs are printed.
const differenceAfter = 3

// firstDifference returns the first line in which two journals differ, with those before it;
// empty if they are the same.
func firstDifference(first, second string) (string, error) {
	var files [2]*bufio.Scanner
	for i, name := range []string{first, second} {
		f, err := os.Open(name)
		if err != nil {
			return "", err
		}
		defer f.Close()
		files[i] = bufio.NewScanner(f)
		files[i].Buffer(nil, 1<<24)
	}
	var before []string
	for n := 1; ; n++ {
		a, b := files[0].Scan(), files[1].Scan()
		x, y := files[0].Text(), files[1].Text()
		if a != b || x != y {
			if !a {
				x = "the journal ends"
			}
			if !b {
				y = "the journal ends"
			}
			text := fmt.Sprintf("the journals differ from line %d on:\n", n)
			for _, l := range before {
				text += "  both:   " + shown(l)
			}
			return text + "  first:  " + shown(x) + "  second: " + shown(y), nil
		}
		if !a {
			for _, f := range files {
				if err := f.Err(); err != nil {
					return "", err
				}
			}
			return "", nil
		}
		if before = append(before, x); len(before) > differenceAfter {
			before = before[1:]
		}
	}
}

// shown is a line of a journal with its time as people read it.
func shown(text string) string {
	if l, ok := lineOf(text); ok {
		text = l.String()
	}
	return strings.TrimSpace(text) + "\n"
}
