package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/sim/history"
	"github.com/traintravel/traintravel/internal/sim/model"
	"github.com/traintravel/traintravel/internal/sim/world"
	"github.com/traintravel/traintravel/store/boltstore"
)

// childArgument makes this command the process of one history: it reads a job and writes a
// report, both as JSON.
const childArgument = "history"

// What the command exits with.
const (
	passed = iota
	failed
	misused
)

// A job is what the process of a history has to do.
type job struct {
	Plan plan
	// Story says that the report tells the story, and Involved that it names the operations
	// that are about the failure.
	Story, Involved bool
	// Trace is the file that gets each line of the journal; empty is none. Folder is for
	// the files of the store, and is the parent's to remove.
	Trace, Folder string
}

// A report is what came of a history.
type report struct {
	Failures  []model.Failure
	FailedAt  int
	Done      map[string]int
	Performed []int
	Commits   int
	Bookings  int
	Faults    map[world.Class]int
	Errors    map[string]int
	Marks     map[string]int
	Traffic   time.Duration
	Struck    []world.Strike
	Hash      uint64
	Story     []world.Line
	// Involved are operations that are about the failure, and Around those that can matter
	// to any.
	Involved, Around []int
}

// child does the job that in says and writes the report to out. It does not return.
func child(in io.Reader, out io.Writer) {
	var j job
	if err := json.NewDecoder(in).Decode(&j); err != nil {
		fatal(fmt.Errorf("read the job: %w", err))
	}
	go func() { // which stays open for as long as the parent wants the report
		_, _ = io.Copy(io.Discard, in)
		os.Exit(failed)
	}()
	runtime.GOMAXPROCS(1) // Go promises no order between goroutines that run at once
	testing.Init()
	if err := flag.CommandLine.Parse(nil); err != nil { // of package testing
		fatal(err)
	}
	testing.Main(func(_, _ string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "sim", F: func(t *testing.T) {
		r, err := j.do(t)
		if err == nil {
			err = json.NewEncoder(out).Encode(r)
		}
		if err != nil {
			fatal(err)
		}
		os.Exit(passed)
	}}}, nil, nil)
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "sim:", err)
	os.Exit(failed)
}

// do runs the history.
func (j job) do(t *testing.T) (report, error) {
	c, err := j.Plan.config()
	if err != nil {
		return report{}, err
	}
	c.Story = j.Story || j.Involved
	if j.Trace != "" {
		f, err := os.Create(j.Trace)
		if err != nil {
			return report{}, err
		}
		defer f.Close()
		c.Trace = f
	}
	if j.Plan.Store == "bolt" {
		dir, err := os.MkdirTemp(j.Folder, "bolt-")
		if err != nil {
			return report{}, err
		}
		defer os.RemoveAll(dir)
		c.Open = func() traintravel.Store {
			s, err := boltstore.Open(filepath.Join(dir, "sim.db"), nil)
			if err != nil {
				fatal(err)
			}
			return s
		}
	}
	r := reportOf(history.Run(t, c))
	if j.Involved && len(r.Failures) > 0 {
		text := r.Failures[0].Text
		r.Involved, r.Around = operationsOf(about(r.Story, text)), operationsOf(matters(r.Story, text))
	}
	if !j.Story {
		r.Story = nil
	}
	return r, nil
}

func reportOf(r history.Result) report {
	return report{
		Failures: r.Failures, FailedAt: r.FailedAt, Done: r.Done, Performed: r.Performed, Commits: r.Commits,
		Bookings: r.Bookings, Faults: r.Faults, Errors: r.Errors, Marks: r.Marks, Traffic: r.Traffic, Struck: r.Struck, Hash: r.Hash, Story: r.Story,
	}
}
