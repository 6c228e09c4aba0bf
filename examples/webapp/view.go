package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"time"
)

// A journey is what pages show of a trip, or of what a ticket is for.
type journey struct {
	ride
	Price    price
	From, To string
	Stages   []stage
}

// A stage is a ride on one train, and the change before it.
type stage struct {
	leg
	From, To string
	N        int           // counted from 1
	Wait     time.Duration // before it, zero for the first
	Walk     bool          // to where it begins
}

// Between are the stops on the way, if they are known.
func (s stage) Between() []calling {
	if len(s.Calls) < 3 {
		return nil
	}
	return s.Calls[1 : len(s.Calls)-1]
}

// Trains names all trains of a journey, or the operators of those without a number.
func (j journey) Trains() string {
	var names []string
	for _, s := range j.Stages {
		names = append(names, cmp.Or(s.Train, s.Operator))
	}
	return strings.Join(names, " and ")
}

// Changes is the number of changes of trains.
func (j journey) Changes() int { return len(j.Stages) - 1 }

// journeyOf shows legs with the names of their stations.
func journeyOf(legs []leg, p price, names map[string]station) journey {
	j := journey{Price: p}
	for i, l := range legs {
		s := stage{leg: l, N: i + 1}
		s.From = cmp.Or(l.OriginName, names[l.Origin].Name, "a station")
		s.To = cmp.Or(l.DestinationName, names[l.Destination].Name, "a station")
		if i > 0 {
			s.Wait, s.Walk = l.Departure.Sub(legs[i-1].Arrival), l.Origin != legs[i-1].Destination
		}
		j.Stages = append(j.Stages, s)
	}
	if len(legs) > 0 {
		first, last := j.Stages[0], j.Stages[len(legs)-1]
		j.From, j.To = first.From, last.To
		j.ride = ride{first.Origin, last.Destination, first.Departure, last.Arrival, first.Operator}
	}
	return j
}

// ridesOf returns all rides of a trip, for their stations.
func ridesOf(legs []leg) []ride {
	var rides []ride
	for _, l := range legs {
		rides = append(rides, l.ride)
	}
	return rides
}

const (
	clockForm = "15:04"
	dayForm   = "Mon 2 January 2006"
)

// The clock and the day are those of the station: its offset came with the time.
func clock(t time.Time) string { return t.Format(clockForm) }
func day(t time.Time) string   { return t.Format(dayForm) }
func iso(t time.Time) string   { return t.Format(time.RFC3339) }

// longTime formats the time of a payment, which has no station, in UTC.
func longTime(t time.Time) string { return t.UTC().Format("2 January 2006 at 15:04") + " (UTC)" }

// longDay and shortDay write a date of a search as people read it.
func longDay(date string) string  { return dayAs(dayForm, date) }
func shortDay(date string) string { return dayAs("Mon 2", date) }

func dayAs(form, date string) string {
	t, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return date
	}
	return t.Format(form)
}

// later returns the number of days from the date of one time to that of another: +1 for a
// night train, empty for the same date.
func later(from, to time.Time) string {
	midnight := func(t time.Time) time.Time { return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC) }
	if n := int(midnight(to).Sub(midnight(from)).Hours() / 24); n != 0 {
		return fmt.Sprintf("%+d", n)
	}
	return ""
}

func duration(d time.Duration) string {
	h, m := int(d.Hours()), int(d.Minutes())%60
	switch {
	case h == 0:
		return fmt.Sprintf("%d min", m)
	case m == 0:
		return fmt.Sprintf("%d h", h)
	}
	return fmt.Sprintf("%d h %d min", h, m)
}

var signs = map[string]string{"eur": "€", "gbp": "£", "usd": "$", "try": "₺"}

// sum adds up prices exactly; nil if they are in different currencies.
func sum(prices []price) *price {
	total, decimals := new(big.Rat), 0
	for _, p := range prices {
		amount, ok := new(big.Rat).SetString(p.Amount.String())
		if !ok || p.Currency != prices[0].Currency {
			return nil
		}
		total.Add(total, amount)
		_, cents, _ := strings.Cut(p.Amount.String(), ".")
		decimals = max(decimals, len(cents))
	}
	if len(prices) == 0 {
		return nil
	}
	return &price{json.Number(total.FloatString(decimals)), prices[0].Currency}
}

// money writes a price as people do, from the digits that the API sent.
func money(p price) string {
	amount := p.Amount.String()
	if whole, cents, ok := strings.Cut(amount, "."); ok && len(cents) == 1 {
		amount = whole + "." + cents + "0"
	}
	currency := strings.ToLower(p.Currency)
	if sign := signs[currency]; sign != "" {
		return sign + amount
	}
	return strings.ToUpper(currency) + "\u00a0" + amount
}
