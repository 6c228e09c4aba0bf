package records_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/internal/railtest"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/seats"
	"github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/internal/trains"
	"github.com/traintravel/traintravel/internal/tz"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
	"pgregory.net/rapid"
)

func checkRecord[T any](t *rapid.T, want, got T, err error, opts ...cmp.Option) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v: %+v", err, want)
	}
	if diff := cmp.Diff(want, got, append(opts, railtest.SameInZone(), cmpopts.EquateEmpty())...); diff != "" {
		t.Fatal("-want +got\n" + diff)
	}
}

func TestBookingRecord(t *testing.T) {
	t.Parallel()
	z := &tz.Zones{}
	rapid.Check(t, func(t *rapid.T) {
		b := traintravel.Booking{
			ID: railtest.DrawID(t), TripID: railtest.DrawID(t), Owner: traintravel.Subject{Issuer: railtest.DrawText(t), ID: railtest.DrawText(t)}, Client: railtest.DrawText(t), PassengerName: railtest.DrawText(t),
			HasBicycle: rapid.Bool().Draw(t, "bicycle"), HasDog: rapid.Bool().Draw(t, "dog"), Status: traintravel.BookingStatus(rapid.Byte().Draw(t, "status")),
			Created: railtest.DrawTime(t), Changed: railtest.DrawTime(t), Confirmed: railtest.DrawTime(t), ByOperator: rapid.Bool().Draw(t, "by operator"), Expires: railtest.DrawTime(t), Price: railtest.DrawMoney(t),
			LatestPayment: railtest.DrawID(t), OpenPayment: railtest.DrawID(t), PaidBy: railtest.DrawID(t), PaymentCount: rapid.IntRange(0, 1<<62).Draw(t, "payments"),
			Reference: railtest.DrawText(t), GivenBack: rapid.Bool().Draw(t, "given back"),
		}
		if b.OpenPayment != uuid.Nil {
			b.PinnedUntil = railtest.DrawTime(t)
		}
		for range rapid.IntRange(1, rail.MaxLegs).Draw(t, "legs") {
			b.Legs = append(b.Legs, traintravel.Leg{
				Run: traintravel.RunID{Train: railtest.DrawID(t), Date: traintravel.Date(rapid.Int32().Draw(t, "date"))}, Operator: railtest.DrawText(t), Number: railtest.DrawText(t),
				Origin: railtest.DrawStop(t), Destination: railtest.DrawStop(t), Coach: railtest.DrawText(t), Seat: rapid.IntRange(0, 1<<62).Draw(t, "seat"),
				Board: rapid.IntRange(0, traintravel.MaxCalls-1).Draw(t, "board"), Alight: rapid.IntRange(0, traintravel.MaxCalls-1).Draw(t, "alight"),
			})
		}
		b.CancelledLeg = rapid.IntRange(0, len(b.Legs)).Draw(t, "cancelled leg")
		got, err := records.DecodeBooking(records.EncodeBooking(&b), z)
		checkRecord(t, b, got, err)
	})
}

func TestPaymentRecord(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		year, month := rapid.IntRange(0, 1<<62).Draw(t, "year"), rapid.IntRange(0, 12).Draw(t, "month")
		source := rapid.SampledFrom([]traintravel.Source{
			{},
			{Card: &traintravel.Card{
				Name: railtest.DrawText(t), Number: traintravel.Secret(railtest.DrawText(t)), CVC: "123", ExpMonth: month, ExpYear: year,
				Address1: railtest.DrawText(t), Address2: railtest.DrawText(t), City: railtest.DrawText(t), Country: railtest.DrawText(t), PostCode: railtest.DrawText(t),
			}},
			{Bank: &traintravel.BankAccount{
				Name: railtest.DrawText(t), Number: traintravel.Secret(railtest.DrawText(t)), SortCode: railtest.DrawText(t), AccountType: traintravel.AccountType(railtest.DrawText(t)),
				BankName: railtest.DrawText(t), Country: railtest.DrawText(t),
			}},
		}).Draw(t, "source")
		p := records.Payment{
			Payment: traintravel.Payment{
				ID: railtest.DrawID(t), Booking: railtest.DrawID(t), Amount: railtest.DrawMoney(t), Source: source, Status: traintravel.PaymentStatus(railtest.DrawText(t)),
				Failure: traintravel.Failure{Code: railtest.DrawText(t), Message: railtest.DrawText(t)}, Created: railtest.DrawTime(t), Settled: railtest.DrawTime(t), RefundOf: railtest.DrawID(t),
				Resolution: traintravel.Resolution(railtest.DrawText(t)), LastError: railtest.DrawText(t),
				Settlements: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) traintravel.Settlement {
					return traintravel.Settlement{As: traintravel.Verdict(railtest.DrawText(t)), By: railtest.DrawText(t), Reason: railtest.DrawText(t), At: railtest.DrawTime(t)}
				}), 0, 3).Draw(t, "settlements"),
			},
			Charging: rapid.Bool().Draw(t, "charging"), Deadline: railtest.DrawTime(t), Next: railtest.DrawTime(t), Tries: rapid.IntRange(0, 1<<62).Draw(t, "tries"), Order: rapid.IntRange(0, 1<<62).Draw(t, "order"),
		}
		got, err := records.DecodePayment(p.Encode())
		p.Source = p.Source.Masked()
		checkRecord(t, p, got, err, cmp.AllowUnexported(records.Payment{}))
	})
}

func TestSmallRecords(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q := records.Queued{Kind: traintravel.EventType(railtest.DrawText(t)), Booking: railtest.DrawID(t), Payment: railtest.DrawID(t), Created: railtest.DrawTime(t), Failures: rapid.IntRange(0, 1<<62).Draw(t, "failures"),
			Status: traintravel.BookingStatus(rapid.Uint8().Draw(t, "status")), Copied: traintravel.Failure{}} // which is read of version 2 alone
		gotQueued, err := records.DecodeQueued(q.Encode())
		checkRecord(t, q, gotQueued, err, cmp.AllowUnexported(records.Queued{}))

		r := records.Remembered{Answer: records.Answer{About: railtest.DrawID(t), Payment: railtest.DrawID(t), Sealed: railtest.DrawText(t)}, Created: railtest.DrawTime(t)}
		copy(r.Mark[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "mark"))
		gotRemembered, err := records.DecodeRemembered(r.Encode())
		checkRecord(t, r, gotRemembered, err, cmp.AllowUnexported(records.Remembered{}, records.Answer{}))

		c := timetable.Current{
			Generation: railtest.DrawID(t), Timetable: rapid.IntRange(0, 1<<62).Draw(t, "timetable"),
			Registry: rapid.IntRange(0, 1<<62).Draw(t, "registry"), Moves: rapid.IntRange(0, 1<<62).Draw(t, "moves"),
		}
		for i := range c.Loads {
			c.Loads[i] = traintravel.Date(rapid.Int32().Draw(t, "load"))
		}
		gotCurrent, err := timetable.DecodeCurrent(c.Encode())
		checkRecord(t, c, gotCurrent, err, cmp.AllowUnexported(timetable.Current{}))

		g := trains.Registry{High: rapid.Uint32().Draw(t, "high")}
		for range rapid.IntRange(0, 3).Draw(t, "entries") {
			g.Entries = append(g.Entries, trains.Registered{
				Number: rapid.Uint32().Draw(t, "number"), Base: railtest.DrawID(t), Twin: rapid.IntRange(0, 1<<62).Draw(t, "twin"),
				List: rapid.Uint64().Draw(t, "list"), Terminus: rapid.Uint64().Draw(t, "terminus"), Source: rapid.Uint64().Draw(t, "source"),
				Since: traintravel.Date(rapid.Int32().Draw(t, "since")), Last: traintravel.Date(rapid.Int32().Draw(t, "last")),
			})
		}
		gotRegistry, err := trains.DecodeRegistry(g.Encode())
		checkRecord(t, g, gotRegistry, err, cmp.AllowUnexported(trains.Registry{}, trains.Registered{}))
	})
	if c, err := timetable.DecodeCurrent(nil); c != (timetable.Current{}) || err != nil {
		t.Errorf("no timetable yet: %+v, %v", c, err)
	}
}

func TestInventoryRecord(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := &seats.Inventory{Revision: rapid.Uint64().Draw(t, "revision"), List: rapid.Uint64().Draw(t, "list")}
		v.Calls = rapid.SliceOfN(rapid.Uint64(), 2, traintravel.MaxCalls).Draw(t, "calls")
		for range rapid.IntRange(0, 3).Draw(t, "coaches") {
			v.Coaches = append(v.Coaches, traintravel.Coach{Number: railtest.DrawText(t), Seats: rapid.IntRange(1, schedule.MaxPlaces).Draw(t, "seats")})
		}
		lists := rapid.SampledFrom([]uint64{0, v.List, 1, 2, 3})
		someone := func(calls int) seats.Taken {
			from := rapid.IntRange(0, calls-2).Draw(t, "from")
			return seats.Taken{
				Booking: railtest.DrawID(t), Place: rapid.Int32().Draw(t, "place"), Hook: rapid.Bool().Draw(t, "hook"), Until: rapid.Int64().Draw(t, "until"),
				From: uint8(from), To: uint8(rapid.IntRange(from+1, calls-1).Draw(t, "to")), Sold: lists.Draw(t, "sold"),
			}
		}
		for range rapid.IntRange(0, 5).Draw(t, "taken") {
			v.Taken = append(v.Taken, someone(len(v.Calls)))
		}
		for range rapid.IntRange(0, 3).Draw(t, "stranded") {
			v.Stranded = append(v.Stranded, seats.StrandedPlace{
				Taken: someone(traintravel.MaxCalls), On: rapid.SampledFrom([]uint64{0, v.List ^ 1}).Draw(t, "on"), Board: rapid.Uint64().Draw(t, "board"), Alight: rapid.Uint64().Draw(t, "alight"),
				Twice: rapid.Bool().Draw(t, "twice"), Coach: railtest.DrawText(t), Seat: rapid.IntRange(0, 1<<62).Draw(t, "seat"),
			})
		}
		got, err := seats.DecodeInventory(v.Encode())
		checkRecord(t, v, got, err, cmp.AllowUnexported(seats.Inventory{}, seats.Taken{}, seats.StrandedPlace{}))
	})
}

func TestTimetableRecord(t *testing.T) {
	t.Parallel()
	day := rapid.Map(rapid.Int32(), func(n int32) traintravel.Date { return traintravel.Date(n) })
	clock := rapid.Map(rapid.Int32(), func(n int32) traintravel.ServiceTime { return traintravel.ServiceTime(n) })
	rapid.Check(t, func(t *rapid.T) {
		tt := &traintravel.Timetable{Stations: []traintravel.Station{{ID: uuid.UUID{1}}}}
		for i := range rapid.IntRange(0, 3).Draw(t, "stations") {
			tt.Stations = append(tt.Stations, traintravel.Station{
				ID: uuid.UUID{2, byte(i)}, OtherIDs: rapid.SampledFrom([][]uuid.UUID{nil, {{3, byte(i)}}, {{4, byte(i)}, {5, byte(i)}}}).Draw(t, "other IDs"), Name: railtest.DrawText(t), Address: railtest.DrawText(t), OtherNames: rapid.SliceOfN(rapid.String(), 0, 2).Draw(t, "other names"), Country: railtest.DrawText(t), Zone: railtest.DrawText(t),
				Latitude: rapid.Float64().Draw(t, "lat"), Longitude: rapid.Float64().Draw(t, "lon"),
			})
		}
		e := &codec.Encoder{}
		known := slices.SortedFunc(maps.Keys(schedule.AddStations(e, tt.Stations)), func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
		calendars := []*traintravel.Calendar{{}, {
			Weekdays: [7]bool{6: true}, From: day.Draw(t, "from"), To: day.Draw(t, "to"),
			Added: rapid.SliceOfN(day, 0, 3).Draw(t, "added"), Removed: rapid.SliceOfN(day, 0, 3).Draw(t, "removed"),
		}}
		prices := []*traintravel.Prices{nil, {}, {Currency: railtest.DrawText(t), Amounts: [][]int64{{rapid.Int64().Draw(t, "price")}, {}, {1, 2}}}}
		var ids []trains.Numbering
		for range rapid.IntRange(0, 4).Draw(t, "trains") {
			tr := traintravel.Train{
				Feed: railtest.DrawText(t), ID: railtest.DrawText(t), Operator: railtest.DrawText(t), Number: railtest.DrawText(t), Zone: railtest.DrawText(t),
				Days: rapid.SampledFrom(calendars).Draw(t, "days"), Hooks: rapid.IntRange(0, 1<<62).Draw(t, "hooks"),
				Bicycles: traintravel.Allowance(rapid.ByteRange(0, 15).Draw(t, "bicycles")), Dogs: traintravel.Allowance(rapid.ByteRange(0, 15).Draw(t, "dogs")),
				Fare: traintravel.Fare{Currency: railtest.DrawText(t), Base: rapid.Int64().Draw(t, "base"), PerKm: rapid.Int64().Draw(t, "per km")}, Prices: rapid.SampledFrom(prices).Draw(t, "prices"),
			}
			for range rapid.IntRange(0, 3).Draw(t, "coaches") {
				tr.Coaches = append(tr.Coaches, traintravel.Coach{Number: railtest.DrawText(t), Seats: rapid.IntRange(1, schedule.MaxPlaces).Draw(t, "seats")})
			}
			for range rapid.IntRange(0, 4).Draw(t, "calls") {
				tr.Calls = append(tr.Calls, traintravel.Call{
					Station: rapid.SampledFrom(known).Draw(t, "station"), Arrive: clock.Draw(t, "arrive"), Depart: clock.Draw(t, "depart"),
					Metres: rapid.Int32().Draw(t, "metres"), NoBoarding: rapid.Bool().Draw(t, "no boarding"), NoAlighting: rapid.Bool().Draw(t, "no alighting"), Platform: rapid.Uint16().Draw(t, "platform"),
				})
			}
			tt.Trains = append(tt.Trains, tr)
			ids = append(ids, trains.Numbering{Train: railtest.DrawID(t), Number: rapid.Uint32().Draw(t, "number"), List: 0})
		}
		got, gotIDs, err := trains.DecodeNumbered(trains.EncodeNumbered(tt, ids))
		checkRecord(t, tt, got, err)
		checkRecord(t, ids, gotIDs, err, cmp.AllowUnexported(trains.Numbering{}))
		for i := range tt.Trains { // what was shared is shared again
			for j := range i {
				if (tt.Trains[i].Days == tt.Trains[j].Days) != (got.Trains[i].Days == got.Trains[j].Days) {
					t.Fatalf("trains %d and %d share a calendar, or not", i, j)
				}
				if (tt.Trains[i].Prices == tt.Trains[j].Prices) != (got.Trains[i].Prices == got.Trains[j].Prices) {
					t.Fatalf("trains %d and %d share prices, or not", i, j)
				}
			}
		}
	})
}
