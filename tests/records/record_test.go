package records_test

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
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/agenda"
	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/internal/ids"
	"github.com/traintravel/traintravel/internal/railtest"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/seats"
	"github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/internal/trains"
	"github.com/traintravel/traintravel/internal/tz"
	"github.com/traintravel/traintravel/transfer"
	"pgregory.net/rapid"
)

// recordKinds are the kinds of records, each with one of its kind that has
// something in every field, and a function that reads and writes one.
var recordKinds = []struct {
	name    string
	sample  []byte
	rewrite func([]byte) ([]byte, error)
}{
	{"booking", records.EncodeBooking(sampleBooking()), func(b []byte) ([]byte, error) {
		v, err := records.DecodeBooking(b, &tz.Zones{})
		return records.EncodeBooking(&v), err
	}},
	{"payment", samplePayment().Encode(), func(b []byte) ([]byte, error) {
		v, err := records.DecodePayment(b)
		return v.Encode(), err
	}},
	{"inventory", sampleInventory().Encode(), func(b []byte) ([]byte, error) {
		v, err := seats.DecodeInventory(b)
		return v.Encode(), err
	}},
	{"timetable", trains.EncodeNumbered(sampleTimetable()), func(b []byte) ([]byte, error) {
		v, ids, err := trains.DecodeNumbered(b)
		if err != nil {
			return nil, err
		}
		return trains.EncodeNumbered(v, ids), nil
	}},
	{"registry", sampleRegistry().Encode(), func(b []byte) ([]byte, error) {
		v, err := trains.DecodeRegistry(b)
		return v.Encode(), err
	}},
	{"event", sampleQueued().Encode(), func(b []byte) ([]byte, error) {
		v, err := records.DecodeQueued(b)
		return v.Encode(), err
	}},
	{"owed", records.OwedEvent{To: []uuid.UUID{sampleID(3), sampleID(4)}, Queued: sampleQueued()}.Encode(), func(b []byte) ([]byte, error) {
		v, err := records.DecodeOwed(b)
		return v.Encode(), err
	}},
	{"idempotency", sampleRemembered().Encode(), func(b []byte) ([]byte, error) {
		v, err := records.DecodeRemembered(b)
		return v.Encode(), err
	}},
	{"declines", sampleDeclines().Encode(), func(b []byte) ([]byte, error) {
		v, err := records.DecodeCount(b)
		return v.Encode(), err
	}},
	{"current", sampleCurrent().Encode(), func(b []byte) ([]byte, error) {
		v, err := timetable.DecodeCurrent(b)
		return v.Encode(), err
	}},
	{"server", sampleServer().Encode(), func(b []byte) ([]byte, error) {
		v, err := agenda.DecodeServer(b)
		return v.Encode(), err
	}},
	{"closed", sampleClosing().Encode(), func(b []byte) ([]byte, error) {
		v, err := transfer.DecodeClosing(b)
		return v.Encode(), err
	}},
	{"subscription", sampleSubscription().Encode(), func(b []byte) ([]byte, error) {
		s, err := records.DecodeSubscription(b)
		return s.Encode(), err
	}},
	{"delivery", sampleDelivery().Encode(), func(b []byte) ([]byte, error) {
		d, err := records.DecodeDelivery(b)
		return d.Encode(), err
	}},
	{"moves", trains.EncodeMoves([]trains.Move{{Train: 0, Date: traintravel.NewDate(2026, 5, 4), Slot: 1}, {Train: 300, Date: traintravel.NewDate(2026, 5, 5), Slot: 0}}), func(b []byte) ([]byte, error) {
		v, err := trains.DecodeMoves(b, 301)
		return trains.EncodeMoves(v), err
	}},
}

func sampleID(n byte) uuid.UUID { return ids.Stamp(uuid.UUID{0: n, 7: n, 15: n}, 7) }

func sampleTime(ns int) time.Time { return time.Date(2026, 5, 4, 8, 30, 0, ns, time.UTC) }

func sampleBooking() *traintravel.Booking {
	berlin, _ := time.LoadLocation("Europe/Berlin")
	return &traintravel.Booking{
		ID: sampleID(1), TripID: sampleID(2), Owner: traintravel.Subject{Issuer: "https://issuer.example", ID: "søren"}, Client: "app",
		PassengerName: "Ζωή Ångström 👩‍🚀", HasBicycle: true, HasDog: true, Status: traintravel.Confirmed,
		Created: sampleTime(1), Expires: sampleTime(999_999_999), PinnedUntil: sampleTime(2), Price: traintravel.Money{Amount: 4990, Currency: "eur"},
		LatestPayment: sampleID(3), OpenPayment: sampleID(4), PaidBy: sampleID(5),
		Legs: []traintravel.Leg{{
			Run: traintravel.RunID{Train: sampleID(6), Date: traintravel.NewDate(2026, 5, 4)}, Operator: "Rail", Number: "ICE 1",
			Origin:      traintravel.Stop{Station: sampleID(7), Name: "Köln", Time: sampleTime(0).In(berlin)},
			Destination: traintravel.Stop{Station: sampleID(8), Name: "Łódź", Time: sampleTime(3)},
			Coach:       "7", Seat: 61, Board: 3, Alight: 255,
		}},
	}
}

func samplePayment() *records.Payment {
	return &records.Payment{
		Payment: traintravel.Payment{
			ID: sampleID(1), Booking: sampleID(2), Amount: traintravel.Money{Amount: -4990, Currency: "eur"}, Status: traintravel.Failed,
			Source:  traintravel.Source{Card: &traintravel.Card{Name: "J. Doe", Number: "************4242", ExpMonth: 12, ExpYear: 2030, City: "Genève", Country: "CH", PostCode: "1201"}},
			Failure: traintravel.Failure{Code: traintravel.CardDeclined, Message: "The card was declined."}, Created: sampleTime(1), RefundOf: sampleID(3),
		},
		Charging: true, Deadline: sampleTime(2), Next: sampleTime(3), Tries: 300,
	}
}

func sampleServer() agenda.Server {
	return agenda.Server{Heartbeats: 300, Leaving: true, Shares: []agenda.Held{{Kind: records.EventDue, Parts: agenda.AllParts}, {Kind: records.HoldEnds, Parts: 1}}}
}

func sampleInventory() *seats.Inventory {
	return &seats.Inventory{
		Revision: 300, List: math.MaxUint64, Calls: []uint64{1, 2, 1}, Coaches: []traintravel.Coach{{Number: "1", Seats: 80}, {Number: "A", Seats: 1}},
		Taken: []seats.Taken{
			{Booking: sampleID(1), Place: 80, From: 0, To: 2, Hook: true, Until: seats.ForGood, Sold: math.MaxUint64},
			{Booking: sampleID(2), Place: seats.NoPlace, From: 1, To: 2, Until: -1, Sold: math.MaxUint64},
		},
		Stranded: []seats.StrandedPlace{{
			Taken: seats.Taken{Booking: sampleID(3), Place: seats.NoPlace, From: 3, To: 255, Until: 5, Sold: math.MaxUint64}, Board: 7, Alight: 8, Twice: true, Coach: "É", Seat: 200,
		}},
	}
}

func sampleTimetable() (*traintravel.Timetable, []trains.Numbering) {
	tt := &traintravel.Timetable{Stations: []traintravel.Station{
		{ID: sampleID(1), OtherIDs: nil, Name: "Köln Hbf", Address: "Trankgasse 11", OtherNames: nil, Country: "DE", Zone: "Europe/Berlin", Latitude: 50.943, Longitude: 6.9587},
		{ID: sampleID(2), OtherIDs: nil, Name: "Łódź", Address: "", OtherNames: nil, Country: "", Zone: "Europe/Warsaw", Latitude: -90, Longitude: -180},
	}}
	days := &traintravel.Calendar{Weekdays: [7]bool{true, false, true}, From: traintravel.NewDate(2026, 1, 1), To: traintravel.NewDate(2026, 12, 31), Added: []traintravel.Date{1, -1}, Removed: []traintravel.Date{2}}
	train := traintravel.Train{
		Feed: "f", ID: "1", Operator: "Rail", Number: "ICE 1", Zone: "Europe/Berlin", Days: days,
		Calls: []traintravel.Call{
			{Station: sampleID(1), Arrive: -5, Depart: 100, NoAlighting: true},
			{Station: sampleID(2), Arrive: 200, Depart: traintravel.MaxServiceTime, Metres: 300_000, NoBoarding: true},
		},
		Coaches: []traintravel.Coach{{Number: "1", Seats: 80}, {Number: "2", Seats: 1}}, Bicycles: traintravel.NotAllowed, Dogs: traintravel.Allowed, Hooks: 8, Fare: traintravel.Fare{Currency: "eur", Base: 1_000, PerKm: 12},
	}
	other := train
	other.ID, other.Days, other.Coaches, other.Fare = "2", nil, nil, traintravel.Fare{}
	tt.Trains = []traintravel.Train{train, other, train}
	return tt, []trains.Numbering{{Train: sampleID(3), Number: 1}, {Train: sampleID(4), Number: trains.MaxNumber}, {Train: sampleID(5), Number: 2}}
}

func sampleRegistry() trains.Registry {
	return trains.Registry{High: trains.MaxNumber, Entries: []trains.Registered{
		{Number: 1, Base: sampleID(1), Twin: 0, List: 1, Terminus: 2, Source: 3, Since: traintravel.FirstDate, Last: traintravel.NewDate(2026, 12, 31)},
		{Number: trains.MaxNumber, Base: sampleID(2), Twin: 300, List: math.MaxUint64, Since: traintravel.NewDate(2026, 1, 1), Last: (traintravel.LastDate + 1) - 1},
	}}
}

func sampleSubscription() *records.Subscription {
	return &records.Subscription{
		Subscription: traintravel.Subscription{
			ID: sampleID(1), URL: "https://hooks.example/søren", Events: []traintravel.EventType{traintravel.BookingCreated, traintravel.PaymentFailed},
			Owner: traintravel.Subject{Issuer: "https://issuer.example", ID: "søren"}, Client: "app", ByClient: true, Disabled: true, Disabling: traintravel.Disabling{By: traintravel.DisabledByUnknown},
			Created: time.Date(2026, 5, 4, 3, 2, 1, 7, time.UTC),
		},
		Secrets: []records.SealedSecret{{Sealed: "\x00sealed", Until: time.Time{}}, {Sealed: "before", Until: time.Date(2026, 5, 5, 3, 2, 1, 7, time.UTC)}},
	}
}

func sampleDelivery() *records.Delivery {
	d := records.NewDelivery(sampleID(1), sampleID(2), sampleQueued())
	d.Attempts, d.LastStatus, d.Next = 300, 503, time.Date(2026, 5, 5, 3, 2, 1, 7, time.UTC)
	return &d
}

func sampleQueued() records.Queued {
	return records.Queued{Kind: traintravel.BookingConfirmed, Booking: sampleID(1), Payment: sampleID(2), Created: sampleTime(1), Failures: 300}
}

func sampleRemembered() records.Remembered {
	return records.Remembered{Answer: records.Answer{About: sampleID(1), Payment: sampleID(2)}, Mark: [32]byte{0: 1, 31: 2}, Created: sampleTime(1)}
}

func sampleDeclines() *records.DeclineCount {
	return &records.DeclineCount{Forget: sampleTime(1), Attempts: []records.Counted{{Booking: sampleID(1), Payment: sampleID(2), At: sampleTime(2)}, {Booking: sampleID(3), Payment: sampleID(4), At: sampleTime(3)}}}
}

func sampleClosing() transfer.Closing {
	return transfer.Closing{Moved: true, Move: sampleID(1), Attempt: sampleID(2), Began: sampleTime(1), To: "another store"}
}

func sampleCurrent() timetable.Current {
	return timetable.Current{Generation: sampleID(1), Timetable: 1 << 30, Registry: 300}
}

func TestRecordsSayWhenTheyAreDamaged(t *testing.T) {
	t.Parallel()
	for _, k := range recordKinds {
		damaged := func(b []byte, what string) {
			t.Helper()
			if _, err := k.rewrite(b); err == nil || errors.Is(err, traintravel.ErrNewerData) {
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
				if _, err := k.rewrite(b); !errors.Is(err, traintravel.ErrNewerData) || !strings.Contains(err.Error(), "record") {
					t.Errorf("%s of version %d: %v", k.name, v, err)
				}
			}
		}
	}
}

// Any byte of a record may have rotted, and a count ask for more than there is
// memory.
func TestDamagedRecordsDoNotPanic(t *testing.T) {
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

func TestImpossibleRecords(t *testing.T) {
	t.Parallel()
	b := *sampleBooking()
	b.Legs = nil
	if _, err := records.DecodeBooking(records.EncodeBooking(&b), &tz.Zones{}); err == nil {
		t.Error("a booking without legs is read")
	}
	refund := samplePayment()
	refund.Source = traintravel.Source{}
	raw, source := refund.Encode(), 1+16+16+len("\xfb\x4d\x03eur")
	if raw[source]++; raw[source] != 1 {
		t.Fatalf("the source begins elsewhere: % x", raw)
	}
	if _, err := records.DecodePayment(raw); err == nil {
		t.Error("a payment from a source that is neither a card nor a bank account is read")
	}
	backwards, beyond, restless := sampleInventory(), sampleInventory(), sampleInventory()
	backwards.Taken[0].From, beyond.Taken[0].To, restless.Stranded[0].To = 2, 3, 3
	for name, v := range map[string]*seats.Inventory{"rides backwards": backwards, "rides beyond the terminus": beyond, "is stranded nowhere": restless} {
		if _, err := seats.DecodeInventory(v.Encode()); err == nil {
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
	check := func(t railtest.Tester, b []byte) {
		t.Helper()
		d := codec.Decoder{Rest: string(b)}
		want, n := binary.Uvarint(b)
		if got := d.Uint(); n > 0 && (got != want || len(d.Rest) != len(b)-n || d.Failed) || n <= 0 && (got != 0 || !d.Failed) {
			t.Fatalf("% x is %d, failed: %t; want %d", b, got, d.Failed, want)
		}
		d = codec.Decoder{Rest: string(b)}
		signed, n := binary.Varint(b)
		if got := d.Int(); n > 0 && got != signed || n <= 0 && !d.Failed {
			t.Fatalf("% x is %d, failed: %t; want %d", b, got, d.Failed, signed)
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
