package gtfs

import (
	"cmp"
	"slices"

	"github.com/traintravel/traintravel"
)

// A Pricing is one way in which trains of a feed come by their prices.
type Pricing struct {
	// File is the table that says so; empty for Options.Fare.
	File string
	// Currency is an ISO 4217 code in lower case; empty if the trains are not for sale.
	// OwnCurrency says that File names it, and not Options.Fare.
	Currency    string
	OwnCurrency bool
	// Zones says that each ride has a price of its own, and Base and PerKm mean nothing.
	Zones bool
	// Base and PerKm are from the least to the most, in minor units of Currency.
	Base, PerKm [2]int64
	Trains      int
}

// A Seating is one way in which trains of a feed come by their seats.
type Seating struct {
	File string // the table that says so; empty for Options.Coaches
	// Seats are from the least to the most of a train; zero if they are unreserved: as
	// many travel as come.
	Seats  [2]int
	Trains int
}

// An origin is where a trip has its price and its seats from.
type origin struct {
	prices, coaches string // the table, empty for options
	currency        bool   // the table names the currency
}

// countSales counts for the report by which prices and with which seats the trains of
// the timetable are sold.
func (f *feed) countSales() {
	type priced struct {
		file, currency string
		own, zones     bool
	}
	type seated struct {
		file     string
		reserved bool
	}
	prices, seats := map[priced]*Pricing{}, map[seated]*Seating{}
	for _, t := range f.trips {
		if len(t.Calls) == 0 {
			continue
		}
		key := priced{t.origin.prices, t.Fare.Currency, t.origin.currency, t.Prices != nil}
		if t.Prices != nil {
			key.currency = t.Prices.Currency
		}
		p := prices[key]
		if p == nil {
			p = &Pricing{
				File: key.file, Currency: key.currency, OwnCurrency: key.own, Zones: key.zones,
				Base: [2]int64{t.Fare.Base, t.Fare.Base}, PerKm: [2]int64{t.Fare.PerKm, t.Fare.PerKm},
			}
			prices[key] = p
		}
		p.Base, p.PerKm = widen(p.Base, t.Fare.Base), widen(p.PerKm, t.Fare.PerKm)
		p.Trains++
		n := places(t.Coaches)
		s := seats[seated{t.origin.coaches, n > 0}]
		if s == nil {
			s = &Seating{File: t.origin.coaches, Seats: [2]int{n, n}}
			seats[seated{t.origin.coaches, n > 0}] = s
		}
		s.Seats = widen(s.Seats, n)
		s.Trains++
	}
	for _, p := range prices {
		f.report.Prices = append(f.report.Prices, *p)
	}
	slices.SortFunc(f.report.Prices, func(a, b Pricing) int {
		return cmp.Or(cmp.Compare(b.Trains, a.Trains), cmp.Compare(a.File, b.File), cmp.Compare(a.Currency, b.Currency), cmp.Compare(b.Base[1], a.Base[1]))
	})
	for _, s := range seats {
		f.report.Seats = append(f.report.Seats, *s)
	}
	slices.SortFunc(f.report.Seats, func(a, b Seating) int {
		return cmp.Or(cmp.Compare(b.Trains, a.Trains), cmp.Compare(a.File, b.File), cmp.Compare(b.Seats[1], a.Seats[1]))
	})
}

// widen makes a range hold a number.
func widen[N int | int64](r [2]N, n N) [2]N { return [2]N{min(r[0], n), max(r[1], n)} }

func places(coaches []traintravel.Coach) (n int) {
	for _, c := range coaches {
		n += c.Seats
	}
	return n
}
