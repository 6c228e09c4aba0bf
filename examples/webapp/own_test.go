package main

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// Whoever has not signed in searches, completes stations and reads about trips. Signing in
// comes with booking, says which site asks, and leads back to the trip.
func TestSearchWithoutSigningIn(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, log := rw.open(t)
	v := newVisitor(t, site)
	v.get("/stations?q=paris").want(t, 200, `"name":"Paris Gare du Nord"`)
	v.get("/trips?from=paris&to=berlin&date="+tomorrow(rw)).want(t, 200, "Which station do you start at?")
	trips := v.get(tripsTomorrow(rw))
	trips.want(t, 200, "€113.58", "460 seats left", "Sign in</a>")
	trip := v.chooseTrip(trips)
	trip.want(t, 200, "Your trip", "Sign in and book", `href="`+trip.at.Path+`/book`)
	if strings.Contains(trip.text, "csrf") {
		t.Error("the page has a form for who is signed in")
	}
	signIn := v.get(trip.at.Path + "/book")
	signIn.want(t, 200, "Sign in to Overland", "sent back to <strong>"+strings.TrimPrefix(site, "http://"))
	v.fill(v.fill(signIn, "/oauth/sign-in", "user", "anna"), "/oauth/consent", "decision", "allow").want(t, 200, "Who travels?", "Sign out")

	grants := map[string]int{}
	for _, form := range v.tokenRequests(rw) {
		for _, grant := range []string{"client_credentials", "authorization_code"} {
			if strings.Contains(form, "grant_type="+grant) {
				grants[grant]++
			}
		}
		if strings.Contains(form, "client_credentials") && (!strings.Contains(form, "scope=read&") && !strings.HasSuffix(form, "scope=read") || strings.Contains(form, "write")) {
			t.Errorf("the site asks for more than it needs: %s", form)
		}
	}
	if grants["client_credentials"] != 1 || grants["authorization_code"] != 1 {
		t.Errorf("tokens were asked for by %v", grants)
	}
	if strings.Contains(log.String(), clientSecret) {
		t.Error("the log has the secret of the site")
	}
}

// If the API refuses the site's own token, one new token is tried. If that is refused too,
// people are told that the railway cannot be reached, and are not sent to sign in.
func TestOwnTokenRefused(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	v := newVisitor(t, site)
	v.get(tripsTomorrow(rw)).want(t, 200, "€113.58")
	refusals := 1
	rw.answering(func(w http.ResponseWriter, r *http.Request) bool {
		if refusals == 0 || !strings.HasPrefix(r.URL.Path, "/stations") {
			return false
		}
		refusals--
		return refuse(w, 401, "unauthorized", "")
	})
	v.get("/stations?q=paris").want(t, 200, "Paris Gare du Nord")
	if n := rw.count("POST /oauth/token"); n != 2 {
		t.Errorf("%d tokens were asked for, want 2", n)
	}
	refusals = -1
	v.get("/trips?from=rome&to=milan&date="+tomorrow(rw)).want(t, 502, "We cannot reach the railway")
	v.get("/stations?q=lyon").want(t, 502, "We cannot reach the railway")
}
