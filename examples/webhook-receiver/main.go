// Command webhook-receiver receives events of bookings, such as each new booking. Give its
// URL to "traintravel serve --webhook":
//
//	export TRAINTRAVEL_WEBHOOK_SECRET="whsec_$(openssl rand -base64 32)"
//	go run ./examples/webhook-receiver                      # listens on 127.0.0.1:8084
//	traintravel serve --webhook http://127.0.0.1:8084/
//
// Both need the secret: whsec_ and 24 to 64 random bytes in base64. Without the variable,
// serve makes one and stores it in its keys file. For a subscription by POST /webhooks, use
// the secret in the response. The receiver answers the pings that verify a subscription;
// POST /webhooks/{webhookId}/ping sends one at once.
package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Getenv("TRAINTRAVEL_WEBHOOK_SECRET"), os.Stdout)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "webhook-receiver:", err)
		os.Exit(1)
	}
}

// run listens until ctx ends.
func run(ctx context.Context, args []string, secret string, out io.Writer) error {
	flags := flag.NewFlagSet("webhook-receiver", flag.ContinueOnError)
	addr := flags.String("addr", "127.0.0.1:8084", "`address` to listen on")
	if err := flags.Parse(args); err != nil {
		return err
	}
	r, err := newReceiver(secret, out)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "listening on http://%s/\n", listener.Addr())
	server := http.Server{
		Handler: r, MaxHeaderBytes: 32 << 10,
		ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, IdleTimeout: time.Minute,
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done(): // finish what is under way
		drain, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		return server.Shutdown(drain)
	}
}

// An event is the body of a delivery. For newBooking it is just the booking; all others
// have a type and the ID of their booking, except pings.
type event struct {
	booking
	Type string `json:"type"`
	Data struct {
		ID string `json:"id"`
	} `json:"data"`
}

// A booking is the body of newBooking.
type booking struct {
	ID            string            `json:"id"`
	TripID        string            `json:"trip_id"`
	PassengerName string            `json:"passenger_name"`
	HasBicycle    bool              `json:"has_bicycle"`
	HasDog        bool              `json:"has_dog"`
	Links         map[string]string `json:"links"`
}

// A receiver prints each event once. An event arrives at least once. If the response was
// lost or not 200, it arrives again with the same webhook-id. The order is not guaranteed.
type receiver struct {
	mux   http.ServeMux
	hooks *standardwebhooks.Webhook

	mu    sync.Mutex
	out   io.Writer
	seen  map[string]bool // by webhook-id; keep it with your own data instead
	order []string        // of seen, oldest first
}

const (
	maxBody = 64 << 10
	maxID   = 256
	maxSeen = 100_000 // the oldest are forgotten
)

// checkSecret returns an error for an invalid secret. The error says what to do, and does not
// contain the secret.
func checkSecret(secret string) error {
	const name = "TRAINTRAVEL_WEBHOOK_SECRET"
	const advice = `; set it to the secret that "traintravel serve" has, or that POST /webhooks has answered, whole and without blanks; a new one for both is "whsec_$(openssl rand -base64 32)"`
	if secret == "" {
		return errors.New(name + " is not set" + advice)
	}
	encoded, ok := strings.CutPrefix(secret, "whsec_")
	if !ok {
		return errors.New(name + " does not begin with whsec_" + advice)
	}
	key, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil {
		return errors.New(name + " has something after whsec_ that is not base64 (RFC 4648, section 4, with padding)" + advice)
	}
	if len(key) < 24 || len(key) > 64 {
		return fmt.Errorf("%s has %d bytes after whsec_, not 24 to 64%s", name, len(key), advice)
	}
	return nil
}

func newReceiver(secret string, out io.Writer) (*receiver, error) {
	if err := checkSecret(secret); err != nil {
		return nil, err
	}
	hooks, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		return nil, err
	}
	r := &receiver{hooks: hooks, out: out, seen: map[string]bool{}}
	r.mux.HandleFunc("POST /", r.receive) // any other method is 405
	return r, nil
}

// ServeHTTP answers a delivery.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) { r.mux.ServeHTTP(w, req) }

func (r *receiver) receive(w http.ResponseWriter, req *http.Request) {
	if kind, _, err := mime.ParseMediaType(req.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		http.Error(w, "send application/json", http.StatusUnsupportedMediaType)
		return
	}
	id := req.Header.Get("Webhook-Id")
	if id == "" || len(id) > maxID {
		http.Error(w, "header webhook-id is missing or too long", http.StatusBadRequest)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		http.Error(w, "the body has more than 64 KiB", http.StatusRequestEntityTooLarge)
		return
	}
	// Verify the signature of the raw body before parsing it, and that it is at most five
	// minutes old.
	if err == nil && r.hooks.Verify(body, req.Header) != nil {
		http.Error(w, "invalid signature", http.StatusUnauthorized)
		return
	}
	var e event
	if err != nil || json.Unmarshal(body, &e) != nil || e.ID == "" && e.Type == "" {
		http.Error(w, "the body is neither a booking nor an event", http.StatusBadRequest)
		return
	}
	if err := r.once(id, e); err != nil {
		http.Error(w, "try again later", http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusOK) // 200 and nothing else acknowledges it
}

// once prints an event unless it was printed before. An event counts as seen only after its
// work is done, so that a retry repeats failed work.
func (r *receiver) once(id string, e event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen[id] {
		return nil
	}
	if _, err := fmt.Fprintln(r.out, e); err != nil {
		return err
	}
	r.seen[id] = true
	if r.order = append(r.order, id); len(r.order) > maxSeen {
		delete(r.seen, r.order[0])
		r.order = r.order[1:]
	}
	return nil
}

// String quotes all values, because they could contain control characters for the terminal.
func (e event) String() string {
	switch {
	case e.Type == "":
		return fmt.Sprintf("booking %q of trip %q for %q%s", e.ID, e.TripID, e.PassengerName, with(e.booking))
	case e.Data.ID == "":
		return fmt.Sprintf("%q", e.Type)
	}
	return fmt.Sprintf("%q of %q", e.Type, e.Data.ID)
}

func with(b booking) (text string) {
	if b.HasBicycle {
		text += ", with a bicycle"
	}
	if b.HasDog {
		text += ", with a dog"
	}
	return text
}
