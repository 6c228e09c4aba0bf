package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
)

// The report says by which prices and with which seats the trains of a feed will be sold, and
// the source of each: the feed, a flag or a default.

// saleFlags are those that say what the feed does not.
var saleFlags = [...]string{"currency", "fare-base", "fare-per-km", "coaches"}

// given is the source of each flag of sales that is set.
func (p *program) given(f *pflag.FlagSet) map[string]string {
	given := map[string]string{}
	for _, name := range saleFlags {
		if !f.Changed(name) {
			continue
		}
		given[name] = "--" + name
		if source := p.sources[name]; source != "" {
			given[name] = source
		}
	}
	return given
}

// from is the source of the value of a flag.
func (o *feedOptions) from(flag string) string {
	if source, ok := o.Given[flag]; ok {
		return source
	}
	return "default"
}

// sales lists the prices and seats of a feed.
func sales(r gtfs.Report, o feedOptions) (out []string) {
	for _, p := range r.Prices {
		out = append(out, fmt.Sprintf("prices of %s: %s", howMany(p.Trains, "train", "trains"), price(p, o)))
	}
	for _, s := range r.Seats {
		where := "feed, " + s.File
		if s.File == "" {
			where = o.from("coaches")
		}
		seats := "unreserved"
		if s.Seats[1] > 0 {
			seats = span(fmt.Sprint(s.Seats[0]), fmt.Sprint(s.Seats[1]))
		}
		out = append(out, fmt.Sprintf("seats of %s: %s (%s)", howMany(s.Trains, "train", "trains"), seats, where))
	}
	return out
}

// price is a price and its currency, with their sources.
func price(p gtfs.Pricing, o feedOptions) string {
	currency := fmt.Sprintf("currency %s (%s)", p.Currency, o.from("currency"))
	if p.OwnCurrency {
		currency = fmt.Sprintf("currency %s (feed, %s)", p.Currency, p.File)
	}
	base, perKm := o.from("fare-base"), o.from("fare-per-km")
	if p.File != "" {
		base, perKm = "feed, "+p.File, "feed, "+p.File
	}
	switch {
	case p.Currency == "":
		return fmt.Sprintf("none, not for sale (%s)", base)
	case p.Zones:
		return fmt.Sprintf("by zones (%s), %s", base, currency)
	case p.Base[1] == 0 && p.PerKm[1] == 0:
		return fmt.Sprintf("0 (%s), not for sale", base)
	case p.File != "" && p.PerKm[1] == 0:
		return fmt.Sprintf("%s a ride (%s), %s", amounts(p.Base, p.Currency), base, currency)
	}
	return fmt.Sprintf("%s a ride (%s) and %s a kilometre (%s), %s", amounts(p.Base, p.Currency), base, amounts(p.PerKm, p.Currency), perKm, currency)
}

func amounts(r [2]int64, currency string) string {
	amount := func(n int64) string {
		return strings.TrimSuffix(traintravel.Money{Amount: n, Currency: currency}.String(), " "+currency)
	}
	return span(amount(r[0]), amount(r[1]))
}

// span is a range, or the one value that it has.
func span(least, most string) string {
	if least == most {
		return least
	}
	return least + " to " + most
}
