package traintravel

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/google/uuid"
)

// A finder finds trips that can be booked.
type finder struct {
	store     Reader
	stock     *stock
	hook      func(Trip) (Money, bool) // Options.Price: nil takes the fares
	log       *slog.Logger
	omit      func(context.Context, omissions) int // is told what cannot be read
	mispriced mispriced
}

// price makes the price of a trip; false if it is not for sale.
func (f *finder) price(rides []ride, trip Trip) (Money, bool, error) {
	price, ok := farePrice(rides)
	if f.hook != nil {
		if trip.Price = price; !ok {
			trip.Price = Money{}
		}
		trip.Legs = slices.Clone(trip.Legs) // what the hook does to them is its own business
		price, ok = f.hook(trip)
		switch {
		case ok && (price.Amount <= 0 || !validCurrency(price.Currency)):
			return Money{}, false, fmt.Errorf("Options.Price made the price %d %q, which is none", price.Amount, price.Currency)
		case ok && price.Amount > maxPayment:
			return Money{}, false, fmt.Errorf("Options.Price made the price %d %q, more than can be paid", price.Amount, price.Currency)
		}
	}
	return price, ok && price.Amount > 0, nil
}

// mispriced are the trains of trips that Options.Price made a wrong price of: each is told
// to the operator once, and not in every search.
type mispriced struct {
	mu    sync.Mutex
	known map[uuid.UUID]bool
}

const maxMispriced = 100 // that are told

func (m *mispriced) tell(log *slog.Logger, t Trip, why error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	train := t.Legs[0].Run.Train
	if m.known[train] || len(m.known) >= maxMispriced {
		return
	}
	if m.known == nil {
		m.known = map[uuid.UUID]bool{}
	}
	m.known[train] = true
	log.Error("a trip is not offered because its price is wrong", "trip", t.ID, "train", t.Legs[0].Number, "run", t.Legs[0].Run, "error", why)
}

// inventories returns the inventories of runs, none older than freshFor. Those
// that are not known are read in one round trip. One that cannot be read says so.
func (f *finder) inventories(ctx context.Context, ids []RunID) ([]*inventory, error) {
	out := make([]*inventory, len(ids))
	now := f.stock.now()
	var missing []int
	var keys []Key
	for i, id := range ids {
		if v, ok := f.stock.lookup(id, now); ok {
			out[i] = v.inv
			continue
		}
		missing = append(missing, i)
		keys = append(keys, runKey(id))
	}
	if len(keys) == 0 {
		return out, nil
	}
	values, err := f.store.Get(ctx, keys...)
	if err != nil {
		return nil, err
	}
	var left omissions
	for j, i := range missing {
		var inv *inventory
		if values[j] != nil {
			if inv, err = decodeInventory(values[j]); err != nil {
				inv = &inventory{unreadable: err}
				left.add(keys[j], err)
			}
		}
		out[i] = inv
		f.stock.keep(ids[i], stocked{inv, now})
	}
	f.omit(ctx, left)
	return out, nil
}
