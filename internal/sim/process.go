package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/traintravel/traintravel/internal/sim/model"
)

// An outcome is what came of the process of a history.
type outcome struct {
	report
	plan plan
	cpu  time.Duration
	wall time.Duration
	// hung says that the process did not end in time.
	hung bool
	// died says that the process ended without a report; output is what it wrote.
	died bool
	// differs says that two runs of it differ; output is where.
	differs bool
	output  string
}

// failed returns the first invariant that the history broke.
func (o *outcome) failed() (model.Failure, bool) {
	if len(o.Failures) == 0 {
		return model.Failure{}, false
	}
	return o.Failures[0], true
}

// String is the line of a history that has passed.
func (o *outcome) String() string {
	return fmt.Sprintf("seed %d: %s, %s, %s, %s, %s, %.2f s, hash %016x", o.plan.Seed, count(o.plan.Days, "day"), count(len(o.Performed), "operation"),
		count(o.Bookings, "booking"), count(o.Commits, "commit"), count(sum(o.Faults), "fault"), o.cpu.Seconds(), o.Hash)
}

// when says when the history failed.
func (o *outcome) when() string {
	if o.FailedAt == 0 {
		return "found in the end"
	}
	return fmt.Sprintf("found by operation %d", o.FailedAt)
}

// A runner starts the processes of histories.
type runner struct {
	scratch string        // a folder for files
	limit   time.Duration // how long a process may take; zero depends on the days
}

// limitOf is how long the process of a history may take.
func (r runner) limitOf(p plan) time.Duration {
	day := map[string]time.Duration{"traffic": 10 * time.Minute, "mixed": 10 * time.Second}[p.Speed]
	return cmp.Or(r.limit, 5*time.Minute+time.Duration(p.Days)*cmp.Or(day, 2*time.Second))
}

// start runs a job in a process of its own. An error is of this program, not of the history:
// one whose process crashes or hangs has broken X1.
func (r runner) start(ctx context.Context, j job) (*outcome, error) {
	limit := r.limitOf(j.Plan)
	j.Folder = r.scratch
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	in, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(timed, self, childArgument)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GOTRACEBACK=all")
	cmd.Stdout, cmd.Stderr = &out, &errs
	pipe, err := cmd.StdinPipe() // it stays open: the process ends if this one does
	if err != nil {
		return nil, err
	}
	cmd.Cancel = func() error {
		if ctx.Err() != nil {
			return cmd.Process.Kill()
		}
		return cmd.Process.Signal(syscall.SIGQUIT) // it writes what its goroutines do
	}
	cmd.WaitDelay = 10 * time.Second
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the process of a history: %w", err)
	}
	_, _ = pipe.Write(in) // if it has ended before, Wait says why
	err = cmd.Wait()
	o := &outcome{plan: j.Plan, wall: time.Since(begun)}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	o.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if err == nil {
		if err := json.Unmarshal(out.Bytes(), &o.report); err != nil {
			return nil, fmt.Errorf("read the report of seed %d: %w", j.Plan.Seed, err)
		}
		return o, nil
	}
	o.died = true
	o.output = scrub(out.String() + errs.String())
	why := "its process ends with " + firstCause(o.output, err)
	if errors.Is(timed.Err(), context.DeadlineExceeded) {
		o.hung = true
		why = fmt.Sprintf("it hangs: its process did not end within %v", limit)
	}
	o.Failures = []model.Failure{{Invariant: "X1", Text: why}}
	return o, nil
}

// firstCause is the line that says why a program of Go crashed.
func firstCause(output string, err error) string {
	for line := range strings.Lines(output) {
		for _, mark := range []string{"panic: ", "fatal error: ", "sim: "} {
			if strings.HasPrefix(strings.TrimSpace(line), mark) {
				return strings.TrimSpace(line)
			}
		}
	}
	return err.Error()
}

var (
	pointer  = regexp.MustCompile(`0x[0-9a-f]+`)
	duration = regexp.MustCompile(`\([0-9.]+s\)`)
)

// scrub takes out what differs from one run of a crash to the next.
func scrub(output string) string {
	return duration.ReplaceAllString(pointer.ReplaceAllString(output, "0x…"), "")
}
