package gtfs

import (
	"cmp"
	"slices"

	"github.com/traintravel/traintravel"
)

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
