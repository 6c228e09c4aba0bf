package main

import (
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
)

// keptFile has the seeds that are kept: on each line the flags of a history, and after a
// number sign why it is kept.
//
//go:embed testdata/seeds
var keptFile string

// keptSeeds reads a file of kept seeds.
func keptSeeds(text string) ([]plan, error) {
	var plans []plan
	n := 0
	for line := range strings.Lines(text) {
		n++
		flags, why, _ := strings.Cut(line, "#")
		if strings.TrimSpace(flags) == "" {
			continue
		}
		p, err := keptSeed(flags)
		if err == nil && strings.TrimSpace(why) == "" {
			err = errors.New("say after # why it is kept")
		}
		if err != nil {
			return nil, fmt.Errorf("testdata/seeds, line %d: %w", n, err)
		}
		plans = append(plans, p)
	}
	return plans, nil
}

func keptSeed(flags string) (plan, error) {
	var p plan
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	planFlags(fs, &p)
	if err := fs.Parse(strings.Fields(flags)); err != nil {
		return p, err
	}
	if fs.NArg() > 0 {
		return p, fmt.Errorf("unexpected %q", fs.Arg(0))
	}
	return p, p.check()
}
