package httpserver_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/httpserver"
	"github.com/traintravel/traintravel/internal/pgtest"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/store/boltstore"
	"github.com/traintravel/traintravel/store/pgstore"
)

// secretCode is the code of all cards of this test. Its four bytes may be in
// binary data by chance, once in thousands of files of a megabyte; so it counts
// where it stands for itself, with neither a digit nor a letter beside it, as it
// would in JSON, in a query or in a text.
const secretCode = "9137"

var secretNumbers = []string{
	"4242424242424242", "4000000000000002", "4000000000009995", "4000000000000069", "4000000000000127", "4000000000000119",
	"378282246310005", "6011111111111117", "4242424242424241", // the last is none
	"AT611904300234573201", "AT321904300235473204", "AT861904300235473202", "AT051904300235473205", "AT611904300234573202", // likewise
}

// leaked says which of the secrets is in a text or in bytes: as it is, with
// blanks and hyphens in it, in base64 or in hexadecimal.
func leaked(text []byte) string {
	plain := bytes.ToUpper(regexp.MustCompile(`[ \t-]`).ReplaceAll(text, nil))
	lower := bytes.ToLower(text)
	for _, number := range secretNumbers {
		for _, n := range []string{number, number[:len(number)-4]} {
			forms := map[string]bool{"": bytes.Contains(plain, []byte(n)), "in hexadecimal": bytes.Contains(lower, []byte(hex.EncodeToString([]byte(n))))}
			for before := range 3 { // characters that share its bytes with others are left out
				b := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\x00", before) + n))
				forms["in base64"] = forms["in base64"] || bytes.Contains(text, []byte(b[(before*8+5)/6:len(b)-4]))
			}
			for form, is := range forms {
				if is {
					return "number " + n + " " + form
				}
			}
		}
	}
	// A group of an ID may be the code by chance.
	text = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`).ReplaceAll(text, []byte("ID"))
	code := regexp.MustCompile(`[^0-9A-Za-z]` + secretCode + `[^0-9A-Za-z]|(?i)` + hex.EncodeToString([]byte(`"`+secretCode+`"`)))
	if at := code.FindIndex(text); at != nil {
		return fmt.Sprintf("code, in …%q…", text[max(0, at[0]-40):min(len(text), at[1]+40)])
	}
	return ""
}

func TestLeaked(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"x4242424242424242y", "4242-4242 4242-4242", `{"number":"424242424242****"}`, `"cvc":"9137"`, `"cvc":9137}`, "cvc=9137&",
		hex.EncodeToString([]byte(`{"number":"4242424242424242"}`)), strings.ToUpper(hex.EncodeToString([]byte(`"9137"`))),
		base64.StdEncoding.EncodeToString([]byte("number: 4242424242424242.")), base64.RawURLEncoding.EncodeToString([]byte("4242424242424242")),
		base64.StdEncoding.EncodeToString([]byte("a AT611904300234573201.")), "at61 1904 3002 3457 3201",
	} {
		if leaked([]byte(text)) == "" {
			t.Errorf("%s is not seen", text)
		}
	}
	for _, text := range []string{"************4242", "A9137", "0.91370", "3ba14c15-9137-4b6f-bf86-7d17493e9bc3", "************3201", "4242"} {
		if what := leaked([]byte(text)); what != "" {
			t.Errorf("%s is taken for a %s", text, what)
		}
	}
}

// A spiller is a gateway that tells all that it was told, and every now and then
// does its work.
type spiller struct {
	*sandbox.Gateway
	calls atomic.Int64
}

func (g *spiller) Charge(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
	switch g.calls.Add(1) % 5 {
	case 1:
		return traintravel.Outcome{}, fmt.Errorf("the line is dead: %+v %#v %v", c, c, c.Source)
	case 2:
		panic(fmt.Sprintf("on fire: %+v %+v %+v", c, c.Source.Card, c.Source.Bank))
	}
	return g.Gateway.Charge(ctx, c)
}

// TestSecretsStayOut: after a load of bookings and payments with cards and
// accounts of every outcome, malformed ones, keys that are used again, a gateway
// that fails with all it knows, and a webhook, neither a number nor a code is in
// the data, the log, an answer or what was posted.
func TestSecretsStayOut(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T) (store traintravel.Store, data func() []byte){
		"bolt": func(t *testing.T) (traintravel.Store, func() []byte) {
			path := filepath.Join(t.TempDir(), "trains.db")
			store, err := boltstore.Open(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			return store, func() []byte { // of the file, free pages too
				file, err := os.ReadFile(path)
				if err := errors.Join(err, store.Close()); err != nil {
					t.Fatal(err)
				}
				return file
			}
		},
		"postgres": func(t *testing.T) (traintravel.Store, func() []byte) {
			store, err := pgstore.Open(t.Context(), pgtest.Shared(t).NewSchema(t), nil)
			if err != nil {
				t.Fatal(err)
			}
			return store, func() (all []byte) { // of all rows
				for _, table := range traintravel.Tables() {
					records, err := store.List(t.Context(), traintravel.Range{Table: table})
					if err != nil {
						t.Fatal(err)
					}
					for _, r := range records {
						all = append(append(append(all, r.ID...), '\n'), append(r.Value, '\n')...)
					}
				}
				if err := store.Close(); err != nil {
					t.Fatal(err)
				}
				return all
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, data := open(t)
			hook := newReceiver(200)
			sender, err := httpserver.NewWebhookSender(httpserver.WebhookSenderOptions{BaseURL: base})
			if err != nil {
				t.Fatal(err)
			}
			own := traintravel.OperatorWebhook{
				URL: hook.listen(t), Secrets: []traintravel.Secret{"whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="},
				Events: []traintravel.EventType{traintravel.BookingCreated, traintravel.BookingConfirmed, traintravel.BookingCancelled, traintravel.BookingExpired, traintravel.PaymentFailed},
			}
			w := newWorld(t, func(w *world) {
				w.store, w.service_.Gateway = store, &spiller{Gateway: sandbox.Open(store)}
				w.service_.Webhooks = &traintravel.WebhookOptions{Sender: sender, SealKey: make([]byte, 32), Operator: []traintravel.OperatorWebhook{own}}
				w.service_.Logger = w.options.Logger
			})
			ctx, stop := context.WithCancel(t.Context())
			var running sync.WaitGroup
			running.Go(func() { _ = w.service.Run(ctx) })
			said := spill(w)
			for deadline := time.Now().Add(20 * time.Second); len(hook.all()) == 0 && time.Now().Before(deadline); {
				time.Sleep(5 * time.Millisecond)
			}
			stop()
			running.Wait()
			posted := fmt.Sprint(hook.all())
			texts := map[string][]byte{"the data": data(), "the log": []byte(w.log.String()), "an answer": []byte(said), "what was posted": []byte(posted)}
			for where, sign := range map[string]string{"the data": "************4242", "the log": "on fire", "an answer": "************4242", "what was posted": "Anna Example"} {
				if !bytes.Contains(texts[where], []byte(sign)) {
					t.Errorf("%s: the test has not seen what it looks for", where)
				}
			}
			for where, text := range texts {
				if what := leaked(text); what != "" {
					t.Errorf("%s holds a %s", where, what)
				}
			}
		})
	}
}

// spill pays in all ways, and returns all answers.
func spill(w *world) string {
	var said strings.Builder
	send := func(method, target string, parts ...part) {
		r := w.do(method, target, append([]part{as("anna-rw")}, parts...)...)
		fmt.Fprintln(&said, r.header, r.body)
	}
	trip := w.trip()
	for i, number := range secretNumbers {
		source := `{"object":"card","name":"Anna","number":"` + number + `","cvc":"` + secretCode + `","exp_month":12,"exp_year":2030,"address_country":"DE"}`
		if number[0] == 'A' {
			source = `{"object":"bank_account","name":"Anna","number":"` + number + `","account_type":"individual","bank_name":"Bank","country":"AT"}`
		}
		good := `{"amount":` + trip.Price.String() + `,"currency":"eur","source":` + source + `}`
		grouped := strings.Replace(good, number, number[:4]+" "+number[4:8]+"-"+number[8:], 1)
		for try := range 6 { // so that each is charged, refused, and asked for again
			path := "/bookings/" + w.post("/bookings", newBooking(trip.ID)).want(201).resource().ID
			key := header("Idempotency-Key", fmt.Sprintf("%q", fmt.Sprint(i, "-", try)))
			accept := header("Accept", []string{"application/json", "application/xml"}[try%2])
			for range 2 {
				send("POST", path+"/payment", key, accept, body(good))
			}
			for _, bad := range []string{
				strings.Replace(good, `"amount":`, `"amount":1`, 1),
				strings.Replace(good, `"amount":`, `"card_number":"`+number+`","cvc":`+secretCode+`,"amount":`, 1),
				strings.Replace(good, `"name"`, `"number2":"`+number+`","name"`, 1),
				strings.Replace(good, `"name":"Anna"`, `"name":["`+number+`"]`, 1),
				strings.Replace(good, `"name":"Anna"`, `"name":"Anna `+number[:4]+" "+number[4:]+`"`, 1),
				strings.Replace(good, `"name":"Anna"`, `"name":"Anna","`+number+`":1`, 1),
				strings.Replace(good, `"name":"Anna"`, `"name":"Anna","`+number+`":[1],"`+number+`":1`, 1),
				strings.Replace(good, `"amount":`, `"`+number+`":{"x":y},"amount":`, 1),
				strings.Replace(good, `"name":"Anna"`, `"`+number+`":x`, 1),
				strings.Replace(good, `"eur"`, `"`+number+`"`, 1),
				strings.Replace(good, `"cvc":"`, `"cvc":"x`, 1),
				strings.Replace(good, `"exp_month":12`, `"exp_month":"`+number+`"`, 1),
				strings.Replace(good, number, number+"1", 1),
				good[:len(good)-2], good + good, source, `["` + number + `"]`,
				strings.Replace(good, `"amount":`+trip.Price.String(), `"amount":"`+number+`"`, 1),
				strings.Replace(good, `"amount":`, `"amount":`+strings.Trim(number, "AT"), 1),
				`number=` + number + `&cvc=` + secretCode,
			} {
				send("POST", path+"/payment", key, accept, body(bad))
				send("POST", path+"/payment", accept, body(bad))
			}
			send("POST", path+"/payment", accept, body(good), header("Content-Type", "text/plain"))
			send("POST", path+"/payment", key, accept, body(grouped))
			send("GET", path+"/payment", accept)
			send("GET", path+"/payments", accept)
			if try == 5 {
				send("DELETE", path)
				w.later(time.Minute)
			}
			send("GET", path, accept)
		}
	}
	return said.String()
}
