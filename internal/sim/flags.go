package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/traintravel/traintravel/internal/sim/history"
	"github.com/traintravel/traintravel/internal/sim/world"
)

// settings are what the arguments say.
type settings struct {
	plans                          []plan
	story, quiet, coverage, replay bool
	shrink, limit                  time.Duration
	parallel                       int
}

const usage = `usage: go run ./internal/sim [flags]

Runs simulated histories of a railway with faults, and reports the first invariant that one of
them breaks. Exits with 1 if one is broken, with 2 if the flags are wrong.

`

// parse reads the arguments.
func parse(args []string, errs io.Writer) (settings, error) {
	var s settings
	var p plan
	fs := flag.NewFlagSet("sim", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	planFlags(fs, &p)
	seeds := fs.String("seeds", "", "run the seeds from `A:B`, both included, each in a process of its own")
	kept := fs.Bool("kept", false, "run the seeds that are kept in internal/sim/testdata/seeds, each with its flags")
	fs.BoolVar(&s.story, "story", false, "print the whole story of the history")
	fs.BoolVar(&s.quiet, "quiet", false, "print no line for a seed that passes")
	fs.BoolVar(&s.replay, "replay-check", false, "run each history twice, and fail if they differ")
	fs.BoolVar(&s.coverage, "coverage", false, "fail if a class of faults, a kind of operation or an error occurs too rarely over all seeds")
	fs.DurationVar(&s.shrink, "shrink", time.Minute, "how long to look for a shorter history that breaks the same invariant; 0 looks for none")
	fs.DurationVar(&s.limit, "limit", 0, "how long the process of a seed may take before it counts as one that hangs; 0 is five minutes and some seconds for each day")
	fs.IntVar(&s.parallel, "parallel", runtime.NumCPU(), "how many processes run at once")
	err := fs.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(errs, usage)
		fs.SetOutput(errs)
		fs.PrintDefaults()
		return s, err
	}
	if err == nil {
		err = s.complete(fs, p, *seeds, *kept)
	}
	return s, err
}

// planFlags are the flags that determine a history. Those of a kept seed are of these.
func planFlags(fs *flag.FlagSet, p *plan) {
	*p = defaults
	fs.Uint64Var(&p.Seed, "seed", p.Seed, "the `seed` of the history")
	fs.IntVar(&p.Days, "days", p.Days, "how many `days` it lasts")
	fs.StringVar(&p.Speed, "speed", p.Speed, "how time passes: calendar passes years, traffic lets all servers run and many act at once, and mixed is calendar with windows of traffic")
	fs.StringVar(&p.Faults, "faults", p.Faults, "`classes` of faults that may occur: all, none, or a list such as death,skew; a list that begins with a minus sign, as in -death,-skew, leaves those out")
	fs.IntVar(&p.Users, "users", p.Users, "how many users there are")
	fs.IntVar(&p.Services, "services", p.Services, "how many servers there are; 0 draws one to three")
	fs.StringVar(&p.Store, "store", p.Store, "where the data is: mem for memory, bolt for a file of boltstore")
	fs.IntVar(&p.Until, "until", p.Until, "stop after the `operation` with this number; 0 means no limit")
	fs.BoolVar(&p.NoCheck, "no-check", p.NoCheck, "leave out the auditor in the end, so that only the model is a witness")
	fs.Func("mask", "what of the history to leave out, as a report of a failure says it: a `file` of JSON, or the JSON itself", p.Mask.parse)
}

// complete checks the settings and plans the histories.
func (s *settings) complete(fs *flag.FlagSet, p plan, seeds string, kept bool) error {
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	switch {
	case fs.NArg() > 0:
		return fmt.Errorf("unexpected argument %q: flags only", fs.Arg(0))
	case given["seeds"] && given["seed"], kept && (given["seed"] || given["seeds"]):
		return errors.New("give only one of -seed, -seeds and -kept")
	case s.shrink < 0:
		return fmt.Errorf("-shrink is %v: want 0 or more", s.shrink)
	case s.limit < 0:
		return fmt.Errorf("-limit is %v: want 0 or more", s.limit)
	case s.parallel < 1:
		return fmt.Errorf("-parallel is %d: want 1 or more", s.parallel)
	case s.story && (given["seeds"] || kept):
		return errors.New("-story is for one -seed, not for several")
	case s.coverage && !given["seeds"]:
		return errors.New("-coverage is of several seeds: give -seeds too")
	}
	if kept {
		for name := range given {
			if planFlag(name) {
				return fmt.Errorf("-%s does not go with -kept: each kept seed has its own flags", name)
			}
		}
		var err error
		s.plans, err = keptSeeds(keptFile)
		return err
	}
	if err := p.check(); err != nil {
		return err
	}
	first, last := p.Seed, p.Seed
	if given["seeds"] {
		var err error
		if first, last, err = parseSeeds(seeds); err != nil {
			return err
		}
	}
	for seed := first; ; seed++ {
		p.Seed = seed
		s.plans = append(s.plans, p)
		if seed == last {
			return nil
		}
	}
}

// planFlag reports whether a flag determines a history.
func planFlag(name string) bool {
	var p plan
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	planFlags(fs, &p)
	return fs.Lookup(name) != nil
}

// mostSeeds is how many seeds one command runs.
const mostSeeds = 1_000_000

func parseSeeds(text string) (first, last uint64, err error) {
	a, b, ok := strings.Cut(text, ":")
	if ok {
		if first, err = strconv.ParseUint(a, 10, 64); err == nil {
			last, err = strconv.ParseUint(b, 10, 64)
		}
	}
	switch {
	case !ok || err != nil:
		return 0, 0, fmt.Errorf("-seeds is %q: want two numbers, such as 1:40", text)
	case last < first:
		return 0, 0, fmt.Errorf("-seeds is %q: the last is before the first", text)
	case last-first >= mostSeeds:
		return 0, 0, fmt.Errorf("-seeds is %q: that is more than %d", text, mostSeeds)
	}
	return first, last, nil
}

// mostDays is how long the trains of the simulated timetable run.
const mostDays = 4000

// check says what is wrong with a plan.
func (p plan) check() error {
	switch {
	case p.Days < 1 || p.Days > mostDays:
		return fmt.Errorf("-days is %d: want 1 to %d", p.Days, mostDays)
	case p.Users < 1:
		return fmt.Errorf("-users is %d: want 1 or more", p.Users)
	case p.Services < 0:
		return fmt.Errorf("-services is %d: want 0 or more", p.Services)
	case p.Until < 0:
		return fmt.Errorf("-until is %d: want 0 or more", p.Until)
	case p.Store != "mem" && p.Store != "bolt":
		return fmt.Errorf("-store is %q: want mem or bolt", p.Store)
	}
	if _, err := history.ParseSpeed(p.Speed); err != nil {
		return fmt.Errorf("-speed: %w", err)
	}
	if _, err := world.ParseFaults(p.Faults); err != nil {
		return fmt.Errorf("-faults: %w", err)
	}
	return nil
}
