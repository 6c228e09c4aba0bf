package schedule_test

import (
	"strings"
	"testing"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/schedule"
)

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
		{"beside a fare", amounts(), traintravel.Fare{Currency: "eur", Base: 1}, []string{"trains[0].fare: is set, but prices replace it", "trains[1].fare: is set, but prices replace it"}},
		{"no currency", &traintravel.Prices{}, traintravel.Fare{}, []string{`trains[0].prices.currency: invalid currency ""`}},
		{"too many rows", amounts(nil, nil, nil, nil), traintravel.Fare{}, []string{"trains[0].prices.amounts: has 4 entries, but the train has only 3 calls"}},
		{"too long a row", amounts(nil, []int64{0, 0, 0, 1}), traintravel.Fare{}, []string{"trains[0].prices.amounts[1]: has 4 entries, but the train has only 3 calls"}},
		{"below zero", amounts([]int64{0, 0, -1}), traintravel.Fare{}, []string{"trains[0].prices.amounts[0][2]: invalid price -1"}},
		{"too high", amounts(nil, []int64{0, 0, schedule.MaxFare + 1}), traintravel.Fare{}, []string{"trains[0].prices.amounts[1][2]: invalid price 1000000000001"}},
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
