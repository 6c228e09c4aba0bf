// Command webhook-receiver hears of each new booking, and of other events: it is what
// the address given to "traintravel serve --webhook" may lead to.
//
//	export TRAINTRAVEL_WEBHOOK_SECRET="whsec_$(openssl rand -base64 32)"
//	go run ./examples/webhook-receiver                      # listens on 127.0.0.1:8084
//	traintravel serve --webhook http://127.0.0.1:8084/
//
// Both have the secret: whsec_ and 24 to 64 random bytes in base64. Without the variable,
// serve makes one and keeps it in its keys file. Whoever has subscribed with POST /webhooks
// takes the secret of the answer. Once it runs, it answers the pings that verify the
// subscription; POST /webhooks/{webhookId}/ping has one posted now.
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

// An event is what is posted: newBooking is the booking alone, all others say what
// they are, and a ping is about nothing.
type event struct {
	booking
	Type string `json:"type"`
	Data struct {
		ID string `json:"id"`
	} `json:"data"`
}

// A booking is what newBooking carries.
type booking struct {
	ID            string            `json:"id"`
	TripID        string            `json:"trip_id"`
	PassengerName string            `json:"passenger_name"`
	HasBicycle    bool              `json:"has_bicycle"`
	HasDog        bool              `json:"has_dog"`
	Links         map[string]string `json:"links"`
}

// A receiver prints each event once. An event comes at least once: again if
// the answer was not 200 or got lost, with the same webhook-id, and in no
// promised order.
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

// checkSecret refuses what no sender of these events has as its secret, and says what to do.
// The error does not quote it.
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
	// The bytes as they came, before anything is made of them: who sent them, and not
	// longer than five minutes ago?
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

// once prints an event unless it has come before. An event counts as
// seen when its work is done, so that a failure is made up for by the retry.
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

// String quotes what comes from outside: it might steer the terminal.
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
