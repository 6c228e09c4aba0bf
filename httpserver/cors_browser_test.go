package httpserver_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// shopPage is a page that lists stations, books and reads what only some
// answers have, and says so.
const shopPage = `<!doctype html><title>shop</title><pre id="told"></pre><script type="module">
const api = new URL(location).searchParams.get("api");
const call = (path, options = {}) => fetch(api + path, {...options, headers: {Authorization: "Bearer anna-rw", ...options.headers}});
const said = [];
try {
	const stations = await (await call("/stations?limit=3")).json();
	said.push(stations.data.length);
	const trips = await (await call("SEARCH")).json();
	const made = await call("/bookings", {
		method: "POST",
		headers: {"Content-Type": "application/json", "Idempotency-Key": "k"},
		body: JSON.stringify({trip_id: trips.data[0].id, passenger_name: "Anna Example"}),
	});
	said.push(made.status, made.headers.get("Location") !== null, made.headers.get("RateLimit") !== null, made.headers.get("Sunset") !== null);
	const id = (await made.json()).id;
	said.push((await call("/bookings/" + id, {method: "DELETE"})).status);
	const none = await call("/bookings/" + id);
	said.push(none.status, (await none.json()).title);
	said.push((await fetch(api + "/bookings")).status);
} catch (e) {
	said.push("blocked");
}
document.querySelector("#told").textContent = said.join(" ");
document.title = "done";
</script>`

// A page of an origin that is allowed books, and reads refusals; one of another
// origin gets nothing.
func TestPageOfAnotherOrigin(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(strings.Replace(shopPage, "SEARCH", search, 1)))
	})
	shop, other := httptest.NewServer(page), httptest.NewServer(page)
	t.Cleanup(shop.Close)
	t.Cleanup(other.Close)
	w := newWorld(t, func(w *world) { w.options.CORSOrigins = []string{shop.URL} })
	api := httptest.NewServer(w.server)
	t.Cleanup(api.Close)

	for origin, want := range map[string]string{
		shop.URL:  "3 201 true true true 204 404 There is nothing here 401",
		other.URL: "blocked",
	} {
		b.do(chromedp.Navigate(origin+"/?api="+api.URL), chromedp.WaitReady(css("#told:not(:empty)")))
		if told := run(b, chromedp.Text(css("#told"))); told != want {
			t.Errorf("the page tells %q, want %q", told, want)
		}
	}
}
