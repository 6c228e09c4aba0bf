package traintravel

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"
	"pgregory.net/rapid"
)

// Records keep every value there can be, to the bit.

func drawID(t *rapid.T) uuid.UUID {
	if rapid.IntRange(0, 3).Draw(t, "nil") == 3 {
		return uuid.Nil
	}
	return uuid.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
}

func drawText(t *rapid.T) string { return rapid.String().Draw(t, "text") }

func drawMoney(t *rapid.T) Money { return Money{rapid.Int64().Draw(t, "amount"), drawText(t)} }

// drawTime is an instant that nanoseconds since 1970 can tell, or the zero time.
func drawTime(t *rapid.T) time.Time {
	n := rapid.Int64Range(-1<<63, 1<<63-1).Draw(t, "ns")
	if n == -1<<63 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

func drawStop(t *rapid.T) Stop {
	loc, err := time.LoadLocation(rapid.SampledFrom(drawnZones).Draw(t, "zone"))
	if err != nil {
		t.Fatal(err)
	}
	return Stop{drawID(t), drawText(t), drawTime(t).In(loc)}
}

// sameInZone compares times to the nanosecond and by the zone they show in.
var sameInZone = cmp.Comparer(func(a, b time.Time) bool {
	return a.Equal(b) && a.Location().String() == b.Location().String()
})

func checkRecord[T any](t *rapid.T, want, got T, err error, opts ...cmp.Option) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v: %+v", err, want)
	}
	if diff := cmp.Diff(want, got, append(opts, sameInZone, cmpopts.EquateEmpty())...); diff != "" {
		t.Fatal("-want +got\n" + diff)
	}
}

func TestBookingRecord(t *testing.T) {
	t.Parallel()
	z := &zones{}
	rapid.Check(t, func(t *rapid.T) {
		b := Booking{
			ID: drawID(t), TripID: drawID(t), Owner: Subject{drawText(t), drawText(t)}, Client: drawText(t), PassengerName: drawText(t),
			HasBicycle: rapid.Bool().Draw(t, "bicycle"), HasDog: rapid.Bool().Draw(t, "dog"), Status: BookingStatus(rapid.Byte().Draw(t, "status")),
			Created: drawTime(t), Changed: drawTime(t), Confirmed: drawTime(t), ByOperator: rapid.Bool().Draw(t, "by operator"), Expires: drawTime(t), Price: drawMoney(t),
			LatestPayment: drawID(t), OpenPayment: drawID(t), PaidBy: drawID(t), PaymentCount: rapid.IntRange(0, 1<<62).Draw(t, "payments"),
		}
		if b.OpenPayment != uuid.Nil {
			b.PinnedUntil = drawTime(t)
		}
		for range rapid.IntRange(1, maxLegs).Draw(t, "legs") {
			b.Legs = append(b.Legs, Leg{
				Run: RunID{drawID(t), Date(rapid.Int32().Draw(t, "date"))}, Operator: drawText(t), Number: drawText(t),
				Origin: drawStop(t), Destination: drawStop(t), Coach: drawText(t), Seat: rapid.IntRange(0, 1<<62).Draw(t, "seat"),
				Board: rapid.IntRange(0, MaxCalls-1).Draw(t, "board"), Alight: rapid.IntRange(0, MaxCalls-1).Draw(t, "alight"),
			})
		}
		got, err := decodeBooking(encodeBooking(&b), z)
		checkRecord(t, b, got, err)
	})
}

func TestPaymentRecord(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		year, month := rapid.IntRange(0, 1<<62).Draw(t, "year"), rapid.IntRange(0, 12).Draw(t, "month")
		source := rapid.SampledFrom([]Source{
			{},
			{Card: &Card{
				Name: drawText(t), Number: Secret(drawText(t)), CVC: "123", ExpMonth: month, ExpYear: year,
				Address1: drawText(t), Address2: drawText(t), City: drawText(t), Country: drawText(t), PostCode: drawText(t),
			}},
			{Bank: &BankAccount{
				Name: drawText(t), Number: Secret(drawText(t)), SortCode: drawText(t), AccountType: AccountType(drawText(t)),
				BankName: drawText(t), Country: drawText(t),
			}},
		}).Draw(t, "source")
		p := payment{
			Payment: Payment{
				ID: drawID(t), Booking: drawID(t), Amount: drawMoney(t), Source: source, Status: PaymentStatus(drawText(t)),
				Failure: Failure{drawText(t), drawText(t)}, Created: drawTime(t), Settled: drawTime(t), RefundOf: drawID(t),
				Resolution: Resolution(drawText(t)), LastError: drawText(t),
				Settlements: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Settlement {
					return Settlement{As: Verdict(drawText(t)), By: drawText(t), Reason: drawText(t), At: drawTime(t)}
				}), 0, 3).Draw(t, "settlements"),
			},
			charging: rapid.Bool().Draw(t, "charging"), deadline: drawTime(t), next: drawTime(t), tries: rapid.IntRange(0, 1<<62).Draw(t, "tries"), order: rapid.IntRange(0, 1<<62).Draw(t, "order"),
		}
		got, err := decodePayment(p.encode())
		p.Source = p.Source.Masked()
		checkRecord(t, p, got, err, cmp.AllowUnexported(payment{}))
	})
}

func TestSmallRecords(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q := queued{EventType(drawText(t)), drawID(t), drawID(t), drawTime(t), rapid.IntRange(0, 1<<62).Draw(t, "failures"),
			BookingStatus(rapid.Uint8().Draw(t, "status")), Failure{}} // which is read of version 2 alone
		gotQueued, err := decodeQueued(q.encode())
		checkRecord(t, q, gotQueued, err, cmp.AllowUnexported(queued{}))

		r := remembered{answer: answer{drawID(t), drawID(t), drawText(t)}, created: drawTime(t)}
		copy(r.mark[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "mark"))
		gotRemembered, err := decodeRemembered(r.encode())
		checkRecord(t, r, gotRemembered, err, cmp.AllowUnexported(remembered{}, answer{}))

		c := current{
			generation: drawID(t), timetable: rapid.IntRange(0, 1<<62).Draw(t, "timetable"),
			registry: rapid.IntRange(0, 1<<62).Draw(t, "registry"), moves: rapid.IntRange(0, 1<<62).Draw(t, "moves"),
		}
		for i := range c.loads {
			c.loads[i] = Date(rapid.Int32().Draw(t, "load"))
		}
		gotCurrent, err := decodeCurrent(c.encode())
		checkRecord(t, c, gotCurrent, err, cmp.AllowUnexported(current{}))

		g := registry{high: rapid.Uint32().Draw(t, "high")}
		for range rapid.IntRange(0, 3).Draw(t, "entries") {
			g.entries = append(g.entries, registered{
				number: rapid.Uint32().Draw(t, "number"), base: drawID(t), twin: rapid.IntRange(0, 1<<62).Draw(t, "twin"),
				list: rapid.Uint64().Draw(t, "list"), terminus: rapid.Uint64().Draw(t, "terminus"), source: rapid.Uint64().Draw(t, "source"),
				since: Date(rapid.Int32().Draw(t, "since")), last: Date(rapid.Int32().Draw(t, "last")),
			})
		}
		gotRegistry, err := decodeRegistry(g.encode())
		checkRecord(t, g, gotRegistry, err, cmp.AllowUnexported(registry{}, registered{}))
	})
	if c, err := decodeCurrent(nil); c != (current{}) || err != nil {
		t.Errorf("no timetable yet: %+v, %v", c, err)
	}
}

func TestInventoryRecord(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := &inventory{revision: rapid.Uint64().Draw(t, "revision"), list: rapid.Uint64().Draw(t, "list")}
		v.calls = rapid.SliceOfN(rapid.Uint64(), 2, MaxCalls).Draw(t, "calls")
		for range rapid.IntRange(0, 3).Draw(t, "coaches") {
			v.coaches = append(v.coaches, Coach{drawText(t), rapid.IntRange(1, maxPlaces).Draw(t, "seats")})
		}
		lists := rapid.SampledFrom([]uint64{0, v.list, 1, 2, 3})
		someone := func(calls int) taken {
			from := rapid.IntRange(0, calls-2).Draw(t, "from")
			return taken{
				booking: drawID(t), place: rapid.Int32().Draw(t, "place"), hook: rapid.Bool().Draw(t, "hook"), until: rapid.Int64().Draw(t, "until"),
				from: uint8(from), to: uint8(rapid.IntRange(from+1, calls-1).Draw(t, "to")), sold: lists.Draw(t, "sold"),
			}
		}
		for range rapid.IntRange(0, 5).Draw(t, "taken") {
			v.taken = append(v.taken, someone(len(v.calls)))
		}
		for range rapid.IntRange(0, 3).Draw(t, "stranded") {
			v.stranded = append(v.stranded, strandedPlace{
				taken: someone(MaxCalls), on: rapid.SampledFrom([]uint64{0, v.list ^ 1}).Draw(t, "on"), board: rapid.Uint64().Draw(t, "board"), alight: rapid.Uint64().Draw(t, "alight"),
				twice: rapid.Bool().Draw(t, "twice"), coach: drawText(t), seat: rapid.IntRange(0, 1<<62).Draw(t, "seat"),
			})
		}
		got, err := decodeInventory(v.encode())
		checkRecord(t, v, got, err, cmp.AllowUnexported(inventory{}, taken{}, strandedPlace{}))
	})
}

func TestTimetableRecord(t *testing.T) {
	t.Parallel()
	day := rapid.Map(rapid.Int32(), func(n int32) Date { return Date(n) })
	clock := rapid.Map(rapid.Int32(), func(n int32) ServiceTime { return ServiceTime(n) })
	rapid.Check(t, func(t *rapid.T) {
		tt := &Timetable{Stations: []Station{{ID: uuid.UUID{1}}}}
		for i := range rapid.IntRange(0, 3).Draw(t, "stations") {
			tt.Stations = append(tt.Stations, Station{
				uuid.UUID{2, byte(i)}, rapid.SampledFrom([][]uuid.UUID{nil, {{3, byte(i)}}, {{4, byte(i)}, {5, byte(i)}}}).Draw(t, "other IDs"), drawText(t), drawText(t), rapid.SliceOfN(rapid.String(), 0, 2).Draw(t, "other names"), drawText(t), drawText(t),
				rapid.Float64().Draw(t, "lat"), rapid.Float64().Draw(t, "lon"),
			})
		}
		e := &encoder{}
		known := slices.SortedFunc(maps.Keys(addStations(e, tt.Stations)), func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
		calendars := []*Calendar{{}, {
			Weekdays: [7]bool{6: true}, From: day.Draw(t, "from"), To: day.Draw(t, "to"),
			Added: rapid.SliceOfN(day, 0, 3).Draw(t, "added"), Removed: rapid.SliceOfN(day, 0, 3).Draw(t, "removed"),
		}}
		prices := []*Prices{nil, {}, {Currency: drawText(t), Amounts: [][]int64{{rapid.Int64().Draw(t, "price")}, {}, {1, 2}}}}
		var ids []numbering
		for range rapid.IntRange(0, 4).Draw(t, "trains") {
			tr := Train{
				Feed: drawText(t), ID: drawText(t), Operator: drawText(t), Number: drawText(t), Zone: drawText(t),
				Days: rapid.SampledFrom(calendars).Draw(t, "days"), Hooks: rapid.IntRange(0, 1<<62).Draw(t, "hooks"),
				Bicycles: Allowance(rapid.ByteRange(0, 15).Draw(t, "bicycles")), Dogs: Allowance(rapid.ByteRange(0, 15).Draw(t, "dogs")),
				Fare: Fare{drawText(t), rapid.Int64().Draw(t, "base"), rapid.Int64().Draw(t, "per km")}, Prices: rapid.SampledFrom(prices).Draw(t, "prices"),
			}
			for range rapid.IntRange(0, 3).Draw(t, "coaches") {
				tr.Coaches = append(tr.Coaches, Coach{drawText(t), rapid.IntRange(1, maxPlaces).Draw(t, "seats")})
			}
			for range rapid.IntRange(0, 4).Draw(t, "calls") {
				tr.Calls = append(tr.Calls, Call{
					rapid.SampledFrom(known).Draw(t, "station"), clock.Draw(t, "arrive"), clock.Draw(t, "depart"),
					rapid.Int32().Draw(t, "metres"), rapid.Bool().Draw(t, "no boarding"), rapid.Bool().Draw(t, "no alighting"), rapid.Uint16().Draw(t, "platform"),
				})
			}
			tt.Trains = append(tt.Trains, tr)
			ids = append(ids, numbering{drawID(t), rapid.Uint32().Draw(t, "number"), 0})
		}
		got, gotIDs, err := decodeNumbered(encodeNumbered(tt, ids))
		checkRecord(t, tt, got, err)
		checkRecord(t, ids, gotIDs, err, cmp.AllowUnexported(numbering{}))
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
