package history

import (
	"cmp"
	"slices"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/sim/chance"
	"github.com/traintravel/traintravel/internal/sim/model"
	"github.com/traintravel/traintravel/internal/sim/world"
	"github.com/traintravel/traintravel/store/memstore"
)

// Run runs a history, in a bubble of its own.
func Run(t *testing.T, c Config) (res Result) {
	t.Helper()
	if testing.Testing() && !c.Beside { // in other programs it is not possible
		cryptotest.SetGlobalRandom(t, uint64(c.Seed))
	}
	synctest.Test(t, func(t *testing.T) {
		h := begin(c)
		defer func() {
			for _, s := range h.servers {
				s.stop()
			}
			res = h.result()
			h.close()
		}()
		if h.story(); !h.broken() {
			h.failed = 0
			h.finish()
		}
	})
	return res
}

// kinds are all that operations may be.
func kinds() []kind {
	return append([]kind{
		{"book", 30, (*operation).book},
		{"pay", 24, (*operation).pay},
		{"pay again", 4, (*operation).payAgain},
		{"cancel", 8, (*operation).cancel},
		{"read", 8, (*operation).read},
		{"read payment", 4, (*operation).readPayment},
		{"list", 3, (*operation).list},
		{"order again", 4, (*operation).orderAgain},
		{"work", 18, (*operation).work},
		{"import", 1, (*operation).load},
		{"move", 1, (*operation).move},
	}, slices.Concat(misuseKinds(), deskKinds(), paperKinds(), hookKinds())...)
}

// begin draws a history and opens its servers.
func begin(c Config) *history {
	c.Days, c.PerDay, c.Users = cmp.Or(c.Days, 30), cmp.Or(c.PerDay, 200), cmp.Or(c.Users, 3)
	if c.Faults == nil {
		c.Faults, _ = world.ParseFaults("all")
	}
	sleepUntil(world.Beginning(c.Seed, c.Days))
	store := traintravel.Store(memstore.New())
	if c.Open != nil {
		store = c.Open()
	}
	h := &history{Config: c, kinds: kinds(), orders: map[int]*order{}, keys: map[string]int{}, done: map[string]int{}, made: map[int]int{}}
	h.w = world.New(world.Config{Seed: c.Seed, Faults: c.Faults, Often: c.Often, Skip: c.Mask.Strikes, Days: c.Days, Store: store, Provider: c.Provider, Story: c.Story, Trace: c.Trace})
	h.w.Journal.Say("the history begins, at %s", h.w.Start.UTC().Format(time.RFC3339))
	r := c.Seed.At("options", 0)
	terms := model.Terms{
		HoldFor:    []time.Duration{10 * time.Minute, time.Hour, 20 * time.Hour}[r.IntN(3)],
		PendingFor: []time.Duration{2 * time.Hour, 24 * time.Hour, 48 * time.Hour}[r.IntN(3)],
		Back:       []int64{100, 50, 0}[r.IntN(3)],
	}
	terms.Cancels = h.w.Cancels()
	terms.Skew = h.w.MostSkew()
	terms.Retain = []time.Duration{0, 0, 6 * time.Hour, 10 * 24 * time.Hour}[r.IntN(4)]
	h.options = traintravel.Options{
		HoldFor: terms.HoldFor, PendingFor: terms.PendingFor, Retain: terms.Retain, Holds: traintravel.HoldLimits{User: -1, Train: -1},
		Declines:       traintravel.DeclineLimits{Card: -1, User: -1},
		FingerprintKey: make([]byte, 32),
		Cancel: func(b traintravel.Booking, _ time.Time) (traintravel.Money, error) {
			return traintravel.Money{Amount: b.Price.Amount * terms.Back / 100, Currency: b.Price.Currency}, nil
		},
	}
	h.m = model.New(terms, h.w.Bank)
	h.setUpHooks()
	if h.w.Faults.On(world.NobodyRuns) {
		r := c.Seed.At("nobody runs", 0)
		for range r.IntN(5) {
			from := h.w.Start.Add(time.Duration(r.Int64N(int64(c.Days) * int64(24*time.Hour))))
			h.nobody = append(h.nobody, spell{from, from.Add(chance.Between(r, time.Hour, 60*time.Hour))})
		}
	}
	n := cmp.Or(c.Services, 1+r.IntN(3))
	for range n {
		h.servers = append(h.servers, h.open(len(h.servers), true))
	}
	return h
}

// Kinds are the kinds of operations.
func Kinds() (names []string) {
	for _, k := range kinds() {
		names = append(names, k.name)
	}
	return names
}
