package house_test

import (
	"fmt"
	"go/ast"
	"os"
	"slices"
	"strings"
	"testing"
)

// A room is a package and what it is about.
type room struct{ name, about string }

// levels are the packages, the lowest first. A package imports only packages of levels
// below its own. The picture in docs/architecture.md is made from this table.
var levels = [][]room{
	{
		{"store", "the contract of a store: keys, tables, updates"},
		{"internal/codec", "how fields stand in records"},
		{"internal/ids", "UUIDs that order by time, or are made from what they name"},
		{"internal/tz", "time zones by name"},
		{"internal/redact", "numbers of cards in texts"},
		{"internal/loglimit", "how often a line is logged"},
		{"internal/fold", "case, accents and scripts in a search"},
		{"internal/raptor", "the search for connections, on numbers alone"},
		{"internal/whsec", "the secrets of webhooks"},
		{"internal/jwk", "keys as JSON"},
		{"internal/fair", "turns and shares among callers"},
		{"internal/demo", "a small network for examples and tests"},
		{"internal/demo/gen", "makes it"},
		{"internal/need", "programs that tests call, and how long tests take"},
		{"internal/thishost", "what only programs on this machine reach"},
		{"internal/sim/chance", "the draws of simulated histories"},
	},
	{
		{"rail", "the nouns: stations, trips, bookings, payments, events, errors"},
		{"internal/alike", "whether two stations are one"},
		{"internal/keys", "the keys file"},
		{"internal/pgtest", "PostgreSQL servers for tests"},
	},
	{
		{"schedule", "the timetable as it is loaded: trains, calls, days, prices, rules"},
		{"internal/records", "what the store has of bookings, payments, deliveries"},
	},
	{
		{"internal/trains", "identity, numbers and twins of trains"},
		{"internal/stations", "the search for stations"},
		{"internal/railtest", "timetables for tests"},
	},
	{{"internal/seats", "who has which place on which sections of a run"}},
	{{"internal/timetable", "the compiled timetable: rides, trip IDs, changes"}},
	{
		{"internal/ledger", "the rules: what one update does to records"},
		{"transfer", "copies of stores, and moves between them"},
	},
	{{"internal/agenda", "what is due later, and which server does it"}},
	{
		{"internal/search", "which trips are offered"},
		{"internal/payments", "charging, and what became of charges"},
		{"internal/webhooks", "subscriptions, and posting events to them"},
	},
	{
		{"internal/loading", "a timetable into the store"},
		{"internal/desk", "what an operator asks and does"},
		{"audit", "whether everything in a store agrees"},
	},
	{{".", "Service, Options, and the contracts that a program implements"}},
	{
		{"gtfs", "a feed into a timetable"},
		{"cities", "names of cities"},
		{"places", "time zones and countries by coordinates"},
		{"ticket", "tickets"},
		{"gateway", "payments through another program"},
		{"metrics", "numbers for Prometheus"},
		{"tracing", "spans"},
		{"store/memstore", "a store in memory"},
		{"internal/audittest", "stores read whole, and damaged, for tests"},
		{"internal/group", "updates that share a commit"},
		{"internal/agreed", "what the servers of one store have in common"},
		{"internal/synthfeed", "feeds as large as wanted"},
		{"internal/sim/outside", "a store or a gateway beside virtual time"},
		{"internal/sim/world", "a store, a bank and receivers that fail, in virtual time"},
	},
	{
		{"feeds", "several timetables into one"},
		{"sandbox", "a gateway that moves no money"},
		{"store/boltstore", "a store in one file"},
		{"store/pgstore", "a store in PostgreSQL"},
		{"internal/sim/model", "what may be true after what callers were told"},
	},
	{
		{"internal/sim/history", "simulated histories of a railway, each from a seed"},
		{"internal/sim/shrink", "the shortest history that breaks an invariant"},
	},
	{
		{"paymenttest", "the contract of a gateway, as a test"},
		{"store/storetest", "the contract of a store, as a test"},
	},
	{
		{"internal/officetest", "a service with its bank and its clock for tests"},
		{"httpserver/authserver", "sign-in and tokens"},
		{"httpserver", "the API over HTTP"},
	},
	{{"internal/signin", "the built-in sign-in with the keys of a file"}},
	{{"trainserver", "all that a server consists of, wired"}},
	{
		{"cmd", "the command"},
		{"examples", "programs to begin from"},
		{"packaging", "what is released"},
		{"internal/sim", "the command that runs simulated histories"},
		{"internal/sim/mutants", "faults that simulated histories have to find"},
		{"tests", "several packages together, under crashes and many servers"},
	},
}

// levelOf returns the level of a package, from 1; 0 if it has none.
func levelOf(name string) int {
	for i, level := range levels {
		for _, r := range level {
			if r.name == name || slices.Contains([]string{"cmd", "examples", "packaging", "tests"}, r.name) && under(name, r.name) {
				return i + 1
			}
		}
	}
	return 0
}

// Every package has its level, and imports only what is below it.
func TestLevels(t *testing.T) {
	t.Parallel()
	each(t, func(p *pkg) {
		own := levelOf(p.name)
		if own == 0 {
			t.Errorf("%s: a package without a level: add it to levels, and say what it is about", p.name)
			return
		}
		if own == len(levels) {
			return // programs
		}
		p.imports(func(f *source, spec *ast.ImportSpec, target string, ours bool) {
			if ours && !f.test && levelOf(target) >= own {
				t.Errorf("%s: %s is on level %d and must not import %s, which is on level %d", at(spec.Pos()), p.name, own, target, levelOf(target))
			}
		})
	})
}

// drawLevels is the picture of the levels, the highest first.
func drawLevels() string {
	var b strings.Builder
	for i := len(levels); i > 0; i-- {
		for j, r := range levels[i-1] {
			number := ""
			if j == 0 {
				number = fmt.Sprint(i)
			}
			name := r.name
			if name == "." {
				name = "traintravel"
			}
			fmt.Fprintf(&b, "%2s  %-22s %s\n", number, name, r.about)
		}
	}
	return b.String()
}

// The document shows the levels as they are.
func TestLevelsAreDrawn(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "```\n"+drawLevels()+"```") {
		t.Errorf("docs/architecture.md does not have this picture:\n%s", drawLevels())
	}
}
