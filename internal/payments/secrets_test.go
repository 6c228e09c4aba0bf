package payments_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
)

// TestSecretsAreNotKept: after payments of all kinds, with a gateway that
// fails and panics with all it knows, neither a card's number nor its code is
// in the file, in the log, in an error or in an event. The street, which is no
// secret to the gateway, is not in the file.
func TestSecretsAreNotKept(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "trains.db")
	var log bytes.Buffer
	chatty := &chatty{}
	o := officetest.New(t, officetest.OpenBolt(t, path), func(opts *traintravel.Options) {
		opts.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug, AddSource: true}))
		chatty.Bank, opts.Gateway = opts.Gateway.(*officetest.Bank), chatty
		n := byte(0) // a random ID might hold the code
		opts.NewID = func() uuid.UUID { n++; return uuid.UUID{8: 0xbb, 9: 0xbb, 15: n} }
	})
	o.Post.Before = func(e traintravel.Event) error { return fmt.Errorf("no: %+v %#v", e, e.Payment) }
	var said strings.Builder
	const code, street = "9137", "Geheimgasse 77"
	secrets := []string{}
	for i, number := range []string{"4242424242424242", "4000000000000002", "378282246310005", "6011 1111-1111 1117", "4000000000009995", "5555555555554444", "AT611904300234573201"} {
		b := o.Book(officetest.Anna, o.TripID('F', 'G', "S 3"))
		source := officetest.Visa(traintravel.Secret(number))
		source.Card.CVC, source.Card.Address1 = code, street
		if number[0] == 'A' {
			source = officetest.Iban(traintravel.Secret(number))
		}
		plain := strings.NewReplacer(" ", "", "-", "").Replace(number)
		secrets = append(secrets, number, plain, plain[:len(plain)-4])
		chatty.mood = i % 4
		n := traintravel.NewPayment{Amount: b.Price, Source: source, IdempotencyKey: fmt.Sprint(i)}
		for range 3 {
			p, err := o.PayBooking(t.Context(), officetest.Anna, b.ID, n)
			fmt.Fprintf(&said, "%+v %#v %+v %+v %v\n", p, p, p.Source.Card, p.Source.Bank, err)
		}
		other := n
		other.Amount.Amount++
		_, err := o.PayBooking(t.Context(), officetest.Anna, b.ID, other)
		fmt.Fprintln(&said, err)
		other.Source = officetest.Visa(traintravel.Secret(number + "1"))
		other.Source.Card.CVC = code + "1"
		_, err = o.PayBooking(t.Context(), officetest.Anna, b.ID, other)
		fmt.Fprintln(&said, err)
		o.Clock.Add(31 * time.Second)
		fmt.Fprintln(&said, o.RunDue(t.Context()))
	}
	o.Clock.Add(2 * time.Hour)
	fmt.Fprintln(&said, o.RunDue(t.Context()))
	fmt.Fprintf(&said, "%+v %+v\n", o.Audit(), o.Post.Events)
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(file, []byte("************4242")) || !strings.Contains(log.String(), "is on fire") || !strings.Contains(said.String(), "************4242") {
		t.Error("the test has not seen what it looks for")
	}
	if bytes.Contains(file, []byte(street)) {
		t.Error("the file holds the street")
	}
	alone := regexp.MustCompile("(?i)[^0-9a-f]" + code + "[^0-9a-f]") // not a part of an address in a stack trace
	for where, text := range map[string]string{"the file": string(file), "the log": log.String(), "what was said": said.String()} {
		if at := alone.FindStringIndex(text); at != nil {
			t.Errorf("%s holds the code: …%.80q…", where, text[max(0, at[0]-40):])
		}
		for _, secret := range secrets {
			if i := strings.Index(text, secret); i >= 0 {
				t.Errorf("%s holds %q: …%.80q…", where, secret, text[max(0, i-40):])
			}
		}
	}
}

// chatty is a gateway that tells everybody what it was told.
type chatty struct {
	*officetest.Bank
	mood int
}

func (c *chatty) Charge(ctx context.Context, charge traintravel.Charge) (traintravel.Outcome, error) {
	switch c.mood {
	case 1:
		return traintravel.Outcome{}, fmt.Errorf("the line is dead: %+v, %#v, %v, %+v", charge, charge, charge.Source.Card, charge.Source.Bank)
	case 2:
		panic(charge)
	case 3:
		panic(fmt.Errorf("the bank is on fire: %+v", charge))
	}
	return c.Bank.Charge(ctx, charge)
}
