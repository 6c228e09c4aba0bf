package search

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/seats"
	"github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// A Finder finds trips that can be booked.
type Finder struct {
	Store     store.Reader
	Stock     *seats.Stock
	Hook      func(rail.Trip) (rail.Money, bool) // Options.Price: nil takes the fares
	Log       *slog.Logger
	Omit      func(context.Context, records.Omissions) int // is told what cannot be read
	mispriced mispriced
}

// Price makes the price of a trip; false if it is not for sale.
func (f *Finder) Price(rides []timetable.Ride, trip rail.Trip) (rail.Money, bool, error) {
	price, ok := timetable.FarePrice(rides)
	if f.Hook != nil {
		if trip.Price = price; !ok {
			trip.Price = rail.Money{}
		}
		trip.Legs = slices.Clone(trip.Legs) // what the hook does to them is its own business
		price, ok = f.Hook(trip)
		switch {
		case ok && (price.Amount <= 0 || !rail.ValidCurrency(price.Currency)):
			return rail.Money{}, false, fmt.Errorf("Options.Price returned the price %d %q, which is not a valid price", price.Amount, price.Currency)
		case ok && price.Amount > rail.MaxPayment:
			return rail.Money{}, false, fmt.Errorf("Options.Price returned the price %d %q, more than the maximum", price.Amount, price.Currency)
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

func (m *mispriced) tell(log *slog.Logger, t rail.Trip, why error) {
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
	log.Error("trip not offered because its price is invalid", "trip", t.ID, "train", t.Legs[0].Number, "run", t.Legs[0].Run, "error", why)
}

// Inventories returns the inventories of runs, none older than the stock lets them be. Those
// that are not known are read in one round trip. One that cannot be read says so.
func (f *Finder) Inventories(ctx context.Context, ids []rail.RunID) ([]*seats.Inventory, error) {
	out := make([]*seats.Inventory, len(ids))
	now := f.Stock.Now()
	var missing []int
	var keys []store.Key
	for i, id := range ids {
		if v, ok := f.Stock.Lookup(id, now); ok {
			out[i] = v.Inv
			continue
		}
		missing = append(missing, i)
		keys = append(keys, seats.RunKey(id))
	}
	if len(keys) == 0 {
		return out, nil
	}
	values, err := f.Store.Get(ctx, keys...)
	if err != nil {
		return nil, err
	}
	var left records.Omissions
	for j, i := range missing {
		var inv *seats.Inventory
		if values[j] != nil {
			if inv, err = seats.DecodeInventory(values[j]); err != nil {
				inv = &seats.Inventory{Unreadable: err}
				left.Add(keys[j], err)
			}
		}
		out[i] = inv
		f.Stock.Keep(ids[i], seats.Stocked{Inv: inv, At: now})
	}
	f.Omit(ctx, left)
	return out, nil
}
