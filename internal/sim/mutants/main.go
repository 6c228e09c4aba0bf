// Command mutants measures what simulated histories find: it puts one fault after another into
// the service, and runs histories until one of them breaks an invariant of the model.
//
// Run it in the module's root. The source stays as it is: each mutant is built through an
// overlay. It exits with status 1 if a fault was not found.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

func main() {
	seeds := flag.String("seeds", "1:200", "the seeds of the histories, from:to")
	only := flag.String("only", "", "run only the mutants with these names, separated by commas")
	days := flag.Int("days", 30, "how many days a history lasts")
	procs := flag.Int("procs", runtime.NumCPU(), "how many histories run at once")
	list := flag.Bool("list", false, "list the mutants and exit")
	flag.Parse()
	r := runner{days: *days, procs: max(1, *procs)}
	var err error
	if r.from, r.to, err = parseSeeds(*seeds); err != nil {
		fail(2, err)
	}
	some, err := choose(*only)
	if err != nil {
		fail(2, err)
	}
	if *list {
		for _, m := range some {
			fmt.Printf("%-26s %s\n", m.name, m.what)
		}
		return
	}
	missed, err := r.all(some)
	if err != nil {
		fail(2, err)
	}
	if len(missed) > 0 {
		fail(1, fmt.Errorf("not found within seeds %s: %s", *seeds, strings.Join(missed, ", ")))
	}
}

func fail(status int, err error) {
	fmt.Fprintln(os.Stderr, "mutants:", err)
	os.Exit(status)
}

func parseSeeds(text string) (from, to int, err error) {
	a, b, ok := strings.Cut(text, ":")
	from, err1 := strconv.Atoi(a)
	to, err2 := strconv.Atoi(b)
	if !ok || err1 != nil || err2 != nil || from < 0 || to < from {
		return 0, 0, fmt.Errorf("invalid -seeds %q: want from:to, such as 1:200", text)
	}
	return from, to, nil
}

func choose(only string) ([]mutant, error) {
	all := mutants()
	if only == "" {
		return all, nil
	}
	var some []mutant
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(all, func(m mutant) bool { return m.name == name })
		if i < 0 {
			return nil, fmt.Errorf("unknown mutant %q: -list shows all", name)
		}
		some = append(some, all[i])
	}
	return some, nil
}

// A runner runs the histories of mutants.
type runner struct {
	from, to, days, procs int
}

// all runs mutants one after another, and returns the names of those that were not found.
func (r runner) all(some []mutant) (missed []string, err error) {
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var firsts []int
	for _, m := range some {
		if m.equivalent != "" {
			fmt.Printf("%-26s not run: %s\n", m.name, m.equivalent)
			continue
		}
		begun := time.Now()
		program, err := build(m, dir)
		if err != nil {
			return nil, err
		}
		built := time.Since(begun)
		seed, how, err := r.first(program)
		if err != nil {
			return nil, fmt.Errorf("mutant %s: %w", m.name, err)
		}
		took := (time.Since(begun) - built).Seconds()
		if seed < 0 {
			fmt.Printf("%-26s NOT FOUND, %.1f s\n", m.name, took)
			missed = append(missed, m.name)
			continue
		}
		firsts = append(firsts, seed)
		fmt.Printf("%-26s seed %d, %.1f s: %s\n", m.name, seed, took, how)
	}
	if len(firsts) > 0 {
		slices.Sort(firsts)
		fmt.Printf("%d found, the median by seed %d; %d not found\n", len(firsts), firsts[len(firsts)/2], len(missed))
	}
	return missed, nil
}

// build builds the simulator with a mutant in it.
func build(m mutant, dir string) (program string, err error) {
	text, err := os.ReadFile(m.file)
	if err != nil {
		return "", fmt.Errorf("run it in the root of the module: %w", err)
	}
	if n := strings.Count(string(text), m.old); n != 1 {
		return "", fmt.Errorf("mutant %s: the text that it replaces occurs %d times in %s; adapt the mutant to the new code", m.name, n, m.file)
	}
	path, err := filepath.Abs(m.file)
	if err != nil {
		return "", err
	}
	mutated, overlay := filepath.Join(dir, "mutated.go"), filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(mutated, []byte(strings.Replace(string(text), m.old, m.new, 1)), 0o600); err != nil {
		return "", err
	}
	o, err := json.Marshal(map[string]any{"Replace": map[string]string{path: mutated}})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(overlay, o, 0o600); err != nil {
		return "", err
	}
	program = filepath.Join(dir, "sim")
	if out, err := exec.Command("go", "build", "-overlay", overlay, "-o", program, "./internal/sim").CombinedOutput(); err != nil {
		return "", fmt.Errorf("mutant %s does not build: %w\n%s", m.name, err, out)
	}
	return program, nil
}

// first returns the first seed whose history fails, and how; -1 if none does.
func (r runner) first(program string) (seed int, how string, err error) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var mu sync.Mutex
	var wg sync.WaitGroup
	next, found := r.from, r.to+1
	for range r.procs {
		wg.Go(func() {
			for {
				mu.Lock()
				s := next
				next++
				over := s > r.to || s > found || err != nil
				mu.Unlock()
				if over {
					return
				}
				broke, e := r.history(ctx, program, s)
				mu.Lock()
				err = cmp.Or(err, e)
				if broke != "" && s < found {
					found, how = s, broke
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if found > r.to {
		return -1, "", err
	}
	return found, how, err
}

// patience is how long a history may take before it counts as one that hangs.
const patience = 3 * time.Minute

// history runs the history of a seed, and returns how it failed; nothing if it did not.
func (r runner) history(ctx context.Context, program string, seed int) (broke string, err error) {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	cmd := exec.CommandContext(ctx, program, "-seed", strconv.Itoa(seed), "-days", strconv.Itoa(r.days), "-no-check", "-shrink", "0")
	out, err := cmd.CombinedOutput()
	_, exited := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return "", nil
	case ctx.Err() != nil:
		return "it hangs", nil
	case !exited:
		return "", err
	}
	for _, mark := range []string{"FAILED", "panic", "fatal error"} {
		for line := range bytes.Lines(out) {
			if at := bytes.Index(line, []byte(mark)); at >= 0 {
				return shorten(strings.TrimSpace(string(line[at:]))), nil
			}
		}
	}
	return "", fmt.Errorf("seed %d: %w\n%s", seed, err, out)
}

func shorten(text string) string {
	if r := []rune(text); len(r) > 120 {
		return string(r[:120]) + "…"
	}
	return text
}
