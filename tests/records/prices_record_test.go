package records_test

import (
	"bytes"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/raptor"
	"github.com/traintravel/traintravel/internal/timetable"
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
	paid := &timetable.Train{Stops: stops, Prices: &traintravel.Prices{Currency: "eur", Amounts: [][]int64{{0, 7, 9}}}}
	flat := &timetable.Train{Stops: stops, Fare: traintravel.Fare{Currency: "eur", Base: 5, PerKm: 1}}
	swiss := &timetable.Train{Stops: stops, Prices: &traintravel.Prices{Currency: "chf", Amounts: [][]int64{{0, 7, 9}}}}
	for _, c := range []struct {
		name string
		legs []timetable.Ride
		want traintravel.Money
		ok   bool
	}{
		{"one ride", []timetable.Ride{{Train: paid, Date: 0, Board: 0, Alight: 2}}, traintravel.Money{Amount: 9, Currency: "eur"}, true},
		{"beside a fare", []timetable.Ride{{Train: paid, Date: 0, Board: 0, Alight: 1}, {Train: flat, Date: 0, Board: 0, Alight: 2}}, traintravel.Money{Amount: 14, Currency: "eur"}, true},
		{"no row", []timetable.Ride{{Train: paid, Date: 0, Board: 1, Alight: 2}}, traintravel.Money{}, false},
		{"a leg without", []timetable.Ride{{Train: flat, Date: 0, Board: 0, Alight: 2}, {Train: paid, Date: 0, Board: 1, Alight: 2}}, traintravel.Money{}, false},
		{"two currencies", []timetable.Ride{{Train: paid, Date: 0, Board: 0, Alight: 1}, {Train: swiss, Date: 0, Board: 0, Alight: 1}}, traintravel.Money{}, false},
	} {
		if got, ok := timetable.FarePrice(c.legs); got != c.want || ok != c.ok {
			t.Errorf("%s: %v, %t; want %v, %t", c.name, got, ok, c.want, c.ok)
		}
	}
}
