package traintravel

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

// recordKinds are the kinds of records, each with one of its kind that has
// something in every field, and a function that reads and writes one.
var recordKinds = []struct {
	name    string
	sample  []byte
	rewrite func([]byte) ([]byte, error)
}{
	{"booking", encodeBooking(sampleBooking()), func(b []byte) ([]byte, error) {
		v, err := decodeBooking(b, &zones{})
		return encodeBooking(&v), err
	}},
	{"payment", samplePayment().encode(), func(b []byte) ([]byte, error) {
		v, err := decodePayment(b)
		return v.encode(), err
	}},
	{"inventory", sampleInventory().encode(), func(b []byte) ([]byte, error) {
		v, err := decodeInventory(b)
		return v.encode(), err
	}},
	{"timetable", encodeNumbered(sampleTimetable()), func(b []byte) ([]byte, error) {
		v, ids, err := decodeNumbered(b)
		if err != nil {
			return nil, err
		}
		return encodeNumbered(v, ids), nil
	}},
	{"registry", sampleRegistry().encode(), func(b []byte) ([]byte, error) {
		v, err := decodeRegistry(b)
		return v.encode(), err
	}},
	{"event", sampleQueued().encode(), func(b []byte) ([]byte, error) {
		v, err := decodeQueued(b)
		return v.encode(), err
	}},
	{"owed", owedEvent{[]uuid.UUID{sampleID(3), sampleID(4)}, sampleQueued()}.encode(), func(b []byte) ([]byte, error) {
		v, err := decodeOwed(b)
		return v.encode(), err
	}},
	{"idempotency", sampleRemembered().encode(), func(b []byte) ([]byte, error) {
		v, err := decodeRemembered(b)
		return v.encode(), err
	}},
	{"declines", sampleDeclines().encode(), func(b []byte) ([]byte, error) {
		v, err := decodeCount(b)
		return v.encode(), err
	}},
	{"current", sampleCurrent().encode(), func(b []byte) ([]byte, error) {
		v, err := decodeCurrent(b)
		return v.encode(), err
	}},
	{"server", sampleServer().encode(), func(b []byte) ([]byte, error) {
		v, err := decodeServer(b)
		return v.encode(), err
	}},
	{"closed", sampleClosing().encode(), func(b []byte) ([]byte, error) {
		v, err := decodeClosing(b)
		return v.encode(), err
	}},
	{"subscription", sampleSubscription().encode(), func(b []byte) ([]byte, error) {
		s, err := decodeSubscription(b)
		return s.encode(), err
	}},
	{"delivery", sampleDelivery().encode(), func(b []byte) ([]byte, error) {
		d, err := decodeDelivery(b)
		return d.encode(), err
	}},
	{"moves", encodeMoves([]move{{0, NewDate(2026, 5, 4), 1}, {300, NewDate(2026, 5, 5), 0}}), func(b []byte) ([]byte, error) {
		v, err := decodeMoves(b, 301)
		return encodeMoves(v), err
	}},
}

func sampleID(n byte) uuid.UUID { return stamp(uuid.UUID{0: n, 7: n, 15: n}, 7) }

func sampleTime(ns int) time.Time { return time.Date(2026, 5, 4, 8, 30, 0, ns, time.UTC) }

func sampleBooking() *Booking {
	berlin, _ := time.LoadLocation("Europe/Berlin")
	return &Booking{
		ID: sampleID(1), TripID: sampleID(2), Owner: Subject{"https://issuer.example", "søren"}, Client: "app",
		PassengerName: "Ζωή Ångström 👩‍🚀", HasBicycle: true, HasDog: true, Status: Confirmed,
		Created: sampleTime(1), Expires: sampleTime(999_999_999), PinnedUntil: sampleTime(2), Price: Money{4990, "eur"},
		LatestPayment: sampleID(3), OpenPayment: sampleID(4), PaidBy: sampleID(5),
		Legs: []Leg{{
			Run: RunID{sampleID(6), NewDate(2026, 5, 4)}, Operator: "Rail", Number: "ICE 1",
			Origin:      Stop{sampleID(7), "Köln", sampleTime(0).In(berlin)},
			Destination: Stop{sampleID(8), "Łódź", sampleTime(3)},
			Coach:       "7", Seat: 61, Board: 3, Alight: 255,
		}},
	}
}

func samplePayment() *payment {
	return &payment{
		Payment: Payment{
			ID: sampleID(1), Booking: sampleID(2), Amount: Money{-4990, "eur"}, Status: Failed,
			Source:  Source{Card: &Card{Name: "J. Doe", Number: "************4242", ExpMonth: 12, ExpYear: 2030, City: "Genève", Country: "CH", PostCode: "1201"}},
			Failure: Failure{CardDeclined, "The card was declined."}, Created: sampleTime(1), RefundOf: sampleID(3),
		},
		charging: true, deadline: sampleTime(2), next: sampleTime(3), tries: 300,
	}
}

func sampleServer() server {
	return server{heartbeats: 300, leaving: true, shares: []held{{eventDue, allParts}, {holdEnds, 1}}}
}

func sampleInventory() *inventory {
	return &inventory{
		revision: 300, list: math.MaxUint64, calls: []uint64{1, 2, 1}, coaches: []Coach{{"1", 80}, {"A", 1}},
		taken: []taken{
			{booking: sampleID(1), place: 80, from: 0, to: 2, hook: true, until: forGood, sold: math.MaxUint64},
			{booking: sampleID(2), place: noPlace, from: 1, to: 2, until: -1, sold: math.MaxUint64},
		},
		stranded: []strandedPlace{{
			taken: taken{booking: sampleID(3), place: noPlace, from: 3, to: 255, until: 5, sold: math.MaxUint64}, board: 7, alight: 8, twice: true, coach: "É", seat: 200,
		}},
	}
}

func sampleTimetable() (*Timetable, []numbering) {
	tt := &Timetable{Stations: []Station{
		{sampleID(1), nil, "Köln Hbf", "Trankgasse 11", nil, "DE", "Europe/Berlin", 50.943, 6.9587},
		{sampleID(2), nil, "Łódź", "", nil, "", "Europe/Warsaw", -90, -180},
	}}
	days := &Calendar{Weekdays: [7]bool{true, false, true}, From: NewDate(2026, 1, 1), To: NewDate(2026, 12, 31), Added: []Date{1, -1}, Removed: []Date{2}}
	train := Train{
		Feed: "f", ID: "1", Operator: "Rail", Number: "ICE 1", Zone: "Europe/Berlin", Days: days,
		Calls: []Call{
			{Station: sampleID(1), Arrive: -5, Depart: 100, NoAlighting: true},
			{Station: sampleID(2), Arrive: 200, Depart: MaxServiceTime, Metres: 300_000, NoBoarding: true},
		},
		Coaches: []Coach{{"1", 80}, {"2", 1}}, Bicycles: NotAllowed, Dogs: Allowed, Hooks: 8, Fare: Fare{"eur", 1_000, 12},
	}
	other := train
	other.ID, other.Days, other.Coaches, other.Fare = "2", nil, nil, Fare{}
	tt.Trains = []Train{train, other, train}
	return tt, []numbering{{train: sampleID(3), number: 1}, {train: sampleID(4), number: maxNumber}, {train: sampleID(5), number: 2}}
}

func sampleRegistry() registry {
	return registry{high: maxNumber, entries: []registered{
		{number: 1, base: sampleID(1), twin: 0, list: 1, terminus: 2, source: 3, since: FirstDate, last: NewDate(2026, 12, 31)},
		{number: maxNumber, base: sampleID(2), twin: 300, list: math.MaxUint64, since: NewDate(2026, 1, 1), last: (LastDate + 1) - 1},
	}}
}

func sampleSubscription() *subscription {
	return &subscription{
		Subscription: Subscription{
			ID: sampleID(1), URL: "https://hooks.example/søren", Events: []EventType{BookingCreated, PaymentFailed},
			Owner: Subject{"https://issuer.example", "søren"}, Client: "app", ByClient: true, Disabled: true, Disabling: Disabling{By: DisabledByUnknown},
			Created: time.Date(2026, 5, 4, 3, 2, 1, 7, time.UTC),
		},
		secrets: []sealedSecret{{"\x00sealed", time.Time{}}, {"before", time.Date(2026, 5, 5, 3, 2, 1, 7, time.UTC)}},
	}
}

func sampleDelivery() *delivery {
	d := newDelivery(sampleID(1), sampleID(2), sampleQueued())
	d.Attempts, d.LastStatus, d.Next = 300, 503, time.Date(2026, 5, 5, 3, 2, 1, 7, time.UTC)
	return &d
}

func sampleQueued() queued {
	return queued{kind: BookingConfirmed, booking: sampleID(1), payment: sampleID(2), created: sampleTime(1), failures: 300}
}

func sampleRemembered() remembered {
	return remembered{answer: answer{about: sampleID(1), payment: sampleID(2)}, mark: [32]byte{0: 1, 31: 2}, created: sampleTime(1)}
}

func sampleDeclines() *declineCount {
	return &declineCount{forget: sampleTime(1), attempts: []counted{{sampleID(1), sampleID(2), sampleTime(2)}, {sampleID(3), sampleID(4), sampleTime(3)}}}
}

func sampleClosing() closing {
	return closing{moved: true, move: sampleID(1), attempt: sampleID(2), began: sampleTime(1), to: "another store"}
}

func sampleCurrent() current {
	return current{generation: sampleID(1), timetable: 1 << 30, registry: 300}
}

func TestRecordsSayWhenTheyAreDamaged(t *testing.T) {
	t.Parallel()
	for _, k := range recordKinds {
		damaged := func(b []byte, what string) {
			t.Helper()
			if _, err := k.rewrite(b); err == nil || errors.Is(err, ErrNewerData) {
				t.Errorf("%s, %s: %v", k.name, what, err)
			}
		}
		for n := range k.sample {
			if n > 0 || k.name != "current" { // a record that is not there
				damaged(bytes.Clone(k.sample[:n]), "cut short")
			}
		}
		damaged(append(bytes.Clone(k.sample), 0), "with a byte more")
		damaged(append([]byte{0}, k.sample[1:]...), "version 0")
		damaged(make([]byte, len(k.sample)), "nothing but zeros")
		damaged(append(bytes.Clone(k.sample[:1]), bytes.Repeat([]byte{0xff}, 200)...), "nothing but ones")
	}
}

func TestNewerRecordsAreRefusedAsNewer(t *testing.T) {
	t.Parallel()
	for _, k := range recordKinds {
		for _, v := range []byte{k.sample[0] + 1, 255} {
			for _, b := range [][]byte{append([]byte{v}, k.sample[1:]...), {v}} {
				if _, err := k.rewrite(b); !errors.Is(err, ErrNewerData) || !strings.Contains(err.Error(), "record") {
					t.Errorf("%s of version %d: %v", k.name, v, err)
				}
			}
		}
	}
}

// Any byte of a record may have rotted, and a count ask for more than there is
// memory.
func TestRottenRecordsDoNotPanic(t *testing.T) {
	t.Parallel()
	for _, k := range recordKinds {
		for i := range k.sample {
			for _, x := range []byte{1, 0x80, 0xff} {
				b := bytes.Clone(k.sample)
				b[i] ^= x
				_, _ = k.rewrite(b)
			}
			huge := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}
			_, _ = k.rewrite(slices.Concat(k.sample[:i], huge, k.sample[i:]))
		}
	}
}

func TestRecordsAreWrittenAsTheyAreRead(t *testing.T) {
	t.Parallel()
	for _, k := range recordKinds {
		if again, err := k.rewrite(k.sample); err != nil || !bytes.Equal(again, k.sample) {
			t.Errorf("%s: %v\n%x is written as\n%x", k.name, err, k.sample, again)
		}
	}
}

// Files of all versions so far open: the records in testdata/records/KIND.N.hex
// were written by version N of their kind and mean the samples. A new version
// adds a file and changes none.
func TestOlderRecordsAreRead(t *testing.T) {
	t.Parallel()
	for _, k := range recordKinds {
		files, err := filepath.Glob(filepath.Join("testdata", "records", k.name+".*.hex"))
		if err != nil || len(files) < int(k.sample[0]) {
			t.Errorf("%s: %d files, %v; of version %d it would hold\n%x", k.name, len(files), err, k.sample[0], k.sample)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			b, err := hex.DecodeString(strings.Join(strings.Fields(string(text)), ""))
			if err != nil {
				t.Fatal(file, err)
			}
			if again, err := k.rewrite(b); err != nil || !bytes.Equal(again, k.sample) {
				t.Errorf("%s: %v: is read as\n%x, want\n%x", file, err, again, k.sample)
			}
		}
	}
}

func TestRecordsThatCannotBe(t *testing.T) {
	t.Parallel()
	b := *sampleBooking()
	b.Legs = nil
	if _, err := decodeBooking(encodeBooking(&b), &zones{}); err == nil {
		t.Error("a booking without legs is read")
	}
	refund := samplePayment()
	refund.Source = Source{}
	raw, source := refund.encode(), 1+16+16+len("\xfb\x4d\x03eur")
	if raw[source]++; raw[source] != 1 {
		t.Fatalf("the source begins elsewhere: % x", raw)
	}
	if _, err := decodePayment(raw); err == nil {
		t.Error("a payment from a source that is neither a card nor a bank account is read")
	}
	backwards, beyond, restless := sampleInventory(), sampleInventory(), sampleInventory()
	backwards.taken[0].from, beyond.taken[0].to, restless.stranded[0].to = 2, 3, 3
	for name, v := range map[string]*inventory{"rides backwards": backwards, "rides beyond the terminus": beyond, "is stranded nowhere": restless} {
		if _, err := decodeInventory(v.encode()); err == nil {
			t.Errorf("an inventory where somebody %s is read", name)
		}
	}
	for _, k := range recordKinds {
		for what, change := range map[string][2]string{
			"payment":   {"c\x06J. Doe", "d\x06J. Doe"},                       // neither a card nor a bank account
			"timetable": {"\x02\x011\x50\x012\x01", "\x01\x011\x50\x012\x01"}, // one coach, and something after it
			"inventory": {"\x02\x011\x50\x01A\x01", "\x02\x011\x50\x01A\x00"}, // a coach without seats
		} {
			if k.name != what {
				continue
			}
			bad := bytes.Replace(k.sample, []byte(change[0]), []byte(change[1]), 1)
			if _, err := k.rewrite(bad); err == nil || bytes.Equal(bad, k.sample) {
				t.Errorf("%s with %q: %v", what, change[1], err)
			}
		}
	}
}

// Numbers are read as package encoding/binary reads what it writes.
func TestDecodeNumbers(t *testing.T) {
	t.Parallel()
	check := func(t tester, b []byte) {
		t.Helper()
		d := decoder{rest: string(b)}
		want, n := binary.Uvarint(b)
		if got := d.uint(); n > 0 && (got != want || len(d.rest) != len(b)-n || d.failed) || n <= 0 && (got != 0 || !d.failed) {
			t.Fatalf("% x is %d, failed: %t; want %d", b, got, d.failed, want)
		}
		d = decoder{rest: string(b)}
		signed, n := binary.Varint(b)
		if got := d.int(); n > 0 && got != signed || n <= 0 && !d.failed {
			t.Fatalf("% x is %d, failed: %t; want %d", b, got, d.failed, signed)
		}
	}
	for _, last := range []byte{0, 1, 2, 0x7f, 0x80, 0xff} {
		for n := range 12 {
			check(t, append(bytes.Repeat([]byte{0xff}, n), last))
			check(t, append(bytes.Repeat([]byte{0x80}, n), last, 1))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, rapid.SliceOfN(rapid.Byte(), 0, 12).Draw(t, "bytes"))
		check(t, binary.AppendUvarint(nil, rapid.Uint64().Draw(t, "number")))
		check(t, binary.AppendVarint(nil, rapid.Int64().Draw(t, "number")))
	})
}
