package main

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestLater(t *testing.T) {
	t.Parallel()
	at := func(s string) time.Time {
		parsed, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	for _, tt := range []struct{ from, to, want string }{
		{"2026-11-29T07:00:00+01:00", "2026-11-29T14:46:00+01:00", ""},
		{"2026-11-29T20:18:00+01:00", "2026-11-30T08:36:00+01:00", "+1"},
		{"2026-11-29T23:59:00+01:00", "2026-11-30T00:01:00+01:00", "+1"},
		{"2026-11-29T20:00:00+01:00", "2026-12-01T08:00:00+02:00", "+2"},
		{"2026-11-29T23:30:00+01:00", "2026-11-29T23:10:00+00:00", ""}, // midnight has passed there, not here
		{"2026-11-29T00:10:00+02:00", "2026-11-28T23:50:00+01:00", "-1"},
		{"2026-03-28T22:00:00+01:00", "2026-03-29T08:00:00+02:00", "+1"}, // a night of 23 hours
	} {
		if got := later(at(tt.from), at(tt.to)); got != tt.want {
			t.Errorf("%s to %s: %q, want %q", tt.from, tt.to, got, tt.want)
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0 min", 25 * time.Minute: "25 min", time.Hour: "1 h", 466 * time.Minute: "7 h 46 min", 26*time.Hour + time.Minute: "26 h 1 min",
	} {
		if got := duration(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
	for _, tt := range []struct{ amount, currency, want string }{
		{"113.58", "eur", "€113.58"}, {"49.9", "gbp", "£49.90"}, {"50", "eur", "€50"}, {"1234567.05", "CHF", "CHF\u00a01234567.05"}, {"5000", "jpy", "JPY\u00a05000"},
	} {
		if got := money(price{json.Number(tt.amount), tt.currency}); got != tt.want {
			t.Errorf("%s %s is %q, want %q", tt.amount, tt.currency, got, tt.want)
		}
	}
	for typed, want := range map[string][2]int{
		"04/30": {4, 2030}, " 4 / 2030 ": {4, 2030}, "12/00": {12, 2000}, "04-30": {4, 2030}, "04.2030": {4, 2030}, "4 30": {4, 2030},
		"0430": {4, 2030}, "042030": {4, 2030}, "2030-04": {4, 2030}, "2030/4": {4, 2030}, "04\u2009/\u200930": {4, 2030}, "99/30": {99, 2030},
		"": {}, "12": {}, "12/": {}, "x/y": {}, "Apr 30": {4, 2030}, "december 2040": {12, 2040}, "12/4": {}, "12/204": {}, "12/20400": {}, "Foo 30": {}, "04/30/1": {}, "430": {},
	} {
		if m, y := expiry(typed); m != want[0] || y != want[1] {
			t.Errorf("%q is %d and %d, want %v", typed, m, y, want)
		}
	}
	for typed, want := range map[string]string{
		"4242 4242 4242 4242": "4242424242424242", "4242-4242\u20114242.4242": "4242424242424242", "\u00a042\t42 ": "4242", "42x42": "42x42", "": "",
	} {
		if got := digits(typed); got != want {
			t.Errorf("%q is read as %q, want %q", typed, got, want)
		}
	}
	for _, tt := range []struct {
		amounts []string
		want    string
	}{{[]string{"113.58", "113.58", "0.1"}, "227.26"}, {[]string{"50", "49.9"}, "99.9"}, {[]string{"5000"}, "5000"}, {[]string{"9007199254740993.01", "0.01"}, "9007199254740993.02"}} {
		var prices []price
		for _, a := range tt.amounts {
			prices = append(prices, price{json.Number(a), "eur"})
		}
		if got := sum(prices); got == nil || got.Amount.String() != tt.want {
			t.Errorf("%v add up to %v, want %s", tt.amounts, got, tt.want)
		}
	}
	if got := sum([]price{{"1", "eur"}, {"1", "gbp"}}); got != nil || sum(nil) != nil {
		t.Errorf("two currencies add up to %v", got)
	}
	until := time.Date(2026, 11, 28, 16, 30, 0, 0, time.UTC)
	for zone, want := range map[string]string{
		"Europe/Berlin": "17:30 on Sat 28 November, Here time", "": "16:30 on Sat 28 November (UTC)", "No/Where": "16:30 on Sat 28 November (UTC)",
	} {
		if got := heldTo(until, station{Name: "Here", Timezone: zone}); got != want {
			t.Errorf("in %q a hold ends at %q, want %q", zone, got, want)
		}
	}
}

func TestJourney(t *testing.T) {
	t.Parallel()
	at := func(h, m int) time.Time { return time.Date(2026, 11, 29, h, m, 0, 0, time.UTC) }
	legs := []leg{
		{ride: ride{"a", "b", at(8, 0), at(9, 0), "One"}}, {ride: ride{"b", "c", at(9, 10), at(11, 0), "Two"}}, {ride: ride{"d", "e", at(11, 30), at(12, 0), "Three"}},
	}
	names := map[string]station{"a": {Name: "A"}, "b": {Name: "B"}, "c": {Name: "C"}, "d": {Name: "D"}}
	j := journeyOf(legs, price{}, names)
	var got []string
	for _, s := range j.Stages {
		change := ""
		if s.Walk {
			change = "walk "
		}
		got = append(got, change+s.From+"-"+s.To+" "+s.Wait.String())
	}
	if d := cmp.Diff([]string{"A-B 0s", "B-C 10m0s", "walk D-a station 30m0s"}, got); d != "" {
		t.Error(d)
	}
	if j.Changes() != 2 || j.From != "A" || j.To != "a station" || !j.Arrival.Equal(at(12, 0)) {
		t.Errorf("%+v", j)
	}
	if empty := journeyOf(nil, price{}, nil); len(empty.Stages) != 0 {
		t.Errorf("%+v", empty)
	}
}

func TestShelf(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	s := newShelf[int](time.Minute)
	for i := range mostKept + 1 {
		s.put(string(rune(i)), i, now.Add(time.Duration(i)))
	}
	if _, ok := s.get(string(rune(0)), now); ok || len(s.items) != mostKept {
		t.Errorf("%d are kept, and the oldest: %v", len(s.items), ok)
	}
	if v, ok := s.take(string(rune(1)), now); v != 1 || !ok {
		t.Errorf("take: %d %v", v, ok)
	}
	if _, ok := s.take(string(rune(1)), now); ok {
		t.Error("a thing was taken twice")
	}
	if _, ok := s.get(string(rune(2)), now.Add(2*time.Minute)); ok {
		t.Error("a thing outlives its time")
	}
}
