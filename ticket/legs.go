package ticket

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/traintravel/traintravel"
)

// chosen are the legs that are meant, by index: all if none is named.
func chosen(t traintravel.Ticket, legs []int) ([]int, error) {
	all := len(t.Booking.Legs)
	if len(legs) == 0 {
		for leg := range all {
			legs = append(legs, leg)
		}
		return legs, nil
	}
	for _, leg := range legs {
		if leg < 0 || leg >= all {
			return nil, fmt.Errorf("the ticket has no leg %d: it has %d", leg, all)
		}
	}
	return legs, nil
}

// trainName is what travellers look for on the board: the number or, of a train
// that has none, who runs it.
func trainName(leg traintravel.Leg) string {
	if leg.Number == "" {
		return leg.Operator
	}
	return leg.Number
}

// extras are what the passenger takes along, in words; empty for nothing.
func extras(b traintravel.Booking) string {
	switch {
	case b.HasBicycle && b.HasDog:
		return "Bicycle and dog"
	case b.HasBicycle:
		return "Bicycle"
	case b.HasDog:
		return "Dog"
	}
	return ""
}

// clock names the clocks that a time was read from, such as CET, UTC+01:00.
func clock(t time.Time) string {
	name, _ := t.Zone()
	offset := "UTC" + t.Format("-07:00")
	if strings.ContainsAny(name, "+-0123456789") || name == "UTC" {
		return offset // a zone without a name of its own
	}
	return name + ", " + offset
}

// sameDay says whether two clocks show the same date.
func sameDay(a, b time.Time) bool {
	return traintravel.DateOf(a) == traintravel.DateOf(b)
}

// duration writes how long a ride takes, such as 8 h 05 min.
func duration(d time.Duration) string {
	minutes := int(d.Round(time.Minute) / time.Minute)
	if minutes < 60 {
		return fmt.Sprintf("%d min", minutes)
	}
	return fmt.Sprintf("%d h %02d min", minutes/60, minutes%60)
}

// oneLine makes a text one line for readers who take other characters than a line
// feed for the end of one, and leaves out what is not text.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= '\t' && r <= '\r', r == '\u0085', unicode.In(r, unicode.Zl, unicode.Zp):
			return ' '
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// operators names each operator of a trip once.
func operators(legs []traintravel.Leg) string {
	var names []string
	for _, leg := range legs {
		if !slices.Contains(names, leg.Operator) {
			names = append(names, leg.Operator)
		}
	}
	return strings.Join(names, ", ")
}
