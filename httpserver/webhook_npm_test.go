package httpserver_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/httpserver"
	"github.com/traintravel/traintravel/internal/need"
)

// verifier is told a secret, headers and the bytes of a body, and prints the name that
// is in there when the package has verified them.
const verifier = `import { readFileSync } from "node:fs";
import { Webhook } from "standardwebhooks";
const { secret, headers, body } = JSON.parse(readFileSync(0, "utf8"));
const bytes = Buffer.from(body, "base64");
const told = new Webhook(secret).verify(bytes, headers);
try {
  new Webhook(secret).verify(Buffer.concat([bytes, Buffer.from(" ")]), headers);
  throw new Error("an altered body was verified");
} catch (e) {
  if (e.name === "Error") throw e;
}
process.stdout.write(told.passenger_name);
`

// The npm package standardwebhooks verifies what is posted, whatever the letters in it.
func TestWebhookVerifiedByNPM(t *testing.T) {
	t.Parallel()
	node, folder := need.Node(t, "peers")
	type call struct {
		headers map[string]string
		body    []byte
	}
	got := make(chan call, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		c := call{headers: map[string]string{}}
		for _, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
			c.headers[name] = r.Header.Get(name)
		}
		c.body, _ = io.ReadAll(r.Body)
		got <- c
	}))
	defer receiver.Close()
	sender, err := httpserver.NewWebhookSender(httpserver.WebhookSenderOptions{BaseURL: base, AllowPrivate: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Anna Example", "Zoë 👩‍👧‍👦 🚆", "<b>&amp;</b> \"x\" \\ /", "a\u2028b\u2029c", "\u0000\u001f\u007f", "日本 \U0001F1EF\U0001F1F5"} {
		for _, secrets := range [][]traintravel.Secret{{secret}, {otherSecret, secret}} {
			answer, err := sender.Send(t.Context(), traintravel.WebhookPost{URL: receiver.URL, Secrets: secrets, Event: traintravel.Event{
				ID: uuid.New(), Type: traintravel.BookingCreated, Created: time.Now(), Booking: traintravel.Booking{ID: uuid.New(), TripID: uuid.New(), PassengerName: name, Status: traintravel.Held},
			}})
			if err != nil || answer.Status != 200 {
				t.Fatalf("%+v, %v", answer, err)
			}
			c := <-got
			told, err := json.Marshal(map[string]any{"secret": string(secret), "headers": c.headers, "body": c.body})
			if err != nil {
				t.Fatal(err)
			}
			if out := verified(t, node, folder, told); out != name {
				t.Errorf("%q was posted, and %q verified", name, out)
			}
		}
	}
}

func verified(t *testing.T, node, folder string, in []byte) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), node, "--input-type=module", "--eval", verifier)
	cmd.Dir = folder
	cmd.Stdin = bytes.NewReader(in)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}
