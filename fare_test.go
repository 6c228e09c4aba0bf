package traintravel

import (
	"math"
	"slices"
	"testing"

	"github.com/traintravel/traintravel/internal/raptor"
)

func TestFarePrice(t *testing.T) {
	t.Parallel()
	type leg struct {
		fare   Fare
		metres int32
	}
	for _, c := range []struct {
		name string
		legs []leg
		want Money
		ok   bool
	}{
		{"base and kilometres", []leg{{Fare{"eur", 500, 12}, 100_000}}, Money{1700, "eur"}, true},
		{"half a cent is a cent", []leg{{Fare{"eur", 0, 1}, 500}}, Money{1, "eur"}, true},
		{"less is none", []leg{{Fare{"eur", 0, 1}, 499}}, Money{0, "eur"}, true},
		{"rounded at the end, not by the kilometre", []leg{{Fare{"eur", 0, 7}, 1_500}}, Money{11, "eur"}, true},
		{"no distance", []leg{{Fare{"eur", 500, 12}, 0}}, Money{500, "eur"}, true},
		{"legs add up", []leg{{Fare{"eur", 500, 12}, 100_000}, {Fare{"eur", 100, 1}, 500}}, Money{1801, "eur"}, true},
		{"the greatest", []leg{{Fare{"eur", maxFare, maxPerKm}, math.MaxInt32}}, Money{maxFare + 2_147_483_647_000_000, "eur"}, true},
		{"no fare", []leg{{Fare{}, 100_000}}, Money{}, false},
		{"a leg without a fare", []leg{{Fare{"eur", 500, 12}, 1}, {Fare{}, 1}}, Money{}, false},
		{"the first without", []leg{{Fare{}, 1}, {Fare{"eur", 500, 12}, 1}}, Money{}, false},
		{"two currencies", []leg{{Fare{"eur", 500, 12}, 1}, {Fare{"chf", 500, 12}, 1}}, Money{}, false},
	} {
		var rides []ride
		for _, l := range c.legs {
			rides = append(rides, ride{train: &train{fare: l.fare, stops: []raptor.Stop{{Metres: 0}, {Metres: l.metres}}}, alight: 1})
		}
		if got, ok := farePrice(rides); got != c.want || ok != c.ok {
			t.Errorf("%s: %v, %t; want %v, %t", c.name, got, ok, c.want, c.ok)
		}
	}
}

// Whatever Check lets through can be paid.
func TestGreatestFareCanBePaid(t *testing.T) {
	t.Parallel()
	longest := ride{train: &train{fare: Fare{"eur", maxFare, maxPerKm}, stops: []raptor.Stop{{}, {Metres: math.MaxInt32}}}, alight: 1}
	rides := slices.Repeat([]ride{longest}, maxLegs)
	if price, ok := farePrice(rides); !ok || price.Amount > maxPayment {
		t.Errorf("%d legs cost %v, more than the %d that can be paid", maxLegs, price, int64(maxPayment))
	}
	for _, currency := range []string{"jpy", "eur", "kwd", "clf"} { // with 0, 2, 3 and 4 decimals
		for _, amount := range []int64{1, maxFare, 1e12 + 1, maxPayment} {
			m := Money{amount, currency}
			if again, err := ParseMoney(m.Decimal(), currency); err != nil || again != m {
				t.Errorf("%v is sold, and offered it is %v, %v", m, again, err)
			}
		}
	}
}

// A fare counts the metres between the calls of the leg, not from the first.
func TestFareOfAPartOfTheWay(t *testing.T) {
	t.Parallel()
	tr := trainOf("1", "Europe/Berlin", allYear, "A 8:00", "B 9:00", "C 10:00", "D 11:00") // 50 km apart
	tr.Fare = Fare{"eur", 0, 10}
	sn := compiled(t, networkOf(tr))
	if got, _ := farePrice([]ride{{&sn.trains[0], 0, 1, 2}}); got != (Money{500, "eur"}) {
		t.Errorf("50 km at 10 cents cost %v", got)
	}
}

// Without metres the way is as the crow flies, from call to call.
func TestDistancesAreFilledIn(t *testing.T) {
	t.Parallel()
	tr := trainOf("1", "Europe/Berlin", allYear, "A 8:00", "B 9:00", "A 10:00")
	for i := range tr.Calls {
		tr.Calls[i].Metres = 0
	}
	sn := compiled(t, networkOf(tr)) // B is a degree north of A: 111.2 km
	calls := sn.trains[0].stops
	if m := calls[1].Metres; m < 111_000 || m > 111_400 {
		t.Errorf("a degree has %d metres", m)
	}
	if back := calls[2].Metres - calls[1].Metres; back < calls[1].Metres-1 || back > calls[1].Metres+1 {
		t.Errorf("the way there has %d metres, the way back %d", calls[1].Metres, back)
	}
}
