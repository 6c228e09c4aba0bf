package schedule

import "github.com/traintravel/traintravel/rail"

// Limits of a timetable as a whole, twice the size of the largest railways. They limit the
// memory that a server uses to load one: some hundred bytes for each call, at most 1.5 GB in
// total.
const (
	MaxStations   = 500_000
	MaxTrains     = 2_000_000
	MaxTotalCalls = 15_000_000 // of all trains
	MaxChanges    = 2_000_000  // rules

	maxExceptions = 20_000_000 // days added and removed, of all calendars
	maxAmounts    = 20_000_000 // of all Prices
)

// checkSize refuses a timetable that is too large to be looked at any closer.
func (t *Timetable) checkSize() error {
	switch {
	case len(t.Stations) > MaxStations:
		return rail.Invalid("stations", "has %d entries, more than %d", len(t.Stations), MaxStations)
	case len(t.Trains) > MaxTrains:
		return rail.Invalid("trains", "has %d entries, more than %d", len(t.Trains), MaxTrains)
	case len(t.Changes) > MaxChanges:
		return rail.Invalid("changes", "has %d entries, more than %d", len(t.Changes), MaxChanges)
	}
	calls, exceptions, amounts := 0, 0, 0
	calendars, prices := map[*Calendar]bool{}, map[*Prices]bool{}
	for i := range t.Trains {
		tr := &t.Trains[i]
		calls += len(tr.Calls)
		if d := tr.Days; d != nil && !calendars[d] {
			calendars[d] = true
			exceptions += len(d.Added) + len(d.Removed)
		}
		if p := tr.Prices; p != nil && !prices[p] {
			prices[p] = true
			for _, row := range p.Amounts {
				amounts += len(row)
			}
		}
	}
	switch {
	case calls > MaxTotalCalls:
		return rail.Invalid("trains", "have %d calls, more than %d", calls, MaxTotalCalls)
	case exceptions > maxExceptions:
		return rail.Invalid("trains", "have %d days in their calendars that are added or removed, more than %d", exceptions, maxExceptions)
	case amounts > maxAmounts:
		return rail.Invalid("trains", "have %d prices, more than %d", amounts, maxAmounts)
	}
	return nil
}
