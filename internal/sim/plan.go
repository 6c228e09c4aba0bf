package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/traintravel/traintravel/internal/sim/chance"
	"github.com/traintravel/traintravel/internal/sim/history"
	"github.com/traintravel/traintravel/internal/sim/world"
)

// A plan determines a history, as flags do.
type plan struct {
	Seed            uint64
	Days            int
	Speed           string
	Faults          string
	Users, Services int
	Store           string
	Until           int
	Mask            mask
	// NoCheck leaves out the auditor in the end.
	NoCheck bool
}

var defaults = plan{Seed: 1, Days: 30, Speed: "calendar", Faults: "all", Users: 3, Store: "mem"}

// A mask leaves out parts of a history, as JSON says it.
type mask struct {
	// Only are the operations that happen; nil is all. Skip are operations that do not.
	Only []int `json:"only,omitzero"`
	Skip []int `json:"skip,omitzero"`
	// Strikes are single faults that do not happen.
	Strikes []world.Strike `json:"strikes,omitzero"`
}

// parse reads a file of JSON, or JSON.
func (m *mask) parse(text string) error {
	from := "the JSON"
	data := []byte(text)
	if !strings.HasPrefix(strings.TrimSpace(text), "{") {
		var err error
		if data, err = os.ReadFile(text); err != nil {
			return err
		}
		from = text
	}
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.DisallowUnknownFields()
	if err := d.Decode(m); err != nil {
		return fmt.Errorf("%s is not a mask: %w", from, err)
	}
	return nil
}

func (m mask) empty() bool { return m.Only == nil && len(m.Skip)+len(m.Strikes) == 0 }

func (m mask) json() string {
	text, err := json.Marshal(m)
	if err != nil {
		panic(err) // of numbers and texts
	}
	return string(text)
}

// of is the mask as a history takes it.
func (m mask) of(until int) history.Mask {
	h := history.Mask{Until: until, Skip: map[int]bool{}, Strikes: map[world.Strike]bool{}}
	if m.Only != nil {
		last := slices.Max(append([]int{1}, m.Only...))
		if until == 0 || until > last {
			h.Until = last
		}
		for n := 1; n <= last; n++ {
			h.Skip[n] = true
		}
		for _, n := range m.Only {
			delete(h.Skip, n)
		}
	}
	for _, n := range m.Skip {
		h.Skip[n] = true
	}
	for _, s := range m.Strikes {
		h.Strikes[s] = true
	}
	return h
}

// config is the plan as package history takes it.
func (p plan) config() (history.Config, error) {
	on, err := world.ParseFaults(p.Faults)
	speed, bad := history.ParseSpeed(p.Speed)
	return history.Config{
		Seed: chance.Seed(p.Seed), Days: p.Days, Speed: speed, Users: p.Users, Services: p.Services, Faults: on, Mask: p.Mask.of(p.Until), NoCheck: p.NoCheck,
	}, cmp.Or(err, bad)
}

// flags are those that make the plan; what is as by default is left out.
func (p plan) flags() (args []string) {
	add := func(name, value, usual string) {
		if value != usual {
			args = append(args, "-"+name, value)
		}
	}
	args = []string{"-seed", strconv.FormatUint(p.Seed, 10)}
	add("days", strconv.Itoa(p.Days), strconv.Itoa(defaults.Days))
	add("speed", p.Speed, defaults.Speed)
	add("faults", p.Faults, defaults.Faults)
	add("users", strconv.Itoa(p.Users), strconv.Itoa(defaults.Users))
	add("services", strconv.Itoa(p.Services), strconv.Itoa(defaults.Services))
	add("store", p.Store, defaults.Store)
	add("until", strconv.Itoa(p.Until), strconv.Itoa(defaults.Until))
	if p.NoCheck {
		args = append(args, "-no-check")
	}
	return args
}
