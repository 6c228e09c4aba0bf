package httpserver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/traintravel/traintravel"
)

// A webhook is one as answers show it.
type webhook struct {
	ID, URL, Secret string
	Events          []string
	Disabled        bool
}

// A posting is a delivery as answers show it.
type posting struct {
	ID, Event, Status string
	Attempts          int
	LastStatus        *int       `json:"last_status"`
	Next              *time.Time `json:"next_attempt_at"`
}

func (p posting) String() string {
	last := "no answer"
	if p.LastStatus != nil {
		last = fmt.Sprint(*p.LastStatus)
	}
	return fmt.Sprintf("%s %s after %d: %s", p.Event, p.Status, p.Attempts, last)
}

// subscribe makes a webhook.
func (w *world) subscribe(token, url string, events ...string) (hook webhook) {
	w.t.Helper()
	text := `{"url":"` + url + `"}`
	if len(events) > 0 {
		text = `{"url":"` + url + `","events":["` + strings.Join(events, `","`) + `"]}`
	}
	w.do("POST", "/webhooks", as(token), body(text)).want(201).into(&hook)
	return hook
}

// postings are the deliveries of a webhook of anna's, the newest first, but for the ping
// that verified it.
func (w *world) postings(hook webhook) []posting {
	w.t.Helper()
	var all struct{ Data []posting }
	w.get("/webhooks/" + hook.ID + "/deliveries").want(200).into(&all)
	return slices.DeleteFunc(all.Data, func(p posting) bool { return p.Event == "ping" && p.LastStatus != nil && *p.LastStatus == 204 })
}

// expect fails unless the newest delivery of a webhook is so, and returns it.
func (w *world) expect(hook webhook, want string) posting {
	w.t.Helper()
	all := w.postings(hook)
	if len(all) == 0 || all[0].String() != want {
		w.t.Fatalf("the deliveries are %v, want %s", all, want)
	}
	return all[0]
}

func (w *world) now() time.Time { return w.service_.Now() }

// An event is tried ten times, as its schedule has it, and whoever has it tried again
// afterwards gets the same event.
func TestWebhookSchedule(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hook := newReceiver(204)
		w := newWorld(t, withWebhooks(hook))
		sub := w.subscribe("anna-rw", "https://shop.example/")
		w.pay(w.book()) // it stays when the journey is over
		w.deliver()
		for n, wait := range []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
			10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour} {
			d := w.expect(sub, fmt.Sprintf("newBooking pending after %d: 204", n+1))
			in := d.Next.Sub(w.now())
			if in < wait*4/5-time.Second || in > wait*6/5 || len(hook.all()) != n+1 {
				t.Fatalf("after %d attempts and %d posts it waits for %v, want about %v", n+1, len(hook.all()), in, wait)
			}
			w.later(in - time.Second) // answers show seconds
			if w.deliver(); len(hook.all()) != n+1 {
				t.Fatalf("it was posted before its time")
			}
			w.later(2 * time.Second)
			w.deliver()
		}
		d := w.expect(sub, "newBooking dead after 10: 204")
		w.later(25 * 24 * time.Hour)
		if w.deliver(); len(hook.all()) != 10 || d.Next != nil {
			t.Fatalf("a dead letter was posted, or is to be at %v", d.Next)
		}
		hook.status.Store(200)
		retry := "/webhooks/" + sub.ID + "/deliveries/" + d.ID + "/retry"
		w.do("POST", retry, as("anna-rw")).want(202)
		w.deliver()
		w.expect(sub, "newBooking delivered after 1: 200")
		w.do("POST", retry, as("anna-rw")).problem(409, "delivered")
		got := hook.all()
		if first, last := got[0], got[10]; len(got) != 11 || first.body != last.body || first.header.Get("webhook-id") != last.header.Get("webhook-id") {
			t.Errorf("%d posts; the first was\n%s, %v\nand the last\n%s, %v", len(got), first.body, first.header, last.body, last.header)
		}
		w.later(31 * 24 * time.Hour)
		w.deliver()
		if all := w.postings(sub); len(all) != 0 {
			t.Errorf("%v is still there", all)
		}
	})
}

// A receiver has its say: Retry-After, 410, and nothing at all.
func TestWebhookReceivers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		say := func(*http.Request) (*http.Response, error) { return nil, nil }
		w := newWorld(t, withWebhooks(transport(func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			answer := say
			mu.Unlock()
			return answer(r)
		})))
		says := func(status int, after string, err error) {
			mu.Lock()
			defer mu.Unlock()
			say = func(*http.Request) (*http.Response, error) {
				if err != nil {
					return nil, err
				}
				return &http.Response{StatusCode: status, Header: http.Header{"Retry-After": {after}}, Body: http.NoBody}, nil
			}
		}
		sub := w.subscribe("anna-rw", "https://shop.example/")
		w.later(time.Second)

		says(503, "3600", nil)
		w.book()
		w.deliver()
		if d := w.expect(sub, "newBooking pending after 1: 503"); d.Next.Sub(w.now()) != time.Hour {
			t.Errorf("it asked for an hour: %v", d.Next.Sub(w.now()))
		}
		says(429, time.Now().Add(2*time.Hour).UTC().Format(http.TimeFormat), nil)
		w.later(time.Hour)
		w.deliver()
		if d := w.expect(sub, "newBooking pending after 2: 429"); d.Next.Sub(w.now()).Round(time.Minute) != 2*time.Hour {
			t.Errorf("it asked for two hours: %v", d.Next.Sub(w.now()))
		}
		says(0, "", errors.New("the secret of another"))
		w.later(2 * time.Hour)
		w.deliver()
		w.expect(sub, "newBooking pending after 3: no answer")
		for target := range map[string]bool{"/webhooks": true, "/webhooks/" + sub.ID: true, "/webhooks/" + sub.ID + "/deliveries": true} {
			if a := w.get(target); strings.Contains(a.body, "secret") {
				t.Errorf("%s shows %s", target, a.body)
			}
		}

		says(410, "", nil)
		w.later(time.Hour)
		w.deliver()
		dead := w.expect(sub, "newBooking dead after 4: 410")
		w.do("POST", "/webhooks/"+sub.ID+"/deliveries/"+dead.ID+"/retry", as("anna-rw")).problem(409, "webhook-disabled")
		var is webhook
		a := w.get("/webhooks/" + sub.ID)
		if a.into(&is); !is.Disabled {
			t.Error("it is gone, and not disabled")
		}
		when := w.now().UTC().Format(time.RFC3339)
		for _, a := range []answer{a, w.get("/webhooks")} {
			if !strings.Contains(a.body, `"disabled":true,"disabled_by":"receiver","disabled_reason":"its receiver responded with 410 Gone","disabled_at":"`+when+`"`) {
				t.Errorf("who disabled it at %s is not in %s", when, a.body)
			}
		}
		if a := w.get("/webhooks/" + sub.ID + "/deliveries"); !strings.Contains(a.body, `"ended_at":"`+when+`","dead_reason":"gone"`) {
			t.Errorf("why it is dead is not in %s", a.body)
		}
		w.book()
		w.deliver()
		if all := w.postings(sub); len(all) != 1 {
			t.Errorf("a webhook that is disabled gets %v", all)
		}
		says(200, "", nil)
		w.do("POST", "/webhooks/"+sub.ID+"/ping", as("anna-rw")).want(202)
		w.deliver()
		w.expect(sub, "ping delivered after 1: 200")
		w.do("PATCH", "/webhooks/"+sub.ID, as("anna-rw"), body(`{"disabled":false}`)).want(200).into(&is)
		w.later(time.Second)
		w.book()
		w.deliver()
		w.expect(sub, "newBooking delivered after 1: 200")
		if is.Disabled || len(w.postings(sub)) != 3 {
			t.Errorf("%+v, %v", is, w.postings(sub))
		}
	})
}

// A receiver that never answers has 15 seconds, and holds up no other.
func TestWebhookSlowReceiver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hook := newReceiver(200)
		w := newWorld(t, withWebhooks(transport(func(r *http.Request) (*http.Response, error) {
			if r.URL.Host == "slow.example" {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			return hook.RoundTrip(r)
		})))
		slow, quick := w.subscribe("anna-rw", "https://slow.example/"), w.subscribe("anna-rw", "https://quick.example/")
		w.later(time.Second)
		for range 3 {
			w.book()
		}
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = w.service.Run(ctx) })
		time.Sleep(14 * time.Second)
		w.expect(quick, "newBooking delivered after 1: 200")
		w.expect(slow, "newBooking pending after 0: no answer")
		time.Sleep(34 * time.Second) // one after another is given up
		w.expect(slow, "newBooking pending after 1: no answer")
		w.do("DELETE", "/webhooks/"+slow.ID, as("anna-rw")).want(204) // with deliveries under way
		w.later(time.Hour)
		time.Sleep(time.Minute)
		stop()
		running.Wait()
		w.get("/webhooks/"+slow.ID+"/deliveries").problem(404, "not-found")
		if len(hook.all()) != 3 {
			t.Errorf("%d posts", len(hook.all()))
		}
	})
}

// Both secrets sign for a day, as the official library sees it.
func TestWebhookRotation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hook := newReceiver(200)
		w := newWorld(t, withWebhooks(hook))
		sub := w.subscribe("anna-rw", "https://shop.example/")
		ping := func(good ...string) {
			t.Helper()
			w.later(time.Second)
			w.do("POST", "/webhooks/"+sub.ID+"/ping", as("anna-rw")).want(202)
			w.deliver()
			got := hook.all()[len(hook.all())-1]
			if n := len(strings.Fields(got.header.Get("webhook-signature"))); n != len(good) {
				t.Errorf("%d signatures, want %d", n, len(good))
			}
			for _, secret := range good {
				got.verify(t, traintravel.Secret(secret))
			}
		}
		ping(sub.Secret)
		var next webhook
		w.do("POST", "/webhooks/"+sub.ID+"/secret", as("anna-rw")).want(200).into(&next)
		if next.Secret == sub.Secret || next.Secret == "" {
			t.Error("the secret is not another")
		}
		ping(next.Secret, sub.Secret)
		w.later(24 * time.Hour)
		ping(next.Secret)
		if strings.Contains(w.log.String(), "whsec_") {
			t.Error("a secret is in the log")
		}
	})
}

// A webhook may be made disabled: it gets nothing before it is enabled.
func TestWebhookBeginsDisabled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hook := newReceiver(200)
		w := newWorld(t, withWebhooks(hook))
		create := func(text string) answer {
			return w.do("POST", "/webhooks", as("anna-rw"), body(`{"url":"https://shop.example/"`+text+`}`), key("one"))
		}
		var sub webhook
		if create(`,"disabled":true`).want(201).into(&sub); !sub.Disabled {
			t.Errorf("%+v", sub)
		}
		create(`,"disabled":true`).want(201)
		create(`,"disabled":false`).problem(422, "key-reused")
		create("").problem(422, "key-reused")
		create(`,"disabled":"yes"`).problem(400, "invalid-request")
		w.later(time.Second)
		w.book()
		w.deliver()
		if all := w.postings(sub); len(all) != 0 || len(hook.all()) != 0 {
			t.Errorf("%v, %d posts", all, len(hook.all()))
		}
		w.do("PATCH", "/webhooks/"+sub.ID, as("anna-rw"), body(`{"disabled":false}`)).want(200).into(&sub)
		w.later(time.Second)
		w.book()
		w.deliver()
		w.expect(sub, "newBooking delivered after 1: 200")
		if len(hook.all()) != 1 {
			t.Errorf("%d posts", len(hook.all()))
		}
	})
}

// Tests every operation on webhooks of every caller by every other, with all scopes.
func TestWebhookMatrix(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	callers := []string{"anna app", "anna other", "berta app", "partner partner", "client:partner partner"}
	token := func(caller, scopes string) part {
		name, client, _ := strings.Cut(caller, " ")
		return as(name + "-" + scopes + "-" + client)
	}
	var elsewhere posting // of somebody else's webhook
	w.do("POST", "/webhooks/"+w.subscribe("carl-rw", "https://shop.example").ID+"/ping", as("carl-rw")).want(202).into(&elsewhere)
	for _, scopes := range []string{"", "r", "w", "rw"} {
		for _, owner := range callers {
			for _, by := range callers {
				var hook webhook
				w.do("POST", "/webhooks", token(owner, "rw"), body(`{"url":"https://shop.example"}`)).want(201).into(&hook)
				at := "/webhooks/" + hook.ID
				var ping posting
				w.do("POST", at+"/ping", token(owner, "rw")).want(202).into(&ping)
				for _, o := range []struct {
					method, target string
					read           bool
					good           int
				}{
					{"GET", at, true, 200}, {"GET", at + "/deliveries", true, 200}, {"PATCH", at, false, 200}, {"POST", at + "/secret", false, 200},
					{"POST", at + "/ping", false, 202}, {"POST", at + "/deliveries/" + ping.ID + "/retry", false, 202},
					{"POST", at + "/deliveries/" + elsewhere.ID + "/retry", false, 404}, {"DELETE", at, false, 204},
				} {
					want := o.good
					switch {
					case scopes != "rw" && (!o.read || scopes != "r"):
						want = 403
					case owner != by:
						want = 404
					}
					a := w.do(o.method, o.target, token(by, scopes), body("{}"))
					if a.status != want {
						t.Errorf("%s %s of %s by %s with %q: %d, want %d", o.method, strings.TrimPrefix(o.target, at), owner, by, scopes, a.status, want)
					}
					if want == 403 && !o.read && !strings.Contains(a.header.Get("Www-Authenticate"), `scope="read write"`) {
						t.Errorf("403 says %q", a.header["Www-Authenticate"])
					}
				}
				list := w.do("GET", "/webhooks", token(by, scopes))
				if shown := strings.Contains(list.body, hook.ID); shown != (owner == by && scopes == "r") || (list.status == 403) != !strings.Contains(scopes, "r") {
					t.Errorf("%s with %q lists %d %s", by, scopes, list.status, list.body)
				}
				w.do("DELETE", at, token(owner, "rw"))
			}
		}
		for _, by := range callers {
			want := 403
			if scopes == "rw" {
				want = 201
			}
			if a := w.do("POST", "/webhooks", token(by, scopes), body(`{"url":"https://shop.example"}`)); a.status != want {
				t.Errorf("subscribing by %s with %q: %d", by, scopes, a.status)
			}
		}
	}
}

// Tests which webhooks get the events of which bookings.
func TestWebhookAudience(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		got := map[string][]string{} // bookings by host
		w := newWorld(t, withWebhooks(transport(func(r *http.Request) (*http.Response, error) {
			text, err := io.ReadAll(r.Body)
			mu.Lock()
			defer mu.Unlock()
			got[r.URL.Host] = append(got[r.URL.Host], strings.Split(string(text), `"`)[3])
			return &http.Response{StatusCode: 200, Body: http.NoBody}, err
		}), "https://operator.example/"))
		for host, by := range map[string]string{
			"anna": "anna-rw-app", "anna-other": "anna-rw-other", "berta": "berta-rw-app",
			"partner":      "client:partner-rw-partner", // named by the operator
			"shop":         "client:shop-rw-shop",       // not named
			"anna-partner": "anna-rw-partner",           // a user through it
		} {
			w.subscribe(by, "https://"+host+".example/")
		}
		w.later(time.Second)
		trip := w.trip().ID
		want := map[string][]string{}
		for by, hosts := range map[string]string{
			"anna-w-app": "anna anna-other anna-partner", "anna-w-other": "anna anna-other anna-partner", "berta-w-app": "berta", "berta-w-partner": "berta partner",
			"anna-w-partner": "anna anna-other anna-partner partner", "client:partner-w-partner": "partner", "client:shop-w-shop": "shop", "carl-w-shop": "",
		} {
			id := w.do("POST", "/bookings", as(by), body(newBooking(trip))).want(201).resource().ID
			for _, host := range append(strings.Fields(hosts), "operator") {
				want[host+".example"] = append(want[host+".example"], id)
			}
		}
		w.deliver()
		for _, m := range []map[string][]string{got, want} {
			for _, ids := range m {
				slices.Sort(ids)
			}
		}
		if !maps.EqualFunc(got, want, slices.Equal) {
			t.Errorf("got\n%v\nwant\n%v", got, want)
		}
	})
}

// A service that posts nothing has no webhooks.
func TestNoWebhooks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.service_.Webhooks = nil })
	for _, target := range []string{"/webhooks", "/webhooks/" + nobody, "/webhooks/" + nobody + "/ping"} {
		for _, method := range []string{"GET", "POST", "PATCH", "DELETE"} {
			w.do(method, target, as("anna-rw"), body("{}")).problem(404, "not-found")
		}
	}
}

// A URL is kept as the description has it, whatever letters its scheme and host come in.
func TestWebhookURLsAreNormal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	described := regexp.MustCompile(`^https?://[^#]+$`)
	for given, kept := range map[string]string{
		"HTTPS://Shop.EXAMPLE:8443/Hooks?A=B": "https://shop.example:8443/Hooks?A=B", "https://SHOP.example:": "https://shop.example",
		`https://shop.example/a b/ä/\\{x}/%2f?q=ü[]|&p=%zz%`: "https://shop.example/a%20b/%C3%A4/%5C%7Bx%7D/%2f?q=%C3%BC%5B%5D%7C&p=%25zz%25",
		"https://[2606:4700::ABCD]:4444/[":                   "https://[2606:4700::abcd]:4444/%5B",
		"https://Shop.example:/A":                            "https://shop.example/A", "https://Shop.example?A=http://B.example": "https://shop.example?A=http://B.example",
	} {
		hook := w.subscribe("anna-rw", given)
		if hook.URL != kept || !described.MatchString(hook.URL) {
			t.Errorf("%s is kept as %s", given, hook.URL)
		}
		w.do("PATCH", "/webhooks/"+hook.ID, as("anna-rw"), body(`{"url":"`+given+`"}`)).want(200).into(&hook)
		if hook.URL != kept {
			t.Errorf("%s is kept as %s", given, hook.URL)
		}
		w.do("DELETE", "/webhooks/"+hook.ID, as("anna-rw")).want(204)
	}
	for _, bad := range []string{`https://Shop.example/\n`, `https://Shop.example\\@127.0.0.1/`, "https://Anna@Shop.example", "https://boo\u212As.example", "https://shop .example/", "HTTP://shop.example", "HTTPS://LocalHost"} {
		if p := w.do("POST", "/webhooks", as("anna-rw"), body(`{"url":"`+bad+`"}`)).problem(400, "invalid-request"); p.names() != "/url" {
			t.Errorf("%s: wrong is %q", bad, p.names())
		}
	}
}
