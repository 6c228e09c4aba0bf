package httpserver_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An attack is a token that was made for one fault and has no other; or, if it has
// no fault, a neighbour of those that have.
type attack struct {
	name, token string
	why         string // in the log; "" is a good token
}

// What answers to requests without a good token say of tokens.
const (
	challengeNone = `Bearer realm="traintravel", scope="read", resource_metadata="` + base + `/.well-known/oauth-protected-resource"`
	challengeBad  = challengeNone + `, error="invalid_token"`
)

// Each fault is refused over HTTP by a server that has its keys from an issuer
// elsewhere; the client learns nothing but that, and the log the reason. What has no
// fault is let in, before and between.
func TestAttacks(t *testing.T) {
	t.Parallel()
	f := newForeignIssuer(t)
	k := signingKeys()
	unfit, byUnfit := f.unfitKeys()
	f.put("/keys", string(jwkSet(append(unfit, k["ec"].jwk(nil), k["ec2"].jwk(nil), k["ed"].jwk(nil), k["rs"].jwk(nil), k["ps"].jwk(nil))...)))
	w := f.server(t)
	good := f.draft(k["ec"]).sign(k["ec"])

	var refused answer // the first, which all others are like
	for topic, attacks := range map[string][]attack{
		"shape": f.badShapes(), "header": f.badHeaders(), "claims": f.badClaims(), "signature": f.badSignatures(), "key": byUnfit,
	} {
		faults := 0
		for _, c := range attacks {
			if a := w.do("GET", "/bookings", as(good)); a.status != 200 {
				t.Fatalf("the good token before %s is refused: %s", c.name, w.reason(a))
			}
			for _, when := range []string{"at first", "again"} {
				a := w.do("GET", "/bookings", as(c.token))
				if c.why == "" {
					if a.status != 200 {
						t.Errorf("%s: %s is refused %s: %s", topic, c.name, when, w.reason(a))
					}
					continue
				}
				faults++
				if reason := w.reason(a); a.status != 401 || !strings.Contains(reason, c.why) {
					t.Errorf("%s: %s %s: %d, and the log says %q, not %q", topic, c.name, when, a.status, reason, c.why)
					continue
				}
				if refused.body == "" {
					refused = a
				}
				if diff := cmp.Diff(outside(refused), outside(a)); diff != "" || a.header.Get("Www-Authenticate") != challengeBad {
					t.Errorf("%s: %s %s tells more: %q %s", topic, c.name, when, a.header.Get("Www-Authenticate"), diff)
				}
			}
		}
		if faults == 0 || faults == 2*len(attacks) && topic != "key" {
			t.Errorf("%s: %d attacks, %d refusals", topic, len(attacks), faults)
		}
	}
	if n := f.count("/evil"); n != 0 {
		t.Errorf("a token made the server ask for keys elsewhere, %d times", n)
	}
	if strings.Contains(w.log.String(), good[strings.LastIndexByte(good, '.'):]) {
		t.Error("the log has a token")
	}
}

// outside is what a client sees of a refusal, but for what is of this request alone.
func outside(a answer) map[string]string {
	seen := map[string]string{"body": a.body}
	if _, after, ok := strings.Cut(a.body, "urn:uuid:"); ok {
		seen["body"] = strings.Replace(a.body, after[:36], "", 1)
	}
	for name, values := range a.header {
		seen[name] = strings.Join(values, "; ")
	}
	maps.DeleteFunc(seen, func(name, _ string) bool { return name == "Ratelimit" || name == "Date" })
	return seen
}

// reason is what the log says of a refusal.
func (w *world) reason(a answer) string {
	_, id, _ := strings.Cut(a.body, "urn:uuid:")
	if len(id) < 36 {
		return ""
	}
	_, line, _ := strings.Cut(w.log.String(), "request="+id[:36])
	line, _, _ = strings.Cut(line, "\n")
	_, reason, _ := strings.Cut(line, " error=")
	return reason
}

// A valid token is accepted only as the only bearer token in the Authorization header.
func TestTokenOnlyInTheHeader(t *testing.T) {
	t.Parallel()
	f := newForeignIssuer(t)
	w := f.server(t)
	k := signingKeys()["ec"]
	good, other := f.draft(k).sign(k), f.draft(k).set("sub", `"bert"`).sign(k)
	form := func(r *http.Request) {
		body("access_token=" + good)(r)
		header("Content-Type", "application/x-www-form-urlencoded")(r)
	}
	for _, c := range []struct {
		name, method, target string
		parts                []part
		challenge            string // "" is let in
		why                  string
	}{
		{"alone", "GET", "/bookings", []part{as(good)}, "", ""},
		{"bearer in small letters, two blanks", "GET", "/bookings", []part{header("Authorization", "bearer  "+good)}, "", ""},
		{"beside a parameter that only looks like it", "GET", "/bookings?xaccess_token=" + good, []part{as(good)}, "", ""},
		{"no token", "GET", "/bookings", nil, challengeNone, "Authorization header is missing"},
		{"an empty header", "GET", "/bookings", []part{header("Authorization", "")}, challengeNone, "scheme"},
		{"no scheme", "GET", "/bookings", []part{header("Authorization", good)}, challengeNone, "scheme"},
		{"Basic", "GET", "/bookings", []part{header("Authorization", "Basic "+good)}, challengeNone, "scheme"},
		{"DPoP", "GET", "/bookings", []part{header("Authorization", "DPoP "+good)}, challengeNone, "scheme"},
		{"Bearer and a tab", "GET", "/bookings", []part{header("Authorization", "Bearer\t"+good)}, challengeNone, "scheme"},
		{"Bearer alone", "GET", "/bookings", []part{header("Authorization", "Bearer")}, challengeBad, "one token"},
		{"two tokens", "GET", "/bookings", []part{as(good + " " + good)}, challengeBad, "one token"},
		{"two tokens in a list", "GET", "/bookings", []part{as(good + ", Bearer " + other)}, challengeBad, "one token"},
		{"two headers", "GET", "/bookings", []part{header("Authorization", "Bearer "+good, "Bearer "+other)}, challengeBad, "2 Authorization headers"},
		{"two headers, the same", "GET", "/bookings", []part{header("Authorization", "Bearer "+good, "Bearer "+good)}, challengeBad, "2 Authorization headers"},
		{"a good and an empty header", "GET", "/bookings", []part{header("Authorization", "Bearer "+good, "")}, challengeBad, "2 Authorization headers"},
		{"in the query", "GET", "/bookings?access_token=" + good, nil, challengeBad, "in the URL"},
		{"in the query too", "GET", "/bookings?page=1&access_token=" + good, []part{as(good)}, challengeBad, "in the URL"},
		{"in the query, escaped", "GET", "/bookings?access%5Ftoken=" + good, nil, challengeNone, "Authorization header is missing"},
		{"in a form", "POST", "/bookings", []part{form}, strings.Replace(challengeNone, "read", "write", 1), "Authorization header is missing"},
		{"in a cookie", "GET", "/bookings", []part{header("Cookie", "access_token="+good)}, challengeNone, "Authorization header is missing"},
		{"in another header", "GET", "/bookings", []part{header("X-Forwarded-Authorization", "Bearer "+good)}, challengeNone, "Authorization header is missing"},
	} {
		a := w.do(c.method, c.target, c.parts...)
		if c.challenge == "" {
			a.want(200)
			continue
		}
		if reason := w.reason(a); a.status != 401 || a.header.Get("Www-Authenticate") != c.challenge || !strings.Contains(reason, c.why) {
			t.Errorf("%s: %d, %q, and the log says %q", c.name, a.status, a.header.Get("Www-Authenticate"), reason)
		}
	}
}

// A token allows what its scope says in so many letters; what it lacks is 403.
func TestScopesOfTokens(t *testing.T) {
	t.Parallel()
	f := newForeignIssuer(t)
	w := f.server(t)
	k := signingKeys()["ec"]
	for scope, want := range map[string][2]int{ // to GET, and to POST without a body
		`"read"`: {200, 403}, `"write"`: {403, 415}, `"write read"`: {200, 415}, `"openid  read x:y"`: {200, 403}, `" write "`: {403, 415},
		``: {403, 403}, `""`: {403, 403}, `"READ Write"`: {403, 403}, `"read,write"`: {403, 403}, `"read\twrite"`: {403, 403},
		`"readwrite"`: {403, 403}, `"read:all"`: {403, 403}, `["read","write"]`: {401, 401}, `null`: {401, 401}, `{"read":true}`: {401, 401},
	} {
		token := as(f.draft(k).set("scope", scope).set("Scope", `"read write"`).set("scp", `"read write"`).sign(k))
		get, post := w.do("GET", "/bookings", token), w.do("POST", "/bookings", token)
		if got := [2]int{get.status, post.status}; got != want {
			t.Errorf("scope %s: %d, want %d", scope, got, want)
		}
		if get.status == 403 && get.header.Get("Www-Authenticate") != challengeNone+`, error="insufficient_scope"` {
			t.Errorf("scope %s: %q", scope, get.header.Get("Www-Authenticate"))
		}
	}
}

// The tokens of one user and of one server are of no use elsewhere: what anna booked
// bert does not see, and a server for another audience takes none of them.
func TestTokensOfOthers(t *testing.T) {
	t.Parallel()
	f, stranger := newForeignIssuer(t), newForeignIssuer(t)
	w := f.server(t)
	k := signingKeys()["ec"]
	anna := f.draft(k).sign(k)
	b := w.do("POST", "/bookings", as(anna), body(newBooking(w.timetableTrip(t, anna)))).want(201).resource()
	for name, c := range map[string]struct {
		token  string
		status int
	}{
		"anna":                            {anna, 200},
		"anna by another client":          {f.draft(k).set("client_id", `"other"`).sign(k), 200},
		"Anna":                            {f.draft(k).set("sub", `"Anna"`).sign(k), 404},
		"bert":                            {f.draft(k).set("sub", `"bert"`).sign(k), 404},
		"a client by the name":            {f.draft(k).set("sub", `"bert"`).set("client_id", `"anna"`).sign(k), 404},
		"anna of another issuer":          {stranger.draft(k).sign(k), 401},
		"anna of one with the same key":   {f.draft(k).set("iss", `"`+stranger.URL+`"`).sign(k), 401},
		"anna for another server as well": {f.draft(k).set("aud", `["https://other.example","`+audience+`"]`).sign(k), 200},
		"anna for another server":         {f.draft(k).set("aud", `"https://other.example"`).sign(k), 401},
	} {
		if a := w.do("GET", "/bookings/"+b.ID, as(c.token)); a.status != c.status {
			t.Errorf("%s: %d, want %d: %s", name, a.status, c.status, w.reason(a))
		}
	}
}

// timetableTrip is a trip that the holder of a token may book.
func (w *world) timetableTrip(t *testing.T, token string) string {
	t.Helper()
	found := w.do("GET", search, as(token)).collection().Data
	if !slices.ContainsFunc(found, func(r resource) bool { return r.ID != "" }) {
		t.Fatal("there is no trip")
	}
	return found[0].ID
}
