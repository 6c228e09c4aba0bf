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
		shop.URL:  "3 201 true true true 204 404 Not found 401",
		other.URL: "blocked",
	} {
		b.do(chromedp.Navigate(origin+"/?api="+api.URL), chromedp.WaitReady(css("#told:not(:empty)")))
		if told := run(b, chromedp.Text(css("#told"))); told != want {
			t.Errorf("the page tells %q, want %q", told, want)
		}
	}
}

// appPage is an application that signs a user in by the authorization code flow
// with PKCE, all but the pages for people by fetch, and says what it could do.
const appPage = `<!doctype html><title>app</title><pre id="told"></pre><script type="module">
const here = new URL(location), issuer = here.searchParams.get("issuer") ?? sessionStorage.issuer;
const self = here.origin + "/", encode = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)))
	.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const said = [];
const tell = async (name, fn) => { try { said.push(name + " " + await fn()); } catch (e) { said.push(name + " blocked"); } };
const form = (to, fields) => fetch(to, {method: "POST", body: new URLSearchParams({client_id: "traintravel-demo", ...fields}), headers: {"X-App": "1"}});
if (!here.searchParams.has("code")) {
	await tell("metadata", async () => {
		const known = await (await fetch(issuer + "/.well-known/oauth-authorization-server")).json();
		sessionStorage.issuer = issuer;
		sessionStorage.known = JSON.stringify(known);
		sessionStorage.verifier = encode(crypto.getRandomValues(new Uint8Array(32)));
		const query = new URLSearchParams({client_id: "traintravel-demo", redirect_uri: self, response_type: "code", scope: "read", state: "s",
			code_challenge_method: "S256", code_challenge: encode(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(sessionStorage.verifier)))});
		await tell("sign-in", async () => (await fetch(known.authorization_endpoint + "?" + query, {credentials: "include"})).status);
		if (!said.includes("sign-in blocked")) throw said;
		location = known.authorization_endpoint + "?" + query;
		await new Promise(() => {});
	});
	await tell("keys", async () => (await fetch(issuer + "/oauth/jwks")).status);
	await tell("token", async () => (await form(issuer + "/oauth/token", {})).status);
	await tell("revocation", async () => (await form(issuer + "/oauth/revoke", {})).status);
} else {
	const known = JSON.parse(sessionStorage.known);
	await tell("no token", async () => (await (await form(known.token_endpoint, {grant_type: "authorization_code"})).json()).error);
	let granted;
	await tell("token", async () => {
		const answer = await form(known.token_endpoint, {grant_type: "authorization_code", code: here.searchParams.get("code"),
			redirect_uri: self, code_verifier: sessionStorage.verifier});
		granted = await answer.json();
		return answer.status;
	});
	await tell("stations", async () => (await fetch(issuer + "/stations", {headers: {Authorization: "Bearer " + granted.access_token}})).status);
	await tell("keys", async () => (await (await fetch(known.jwks_uri)).json()).keys.length > 0);
	await tell("revocation", async () => (await form(known.revocation_endpoint, {token: granted.refresh_token})).status);
	await tell("consent", async () => (await fetch(known.authorization_endpoint + location.search, {credentials: "include"})).status);
}
document.querySelector("#told").textContent = said.join(", ");
</script>`

// An application in the browser, of an origin that is allowed, signs its user in;
// one of another origin gets nothing; and what people see no application reads.
func TestPageSignsIn(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(appPage))
	})
	app, other := httptest.NewServer(page), httptest.NewServer(page)
	t.Cleanup(app.Close)
	t.Cleanup(other.Close)
	var handler http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	handler = withSignIn(t, server.URL, nil, []string{app.URL})

	b.do(chromedp.Navigate(other.URL+"/?issuer="+server.URL), chromedp.WaitReady(css("#told:not(:empty)")))
	if told := run(b, chromedp.Text(css("#told"))); told != "metadata blocked, keys blocked, token blocked, revocation blocked" {
		t.Errorf("another page tells %q", told)
	}
	b.do(chromedp.Navigate(app.URL + "/?issuer=" + server.URL))
	b.allow("anna")
	b.do(chromedp.WaitReady(css("#told:not(:empty)")))
	const want = "no token invalid_request, token 200, stations 200, keys true, revocation 200, consent blocked"
	if told := run(b, chromedp.Text(css("#told"))); told != want {
		t.Errorf("the page tells %q, want %q", told, want)
	}
}
