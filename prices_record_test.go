package traintravel_test

import (
	"bytes"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/traintravel/traintravel"

	"github.com/traintravel/traintravel/internal/raptor"
	xtimetable "github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/internal/trains"
	"github.com/traintravel/traintravel/schedule"
)

// pricedTimetable is the sample with prices, which two trains share.
func pricedTimetable() (*traintravel.Timetable, []trains.Numbering) {
	tt, ids := sampleTimetable()
	shared := &traintravel.Prices{Currency: "chf", Amounts: [][]int64{{0, schedule.MaxFare}}}
	for i := range tt.Trains {
		tt.Trains[i].Fare, tt.Trains[i].Prices = traintravel.Fare{}, shared
	}
	tt.Trains[1].Prices = &traintravel.Prices{Currency: "eur", Amounts: [][]int64{{}, {0}}}
	return tt, ids
}

// The record in testdata/records/prices.3.hex was written by version 3 of a
// timetable's.
func TestPricesAreReadAndDamageIsTold(t *testing.T) {
	t.Parallel()
	rewrite := func(b []byte) ([]byte, error) {
		tt, ids, err := trains.DecodeNumbered(b)
		if err != nil {
			return nil, err
		}
		return trains.EncodeNumbered(tt, ids), nil
	}
	sample := trains.EncodeNumbered(pricedTimetable())
	text, err := os.ReadFile("testdata/records/prices.3.hex")
	if err != nil {
		t.Fatalf("%v; it would hold\n%x", err, sample)
	}
	golden, err := hex.DecodeString(strings.Join(strings.Fields(string(text)), ""))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := rewrite(golden); err != nil || !bytes.Equal(again, sample) {
		t.Errorf("%v: is read as\n%x, want\n%x", err, again, sample)
	}
	for n := range sample {
		if _, err := rewrite(sample[:n]); err == nil {
			t.Errorf("cut short after %d bytes, it is read", n)
		}
		for _, x := range []byte{1, 0x80, 0xff} { // which must not panic
			b := bytes.Clone(sample)
			b[n] ^= x
			_, _ = rewrite(b)
		}
	}
	at := bytes.Index(sample, []byte("\x01\x03chf"))
	if at < 0 {
		t.Fatalf("the prices are elsewhere: % x", sample)
	}
	ahead := bytes.Clone(sample)
	ahead[at] = 2 // the second before the first
	if _, err := rewrite(ahead); err == nil {
		t.Error("prices that were never written are read")
	}
}

func TestPricesInFares(t *testing.T) {
	t.Parallel()
	stops := []raptor.Stop{{}, {Metres: 1000}, {Metres: 2000}}
	paid := &xtimetable.Train{Stops: stops, Prices: &traintravel.Prices{Currency: "eur", Amounts: [][]int64{{0, 7, 9}}}}
	flat := &xtimetable.Train{Stops: stops, Fare: traintravel.Fare{Currency: "eur", Base: 5, PerKm: 1}}
	swiss := &xtimetable.Train{Stops: stops, Prices: &traintravel.Prices{Currency: "chf", Amounts: [][]int64{{0, 7, 9}}}}
	for _, c := range []struct {
		name string
		legs []xtimetable.Ride
		want traintravel.Money
		ok   bool
	}{
		{"one ride", []xtimetable.Ride{{Train: paid, Date: 0, Board: 0, Alight: 2}}, traintravel.Money{Amount: 9, Currency: "eur"}, true},
		{"beside a fare", []xtimetable.Ride{{Train: paid, Date: 0, Board: 0, Alight: 1}, {Train: flat, Date: 0, Board: 0, Alight: 2}}, traintravel.Money{Amount: 14, Currency: "eur"}, true},
		{"no row", []xtimetable.Ride{{Train: paid, Date: 0, Board: 1, Alight: 2}}, traintravel.Money{}, false},
		{"a leg without", []xtimetable.Ride{{Train: flat, Date: 0, Board: 0, Alight: 2}, {Train: paid, Date: 0, Board: 1, Alight: 2}}, traintravel.Money{}, false},
		{"two currencies", []xtimetable.Ride{{Train: paid, Date: 0, Board: 0, Alight: 1}, {Train: swiss, Date: 0, Board: 0, Alight: 1}}, traintravel.Money{}, false},
	} {
		if got, ok := xtimetable.FarePrice(c.legs); got != c.want || ok != c.ok {
			t.Errorf("%s: %v, %t; want %v, %t", c.name, got, ok, c.want, c.ok)
		}
	}
}

func TestCheckPrices(t *testing.T) {
	t.Parallel()
	amounts := func(rows ...[]int64) *traintravel.Prices { return &traintravel.Prices{Currency: "eur", Amounts: rows} }
	for _, c := range []struct {
		name   string
		prices *traintravel.Prices
		fare   traintravel.Fare
		want   []string // the beginnings of what is said
	}{
		{"none at all", amounts(), traintravel.Fare{}, nil},
		{"short rows", amounts([]int64{0, 1}, nil), traintravel.Fare{}, nil},
		{"the greatest", amounts([]int64{0, schedule.MaxFare, schedule.MaxFare}, []int64{0, 0, schedule.MaxFare}, []int64{0, 0, 0}), traintravel.Fare{}, nil},
		{"beside a fare", amounts(), traintravel.Fare{Currency: "eur", Base: 1}, []string{"trains[0].fare: stands beside prices", "trains[1].fare: stands beside prices"}},
		{"no currency", &traintravel.Prices{}, traintravel.Fare{}, []string{`trains[0].prices.currency: "" is no currency code`}},
		{"too many rows", amounts(nil, nil, nil, nil), traintravel.Fare{}, []string{"trains[0].prices.amounts: has 4 entries for 3 calls"}},
		{"too long a row", amounts(nil, []int64{0, 0, 0, 1}), traintravel.Fare{}, []string{"trains[0].prices.amounts[1]: has 4 entries for 3 calls"}},
		{"below zero", amounts([]int64{0, 0, -1}), traintravel.Fare{}, []string{"trains[0].prices.amounts[0][2]: is negative"}},
		{"too high", amounts(nil, []int64{0, 0, schedule.MaxFare + 1}), traintravel.Fare{}, []string{"trains[0].prices.amounts[1][2]: is negative or absurdly high"}},
		{"from a call to itself", amounts([]int64{1}), traintravel.Fare{}, []string{"trains[0].prices.amounts[0][0]: is the price of a ride that ends"}},
		{"backwards", amounts(nil, []int64{1}), traintravel.Fare{}, []string{"trains[0].prices.amounts[1][0]: is the price of a ride that ends"}},
	} {
		tt := sound()
		tt.Trains = append(tt.Trains, tt.Trains[0])
		for i := range tt.Trains {
			tt.Trains[i].Prices, tt.Trains[i].Fare = c.prices, c.fare
		}
		got := complaints(t, tt)
		ok := len(got) == len(c.want)
		for i := range got {
			ok = ok && strings.HasPrefix(got[i], c.want[i])
		}
		if !ok {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	tt := sound()
	tt.Trains = append(tt.Trains, tt.Trains[0])
	tt.Trains[0].Fare, tt.Trains[1].Fare = traintravel.Fare{}, traintravel.Fare{}
	shared := amounts([]int64{0, 1, 1})
	tt.Trains[0].Prices, tt.Trains[1].Prices = shared, shared
	tt.Trains[1].Calls = tt.Trains[1].Calls[:2] // for which they are too long
	if got := complaints(t, tt); len(got) != 1 || !strings.HasPrefix(got[0], "trains[1].prices.amounts[0]: has 3") {
		t.Errorf("shared by a shorter train: %q", got)
	}
}
