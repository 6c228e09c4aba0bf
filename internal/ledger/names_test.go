package ledger_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/ledger"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/tz"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
	"github.com/traintravel/traintravel/store/memstore"
)

// Names that earlier versions accepted are refused in new requests. Bookings with such names
// are found, paid, and erased, and a repeated request gets its first answer.
func TestNamesOfEarlierVersions(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Jo\u200bhn Do\u2060e", "John Doe\U000e0068", "John Do" + strings.Repeat("e\u0301\u0301\u0301\u0301\u0301\u0301", 3)} {
		ctx, st := t.Context(), memstore.New()
		o := officetest.New(t, st)
		n := traintravel.NewBooking{TripID: o.TripID('A', 'B', "R 5"), PassengerName: "John Doe", IdempotencyKey: "k"}
		b, err := o.CreateBooking(ctx, officetest.Anna, n)
		if err != nil {
			t.Fatal(err)
		}
		n.PassengerName = name
		_, err = o.CreateBooking(ctx, officetest.Anna, n)
		o.Expect("another request", err, traintravel.ErrKeyReused)
		rename(t, st, b, n)
		o = o.Another()
		got, err := o.CreateBooking(ctx, officetest.Anna, n)
		if err != nil || !got.Replayed || got.ID != b.ID || got.PassengerName != name {
			t.Fatalf("%+q again: %+v, %v", name, got, err)
		}
		for _, key := range []string{"", "other"} {
			n.IdempotencyKey = key
			_, err = o.CreateBooking(ctx, officetest.Anna, n)
			if invalid, ok := errors.AsType[*traintravel.InvalidError](err); !ok || invalid.Field != "passenger_name" {
				t.Errorf("%+q: %v", name, err)
			}
		}
		found(o, "john do", b.ID)
		o.MustPay(got, traintravel.Succeeded)
		if _, err := o.Ticket(ctx, officetest.Anna, b.ID); err != nil {
			t.Errorf("the ticket of %+q: %v", name, err)
		}
		if _, err := o.EraseSubject(ctx, officetest.Anna.Subject); err != nil {
			t.Errorf("erasing %+q: %v", name, err)
		}
	}
}

// rename stores a booking and the answer to its request as if it was made under another name.
func rename(t *testing.T, st store.Store, b traintravel.Booking, n traintravel.NewBooking) {
	t.Helper()
	answered(t, st, "bookings", n.IdempotencyKey, func(f *records.Fingerprint) {
		f.ID(n.TripID)
		f.Str(n.PassengerName)
		f.Flags(n.HasBicycle, n.HasDog)
	})
	key := records.BookingKey(b.ID)
	err := st.Update(t.Context(), func(tx store.Tx) error {
		v, err := tx.Get(t.Context(), key)
		if err != nil {
			return err
		}
		stored, err := records.DecodeBooking(v[0], &tz.Zones{})
		if err != nil {
			return err
		}
		stored.PassengerName = n.PassengerName
		tx.Put(key, records.EncodeBooking(&stored))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Direction marks at the ends of a name, which come with text that is copied from right to left,
// are removed. Within a name they are refused. The same request again gets its first answer, also
// if an earlier version, which kept the marks, made the booking.
func TestDirectionMarks(t *testing.T) {
	t.Parallel()
	ctx, st := t.Context(), memstore.New()
	o := officetest.New(t, st)
	n := traintravel.NewBooking{TripID: o.TripID('A', 'B', "R 5"), PassengerName: "\u200f דוד כהן\u200f", IdempotencyKey: "k"}
	b, err := o.CreateBooking(ctx, officetest.Anna, n)
	if err != nil || b.PassengerName != "דוד כהן" {
		t.Fatalf("%+q, %v", b.PassengerName, err)
	}
	if again, err := o.CreateBooking(ctx, officetest.Anna, n); err != nil || again.ID != b.ID {
		t.Errorf("again: %+v, %v", again, err)
	}
	rename(t, st, b, n)
	if again, err := o.Another().CreateBooking(ctx, officetest.Anna, n); err != nil || again.ID != b.ID || again.PassengerName != n.PassengerName {
		t.Errorf("from an earlier version: %+v, %v", again, err)
	}
	pay := traintravel.NewPayment{Amount: b.Price, Source: officetest.Visa(officetest.Works)}
	pay.Source.Card.Name, pay.Source.Card.City = "\u200eDavid Cohen\u200e", "\u200fחיפה"
	p, err := o.PayBooking(ctx, officetest.Anna, b.ID, pay)
	if err != nil || p.Source.Card.Name != "David Cohen" || p.Source.Card.City != "חיפה" {
		t.Errorf("%+v, %v", p, err)
	}
	n.IdempotencyKey, n.PassengerName = "", "דוד \u200fכהן"
	_, err = o.CreateBooking(ctx, officetest.Anna, n)
	if invalid, ok := errors.AsType[*traintravel.InvalidError](err); !ok || invalid.Field != "passenger_name" || !strings.Contains(invalid.Reason, "U+200F: remove it") {
		t.Errorf("within a name: %v", err)
	}
}

// Names and countries of cards are checked likewise; a payment that came before is answered as
// before.
func TestCardsOfEarlierVersions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		field, reason string
		spoil         func(*rail.Card)
	}{
		{"source.name", "U+200B", func(c *rail.Card) { c.Name = "An\u200bna" }},
		{"source.address_country", "ISO 3166-1", func(c *rail.Card) { c.Country = "XX" }},
	} {
		o := officetest.New(t, memstore.New())
		b := o.Book(officetest.Anna, o.TripID('A', 'B', "R 5"))
		for _, key := range []string{"", "k"} {
			n := traintravel.NewPayment{Amount: b.Price, Source: officetest.Visa(officetest.Works), IdempotencyKey: key}
			c.spoil(n.Source.Card)
			_, err := o.PayBooking(t.Context(), officetest.Anna, b.ID, n)
			if invalid, ok := errors.AsType[*rail.InvalidError](err); !ok || invalid.Field != c.field || !strings.Contains(invalid.Reason, c.reason) {
				t.Errorf("%s: %v", c.field, err)
			}
		}
		if _, err := o.Payment(t.Context(), officetest.Anna, b.ID); !errors.Is(err, traintravel.ErrNotFound) {
			t.Errorf("%s: the payment was recorded: %v", c.field, err)
		}
		n := traintravel.NewPayment{Amount: b.Price, Source: officetest.Visa(officetest.Works), IdempotencyKey: "k"}
		p, err := o.PayBooking(t.Context(), officetest.Anna, b.ID, n)
		if err != nil {
			t.Fatal(err)
		}
		c.spoil(n.Source.Card)
		_, err = o.PayBooking(t.Context(), officetest.Anna, b.ID, n)
		o.Expect("another request", err, traintravel.ErrKeyReused)
		answered(t, o.Store, "payment "+b.ID.String(), "k", func(f *records.Fingerprint) {
			f.Money(n.Amount)
			f.Source(n.Source, false)
		})
		if again, err := o.PayBooking(t.Context(), officetest.Anna, b.ID, n); err != nil || again.ID != p.ID || again.Status != p.Status {
			t.Errorf("%s: the same request again: %+v, %v", c.field, again, err)
		}
	}
}

// answered makes the answer to Anna's request with a key that to another request.
func answered(t *testing.T, st store.Store, resource, key string, write func(*records.Fingerprint)) {
	t.Helper()
	idem, err := (&ledger.Books{}).Idempotency(officetest.Anna, key, resource, write)
	if err != nil {
		t.Fatal(err)
	}
	err = st.Update(t.Context(), func(tx store.Tx) error {
		v, err := tx.Get(t.Context(), idem.Key)
		if err != nil {
			return err
		}
		r, err := records.DecodeRemembered(v[0])
		if err != nil {
			return err
		}
		r.Mark = idem.Mark
		tx.Put(idem.Key, r.Encode())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
