// Command sim runs simulated histories of a railway and reports the first invariant that one
// of them breaks.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/traintravel/traintravel/internal/sim/chance"
	"github.com/traintravel/traintravel/internal/sim/history"
	"github.com/traintravel/traintravel/internal/sim/world"
)

func main() {
	seed := flag.Uint64("seed", 1, "the seed of the history")
	days := flag.Int("days", 30, "how many days it lasts")
	faults := flag.String("faults", "all", "classes of faults: all, none, some, or -some")
	noCheck := flag.Bool("no-check", false, "leave out the auditor, so that only the model is a witness")
	story := flag.Bool("story", false, "print the story")
	testing.Init()
	flag.Parse()
	runtime.GOMAXPROCS(1)
	on, err := world.ParseFaults(*faults)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	testing.Main(func(_, _ string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "sim", F: func(t *testing.T) {
		r := history.Run(t, history.Config{Seed: chance.Seed(*seed), Days: *days, Faults: on, Story: *story, NoCheck: *noCheck})
		for _, l := range r.Story {
			fmt.Println(l)
		}
		fmt.Println(r)
		fmt.Println(r.Kinds(), r.Faults)
		for _, f := range r.Failures {
			fmt.Println("FAILED", f.Invariant, f.Text)
		}
		if len(r.Failures) > 0 {
			os.Exit(1)
		}
	}}}, nil, nil)
}
