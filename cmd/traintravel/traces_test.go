package main

import (
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/traintravel/traintravel/internal/keys"
)

// A collected span is one that came to a collector.
type collected struct{ trace, id, parent string }

// A collection is what an OTLP collector was sent.
type collection struct {
	t     *testing.T
	mu    sync.Mutex
	raw   strings.Builder // every byte
	spans map[string][]collected
}

func collect(t *testing.T) (*collection, string) {
	t.Helper()
	c := &collection{t: t, spans: map[string][]collected{}}
	srv := httptest.NewServer(c)
	t.Cleanup(srv.Close)
	return c, srv.URL
}

func (c *collection) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var sent collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &sent)
	}
	if err != nil || r.URL.Path != "/v1/traces" {
		c.t.Errorf("%s: %v", r.URL, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintf(&c.raw, "%v %s", r.Header, body)
	for _, of := range sent.ResourceSpans {
		for _, in := range of.ScopeSpans {
			for _, s := range in.Spans {
				c.spans[s.Name] = append(c.spans[s.Name], collected{hex.EncodeToString(s.TraceId), hex.EncodeToString(s.SpanId), hex.EncodeToString(s.ParentSpanId)})
			}
		}
	}
}

// below says whether there is a span of a name in a trace, below another.
func (c *collection) below(trace, parent, name string) (id string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.spans[name], func(s collected) bool { return s.trace == trace && s.parent == parent })
	if i < 0 {
		return "", false
	}
	return c.spans[name][i].id, true
}

// A request's trace goes through the service to its store, its gateway and on to
// receivers; and nothing that is a secret, or names a passenger, is in traces, metrics
// or the log.
func TestTracesAndSecrets(t *testing.T) {
	got, url := collect(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url) // the exporter reads it itself
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
	hook, posted := receive(t)
	w := startWatched(t, os.Environ(), "--log-format", "json", "--log-level", "debug", "--access-log", "--webhook-allow-private", "--webhook", hook+"/operators-path")

	const theirs = "4bf92f3577b34da6a3ce929d0e0e4736"
	send := func(token, method, path, body string) (int, string) {
		t.Helper()
		req, err := http.NewRequest(method, w.base+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Traceparent", "00-"+theirs+"-00f067aa0ba902b7-01")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(text)
	}
	secret := w.call(w.token, "POST", "/webhooks", `{"url":"`+hook+`/users-path?key=hook-query"}`, 201)["secret"].(string)
	found := w.call(w.token, "GET", "/trips?limit=1&date="+soon()+"&origin="+berlin+"&destination="+paris, "", 200)
	trip := found["data"].([]any)[0].(map[string]any)
	b := w.call(w.token, "POST", "/bookings", fmt.Sprintf(`{"trip_id":%q,"passenger_name":"Zebulon Quast"}`, trip["id"]), 201)
	source := `{"object":"card","name":"Ottilie Quast","number":%q,"cvc":"917","exp_month":12,"exp_year":2040,"address_country":"DE","address_post_code":"Q1X9"}`
	pay := func(number string) (int, string) {
		return send(w.token, "POST", "/bookings/"+b["id"].(string)+"/payment",
			fmt.Sprintf(`{"amount":%v,"currency":%q,"source":`+source+`}`, trip["price"], trip["currency"], number))
	}
	if code, text := pay("4000000000000002"); code != 200 {
		t.Fatalf("a declined card: %d %s", code, text)
	}
	if code, text := pay("4242424242424242"); code != 200 || !strings.Contains(text, "succeeded") {
		t.Fatalf("%d %s", code, text)
	}
	send("not-a-token-q", "GET", "/webhooks?search=searched-for-q", "")
	send(w.token, "GET", "/stations?search=searched-for-q", "")
	send(w.token, "POST", "/bookings", `{"trip_id":"4242424242424242","passenger_name":"Zebulon Quast"}`)
	send(w.token, "GET", "/bookings?page=searched-for-q", "")
	var header http.Header
	for header == nil {
		select {
		case r := <-posted:
			if strings.Contains(r.body, b["id"].(string)) {
				header = r.header
			}
		case <-time.After(30 * time.Second):
			t.Fatal("no event came")
		}
	}
	scraped := w.metrics()
	if code := w.stop(); code != 0 {
		t.Fatalf("it ended with %d: %s", code, w.stderr)
	}

	for _, chain := range [][]string{
		{"POST /bookings/{bookingId}/payment", "PayBooking", "store.Update"},
		{"POST /bookings/{bookingId}/payment", "PayBooking", "gateway.Charge"},
		{"GET /stations", "Stations"},
	} {
		parent := "00f067aa0ba902b7"
		for _, name := range chain {
			id, ok := got.below(theirs, parent, name)
			if !ok {
				t.Errorf("there is no span %s in %v", name, chain)
			}
			parent = id
		}
	}
	parts := strings.Split(header.Get("Traceparent"), "-")
	if len(parts) != 4 || !slices.ContainsFunc(got.spans["webhook.Send"], func(s collected) bool { return s.trace == parts[1] && s.id == parts[2] }) {
		t.Errorf("the receiver got the trace %v", parts)
	}
	log := w.stderr.String()
	if !strings.Contains(log, `"route":"/bookings/{bookingId}/payment"`) || !strings.Contains(log, `"trace":"`+theirs+`"`) {
		t.Errorf("the log does not name the trace of a request: %s", log)
	}

	ring, err := keys.Load(filepath.Join(w.folder, "t.keys.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{
		"Quast", "4242424242424242", "4000000000000002", "917\"", "Q1X9", w.token, strings.Split(w.token, ".")[2], secret, strings.TrimPrefix(secret, "whsec_"),
		ring.WebhookSecret(), ring.ProgramSecret(), "not-a-token-q", "searched-for-q", "hook-query", "users-path", "operators-path",
	} {
		for name, text := range map[string]string{"the log": log, "the metrics": fmt.Sprint(scraped), "the traces": got.raw.String()} {
			if strings.Contains(text, secret) {
				i := strings.Index(text, secret)
				t.Errorf("%q is in %s: …%q…", secret, name, text[max(0, i-100):min(len(text), i+100)])
			}
		}
	}
}

// Another protocol than is spoken is a mistake that is named.
func TestTracesProtocol(t *testing.T) {
	t.Parallel()
	environ := []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4317", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc"}
	code, _, stderr := once(t, environ, "serve", "--data", filepath.Join(t.TempDir(), "t.db"), "--addr", "127.0.0.1:0")
	if code != 2 || !strings.Contains(stderr, `invalid OTEL_EXPORTER_OTLP_PROTOCOL "grpc": want http/protobuf`) {
		t.Errorf("%d: %s", code, stderr)
	}
}
