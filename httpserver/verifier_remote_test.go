package httpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/traintravel/traintravel/httpserver"
)

// A foreignIssuer is an authorization server elsewhere, as far as a resource
// server sees it.
type foreignIssuer struct {
	*httptest.Server
	clock testClock

	mu        sync.Mutex
	documents map[string]string // by path
	asked     map[string]int
	down      bool
	hang      chan struct{} // if not nil, answers wait for it
}

func newForeignIssuer(t *testing.T) *foreignIssuer {
	f := &foreignIssuer{documents: map[string]string{}, asked: map[string]int{}}
	f.clock.start = time.Now().Truncate(time.Second)
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	f.documents["/.well-known/oauth-authorization-server"] = f.metadata(f.URL, f.URL+"/keys")
	f.serve(signingKeys()["ec"])
	return f
}

func (f *foreignIssuer) metadata(issuer, keys string) string {
	text, err := json.Marshal(map[string]any{"issuer": issuer, "jwks_uri": keys})
	if err != nil {
		panic(err)
	}
	return string(text)
}

func (f *foreignIssuer) serve(keys ...signingKey) {
	var set []map[string]any
	for _, k := range keys {
		set = append(set, k.jwk(nil))
	}
	f.put("/keys", string(jwkSet(set...)))
}

func (f *foreignIssuer) put(path, text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.documents[path] = text
}

func (f *foreignIssuer) setDown(down bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.down = down
}

// questions is how often the keys were asked for.
func (f *foreignIssuer) questions() int { return f.count("/keys") }

func (f *foreignIssuer) count(path string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked[path]
}

func (f *foreignIssuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.asked[r.URL.Path]++
	text, ok := f.documents[r.URL.Path]
	down, hang := f.down, f.hang
	f.mu.Unlock()
	if hang != nil {
		<-hang
	}
	switch {
	case down:
		w.WriteHeader(http.StatusServiceUnavailable)
	case !ok:
		http.NotFound(w, r)
	case strings.HasPrefix(text, "http"):
		http.Redirect(w, r, text, http.StatusFound)
	default:
		_, _ = w.Write([]byte(text))
	}
}

// source is the issuer's keys as a server of ours sees them.
func (f *foreignIssuer) source(t *testing.T, issuer string) httpserver.KeySource {
	t.Helper()
	keys, err := httpserver.RemoteKeys(httpserver.RemoteOptions{Issuer: issuer, Now: f.clock.now})
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// server is one that takes the issuer's tokens, by the issuer's clock.
func (f *foreignIssuer) server(t *testing.T, change ...func(*httpserver.VerifierOptions)) *world {
	t.Helper()
	return newWorld(t, func(w *world) {
		keys, err := httpserver.RemoteKeys(httpserver.RemoteOptions{Issuer: f.URL, Now: f.clock.now, Logger: w.options.Logger})
		if err != nil {
			t.Fatal(err)
		}
		w.options.Auth = newVerifier(t, append(change, withKeys(keys), func(o *httpserver.VerifierOptions) { o.Issuer, o.Now = f.URL, f.clock.now })...)
	})
}

// draft is a good token of the issuer's.
func (f *foreignIssuer) draft(k signingKey) draft {
	now := f.clock.now().Unix()
	return goodDraft(k).set("iss", `"`+f.URL+`"`).set("iat", fmt.Sprint(now)).set("exp", fmt.Sprint(now+600))
}

// tries returns what tells the status of the answer of a server of the issuer's to a
// token that is good for long if its key is.
func (f *foreignIssuer) tries(t *testing.T) func(signingKey) int {
	w := f.server(t)
	return func(k signingKey) int {
		return w.do("GET", "/bookings", as(f.draft(k).set("iat", "").set("exp", "4000000000").sign(k))).status
	}
}

// Keys are found through either kind of metadata, at any of its places.
func TestDiscovery(t *testing.T) {
	t.Parallel()
	const oauth, openid = "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"
	for _, c := range []struct {
		name, path string // of the issuer
		place      string
		issuer     string // that the document says, after the URL
		keys       string
		good       bool
	}{
		{"RFC 8414", "", oauth, "", "/keys", true},
		{"OpenID", "", openid, "", "/keys", true},
		{"RFC 8414 with a path", "/realms/x", oauth + "/realms/x", "/realms/x", "/keys", true},
		{"OpenID with a path", "/realms/x", "/realms/x" + openid, "/realms/x", "/keys", true},
		{"OpenID at the place of RFC 8414", "/realms/x", openid + "/realms/x", "/realms/x", "/keys", true},
		{"with a slash at its end", "/", openid, "/", "/keys", true},
		{"another issuer", "", oauth, "/other", "/keys", false},
		{"an issuer with a slash more", "", oauth, "/", "/keys", false},
		{"the document of another path", "/realms/x", oauth, "/realms/x", "/keys", false},
		{"keys elsewhere, not https", "", oauth, "", "http://keys.example/", false},
		{"keys by a file", "", oauth, "", "file:///etc/passwd", false},
		{"no keys", "", oauth, "", "-", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newForeignIssuer(t)
			delete(f.documents, oauth)
			if c.keys[0] == '/' {
				c.keys = f.URL + c.keys
			}
			f.put(c.place, f.metadata(f.URL+c.issuer, c.keys))
			set, err := f.source(t, f.URL+c.path).Keys(t.Context(), false)
			if c.good != (err == nil && set != nil) || !c.good && !errors.Is(err, httpserver.ErrUnavailable) {
				t.Errorf("%v %v", set, err)
			}
		})
	}
}

// Invalid responses of an issuer do no harm, and give no keys.
func TestBadAnswersOfIssuers(t *testing.T) {
	t.Parallel()
	const place = "/.well-known/oauth-authorization-server"
	for name, change := range map[string]func(*foreignIssuer){
		"metadata in HTML":         func(f *foreignIssuer) { f.put(place, "<html>") },
		"metadata twice the same":  func(f *foreignIssuer) { f.put(place, `{"issuer":"x",`+f.metadata(f.URL, f.URL+"/keys")[1:]) },
		"metadata endless":         func(f *foreignIssuer) { f.put(place, f.metadata(f.URL, f.URL+"/keys")+strings.Repeat(" ", 1<<20)) },
		"a redirect":               func(f *foreignIssuer) { f.put("/real", f.documents[place]); f.put(place, f.URL+"/real") },
		"a redirect of the keys":   func(f *foreignIssuer) { f.put("/real", f.documents["/keys"]); f.put("/keys", f.URL+"/real") },
		"keys in HTML":             func(f *foreignIssuer) { f.put("/keys", "<html>") },
		"keys endless":             func(f *foreignIssuer) { f.put("/keys", f.documents["/keys"]+strings.Repeat(" ", 1<<20)) },
		"keys not there":           func(f *foreignIssuer) { delete(f.documents, "/keys") },
		"a server that is failing": func(f *foreignIssuer) { f.setDown(true) },
		"nobody":                   func(f *foreignIssuer) { f.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newForeignIssuer(t)
			change(f)
			if status := f.tries(t)(signingKeys()["ec"]); status != 503 {
				t.Error(status)
			}
			if f.count("/real") != 0 {
				t.Error("a redirect was followed")
			}
		})
	}
}

func TestIssuerURLs(t *testing.T) {
	t.Parallel()
	for issuer, good := range map[string]bool{
		"https://issuer.example": true, "https://issuer.example/a/": true, "http://127.0.0.1:1": true, "http://[::1]:1": true, "http://localhost": true,
		"http://issuer.example": false, "http://127.0.0.1.issuer.example": false, "http://0.0.0.0": false, "http://10.0.0.1": false,
		"https://issuer.example?x": false, "https://issuer.example#": false, "https://a@issuer.example": false, "issuer.example": false, "": false,
		"ftp://issuer.example": false, "https:issuer.example": false, "https://": false,
	} {
		if _, err := httpserver.RemoteKeys(httpserver.RemoteOptions{Issuer: issuer}); good != (err == nil) {
			t.Errorf("%q: %v", issuer, err)
		}
	}
	if _, err := httpserver.RemoteKeys(httpserver.RemoteOptions{Issuer: "https://issuer.example", Limit: time.Minute}); err == nil {
		t.Error("a limit of a minute is accepted")
	}
}

// Keys change without a restart: a new one is good at once, but for the ten
// seconds in which the issuer is not asked again; one that is gone is noticed
// within five minutes.
func TestRotation(t *testing.T) {
	t.Parallel()
	f := newForeignIssuer(t)
	k := signingKeys()
	try := f.tries(t)
	check := func(k signingKey, good bool) {
		t.Helper()
		if status := try(k); status != map[bool]int{true: 200, false: 401}[good] {
			t.Errorf("%s: %d", k.kid, status)
		}
	}
	check(k["ec"], true)
	f.serve(k["ec"], k["ec2"])
	check(k["ec2"], false) // asked just now
	f.clock.pass(11 * time.Second)
	check(k["ec2"], true)

	before := f.questions()
	for range 100 { // whoever invents keys makes us ask once, and not per token
		check(k["ed"], false)
	}
	f.clock.pass(11 * time.Second)
	for range 100 {
		check(k["ed"], false)
	}
	if n := f.questions() - before; n > 2 {
		t.Errorf("asked %d times", n)
	}

	f.serve(k["ec2"])
	f.clock.pass(5 * time.Minute)
	check(k["ec"], false)
	check(k["ec2"], true)
	f.serve()
	f.clock.pass(5 * time.Minute)
	check(k["ec2"], false)
}

// While the issuer is down the last keys serve, until their limit; then nobody is
// let in, and nobody is told that a token is bad. It is not asked at each try.
func TestOutage(t *testing.T) {
	t.Parallel()
	f := newForeignIssuer(t)
	k := signingKeys()
	try := f.tries(t)
	if status := try(k["ec"]); status != 200 {
		t.Fatal(status)
	}
	f.setDown(true)
	before := f.questions()
	for range 11 { // up to 55 minutes
		f.clock.pass(5 * time.Minute)
		for range 20 {
			if status := try(k["ec"]); status != 200 {
				t.Error(status)
			}
		}
	}
	if status := try(k["ec2"]); status != 503 {
		t.Error("a token whose key may be there by now:", status)
	}
	f.clock.pass(5*time.Minute - time.Second)
	if status := try(k["ec"]); status != 200 {
		t.Error("to the last second:", status)
	}
	f.clock.pass(time.Second)
	for _, k := range []signingKey{k["ec"], k["ec2"]} {
		if status := try(k); status != 503 {
			t.Error(status)
		}
	}
	if n := f.questions() - before; n > 30 {
		t.Errorf("asked %d times", n)
	}
	f.setDown(false)
	f.clock.pass(time.Minute)
	if status := try(k["ec"]); status != 200 {
		t.Error(status)
	}
}

// An issuer that does not answer holds nobody up who need not wait, and whoever
// waits may leave.
func TestSilentIssuer(t *testing.T) {
	t.Parallel()
	f := newForeignIssuer(t)
	k := signingKeys()["ec"]
	try := f.tries(t)
	if status := try(k); status != 200 {
		t.Fatal(status)
	}
	hang := make(chan struct{})
	defer close(hang)
	f.mu.Lock()
	f.hang = hang
	f.mu.Unlock()

	f.clock.pass(3 * time.Minute) // old enough to ask, and young enough to go on
	if status := try(k); status != 200 {
		t.Error(status)
	}
	source := f.source(t, f.URL)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := source.Keys(ctx, false); !errors.Is(err, httpserver.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// Many concurrent requests cause one fetch.
func TestAskedOnce(t *testing.T) {
	t.Parallel()
	f := newForeignIssuer(t)
	source := f.source(t, f.URL)
	var wg sync.WaitGroup
	var first atomic.Pointer[httpserver.KeySet]
	for range 32 {
		wg.Go(func() {
			set, err := source.Keys(t.Context(), false)
			if err != nil {
				t.Error(err)
			}
			if !first.CompareAndSwap(nil, set) && first.Load() != set {
				t.Error("two sets")
			}
		})
	}
	wg.Wait()
	if n := f.questions(); n != 1 {
		t.Errorf("asked %d times", n)
	}
	// What does not change is the same set, so that no token is looked at anew.
	f.clock.pass(5 * time.Minute)
	if set, err := source.Keys(t.Context(), false); err != nil || set != first.Load() || f.questions() != 2 {
		t.Errorf("%v, asked %d times", err, f.questions())
	}
}

// However many tokens of unknown keys come while the issuer hangs, only so many wait.
func TestRemoteKeysBoundStrangers(t *testing.T) {
	t.Parallel()
	f := newForeignIssuer(t)
	keys, err := httpserver.RemoteKeys(httpserver.RemoteOptions{Issuer: f.URL})
	if err != nil {
		t.Fatal(err)
	}
	f.mu.Lock()
	f.hang = make(chan struct{})
	f.mu.Unlock()
	told := make(chan error, 70)
	for range 70 {
		go func() {
			_, err := keys.Keys(t.Context(), true)
			told <- err
		}()
	}
	for range 6 {
		if err := <-told; !errors.Is(err, httpserver.ErrUnavailable) {
			t.Errorf("a token of an unknown key beyond 64 is told %v", err)
		}
	}
	close(f.hang)
	for range 64 {
		if err := <-told; err != nil {
			t.Errorf("a token of an unknown key that waited is told %v", err)
		}
	}
}
