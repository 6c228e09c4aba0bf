package timetable

import (
	"math"
	"slices"
	"testing"

	"github.com/traintravel/traintravel/internal/railtest"
	"github.com/traintravel/traintravel/internal/raptor"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
)

func TestFarePrice(t *testing.T) {
	t.Parallel()
	type leg struct {
		fare   schedule.Fare
		metres int32
	}
	for _, c := range []struct {
		name string
		legs []leg
		want rail.Money
		ok   bool
	}{
		{"base and kilometres", []leg{{schedule.Fare{Currency: "eur", Base: 500, PerKm: 12}, 100_000}}, rail.Money{Amount: 1700, Currency: "eur"}, true},
		{"half a cent is a cent", []leg{{schedule.Fare{Currency: "eur", Base: 0, PerKm: 1}, 500}}, rail.Money{Amount: 1, Currency: "eur"}, true},
		{"less is none", []leg{{schedule.Fare{Currency: "eur", Base: 0, PerKm: 1}, 499}}, rail.Money{Amount: 0, Currency: "eur"}, true},
		{"rounded at the end, not by the kilometre", []leg{{schedule.Fare{Currency: "eur", Base: 0, PerKm: 7}, 1_500}}, rail.Money{Amount: 11, Currency: "eur"}, true},
		{"no distance", []leg{{schedule.Fare{Currency: "eur", Base: 500, PerKm: 12}, 0}}, rail.Money{Amount: 500, Currency: "eur"}, true},
		{"legs add up", []leg{{schedule.Fare{Currency: "eur", Base: 500, PerKm: 12}, 100_000}, {schedule.Fare{Currency: "eur", Base: 100, PerKm: 1}, 500}}, rail.Money{Amount: 1801, Currency: "eur"}, true},
		{"the greatest", []leg{{schedule.Fare{Currency: "eur", Base: schedule.MaxFare, PerKm: schedule.MaxPerKm}, math.MaxInt32}}, rail.Money{Amount: schedule.MaxFare + 2_147_483_647_000_000, Currency: "eur"}, true},
		{"no fare", []leg{{schedule.Fare{}, 100_000}}, rail.Money{}, false},
		{"a leg without a fare", []leg{{schedule.Fare{Currency: "eur", Base: 500, PerKm: 12}, 1}, {schedule.Fare{}, 1}}, rail.Money{}, false},
		{"the first without", []leg{{schedule.Fare{}, 1}, {schedule.Fare{Currency: "eur", Base: 500, PerKm: 12}, 1}}, rail.Money{}, false},
		{"two currencies", []leg{{schedule.Fare{Currency: "eur", Base: 500, PerKm: 12}, 1}, {schedule.Fare{Currency: "chf", Base: 500, PerKm: 12}, 1}}, rail.Money{}, false},
	} {
		var rides []Ride
		for _, l := range c.legs {
			rides = append(rides, Ride{Train: &Train{Fare: l.fare, Stops: []raptor.Stop{{Metres: 0}, {Metres: l.metres}}}, Alight: 1})
		}
		if got, ok := FarePrice(rides); got != c.want || ok != c.ok {
			t.Errorf("%s: %v, %t; want %v, %t", c.name, got, ok, c.want, c.ok)
		}
	}
}

// Whatever Check lets through can be paid.
func TestGreatestFareCanBePaid(t *testing.T) {
	t.Parallel()
	longest := Ride{Train: &Train{Fare: schedule.Fare{Currency: "eur", Base: schedule.MaxFare, PerKm: schedule.MaxPerKm}, Stops: []raptor.Stop{{}, {Metres: math.MaxInt32}}}, Alight: 1}
	rides := slices.Repeat([]Ride{longest}, rail.MaxLegs)
	if price, ok := FarePrice(rides); !ok || price.Amount > rail.MaxPayment {
		t.Errorf("%d legs cost %v, more than the %d that can be paid", rail.MaxLegs, price, int64(rail.MaxPayment))
	}
	for _, currency := range []string{"jpy", "eur", "kwd", "clf"} { // with 0, 2, 3 and 4 decimals
		for _, amount := range []int64{1, schedule.MaxFare, 1e12 + 1, rail.MaxPayment} {
			m := rail.Money{Amount: amount, Currency: currency}
			if again, err := rail.ParseMoney(m.Decimal(), currency); err != nil || again != m {
				t.Errorf("%v is sold, and offered it is %v, %v", m, again, err)
			}
		}
	}
}

// A fare counts the metres between the calls of the leg, not from the first.
func TestFareOfAPartOfTheWay(t *testing.T) {
	t.Parallel()
	tr := railtest.TrainOf("1", "Europe/Berlin", railtest.AllYear(), "A 8:00", "B 9:00", "C 10:00", "D 11:00") // 50 km apart
	tr.Fare = schedule.Fare{Currency: "eur", Base: 0, PerKm: 10}
	sn := compiled(t, railtest.NetworkOf(tr))
	if got, _ := FarePrice([]Ride{{&sn.Trains[0], 0, 1, 2}}); got != (rail.Money{Amount: 500, Currency: "eur"}) {
		t.Errorf("50 km at 10 cents cost %v", got)
	}
}

// Without metres the way is as the crow flies, from call to call.
func TestDistancesAreFilledIn(t *testing.T) {
	t.Parallel()
	tr := railtest.TrainOf("1", "Europe/Berlin", railtest.AllYear(), "A 8:00", "B 9:00", "A 10:00")
	for i := range tr.Calls {
		tr.Calls[i].Metres = 0
	}
	sn := compiled(t, railtest.NetworkOf(tr)) // B is a degree north of A: 111.2 km
	calls := sn.Trains[0].Stops
	if m := calls[1].Metres; m < 111_000 || m > 111_400 {
		t.Errorf("a degree has %d metres", m)
	}
	if back := calls[2].Metres - calls[1].Metres; back < calls[1].Metres-1 || back > calls[1].Metres+1 {
		t.Errorf("the way there has %d metres, the way back %d", calls[1].Metres, back)
	}
}
