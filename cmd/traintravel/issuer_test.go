package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/traintravel/traintravel/internal/need"
)

// A foreign is npm's oidc-provider: see testdata/issuer.mjs.
type foreign struct {
	t      *testing.T
	issuer string
	places struct { // as its metadata has them
		Issuer        string
		Authorization string `json:"authorization_endpoint"`
		Token         string `json:"token_endpoint"`
	}
	stop func()
}

func newForeign(t *testing.T) *foreign {
	t.Helper()
	node, folder := need.Node(t, "peers")
	script, err := os.ReadFile(filepath.Join("testdata", "issuer.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	var complaints output
	cmd := exec.CommandContext(t.Context(), node, "--input-type=module", "--eval", string(script))
	cmd.Dir, cmd.Stderr = folder, &complaints
	in, err := cmd.StdinPipe() // it ends with this
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	f := &foreign{t: t, stop: func() { _ = in.Close(); _ = cmd.Wait() }}
	t.Cleanup(f.stop)
	lines := bufio.NewScanner(out)
	for f.issuer == "" {
		if !lines.Scan() {
			t.Fatalf("oidc-provider did not start: %s", &complaints)
		}
		if strings.HasPrefix(lines.Text(), "http://127.0.0.1:") { // and no warning
			f.issuer = lines.Text()
		}
	}
	return f
}

// post sends a form and decodes the answer, which must be a success.
func (f *foreign) post(form url.Values, user, password string, to any) {
	f.t.Helper()
	req, err := http.NewRequest("POST", f.places.Token, strings.NewReader(form.Encode()))
	if err != nil {
		f.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if user != "" {
		req.SetBasicAuth(url.QueryEscape(user), url.QueryEscape(password))
	}
	f.read(req, to)
}

func (f *foreign) read(req *http.Request, to any) {
	f.t.Helper()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil || resp.StatusCode != 200 {
		f.t.Fatalf("%s: %d, %v: %s", req.URL, resp.StatusCode, err, text)
	}
}

// programToken is a token of a program of its own, signed by an algorithm.
func (f *foreign) programToken(alg, resource string) string {
	f.t.Helper()
	var got struct {
		Token string `json:"access_token"`
	}
	f.post(url.Values{"grant_type": {"client_credentials"}, "scope": {"read write"}, "resource": {resource}}, "program-"+alg, "secret of a program", &got)
	return got.Token
}

var formAction = regexp.MustCompile(`<form[^>]* action="([^"]+)"`)

// signIn has a user sign in and consent, as a browser would, and returns the tokens.
func (f *foreign) signIn(user, resource string) (access, id string) {
	f.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		f.t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, CheckRedirect: func(req *http.Request, _ []*http.Request) error {
		if req.URL.Path == "/back" {
			return http.ErrUseLastResponse
		}
		return nil
	}}
	verifier := strings.Repeat("verifier", 6)
	sum := sha256.Sum256([]byte(verifier))
	back := "http://127.0.0.1:4711/back"
	resp, err := browser.Get(f.places.Authorization + "?" + url.Values{
		"client_id": {"app"}, "response_type": {"code"}, "redirect_uri": {back}, "scope": {"openid read write"}, "resource": {resource}, "state": {"s"}, "nonce": {"n"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}.Encode())
	for _, form := range []url.Values{{"prompt": {"login"}, "login": {user}, "password": {"x"}}, {"prompt": {"consent"}}} {
		if err != nil {
			f.t.Fatal(err)
		}
		page, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		found := formAction.FindSubmatch(page)
		if found == nil {
			f.t.Fatalf("%s: no form: %s", resp.Request.URL, page)
		}
		resp, err = browser.PostForm(string(found[1]), form)
	}
	if err != nil {
		f.t.Fatal(err)
	}
	_ = resp.Body.Close()
	at, err := resp.Location()
	if err != nil || at.Query().Get("state") != "s" || at.Query().Get("iss") != f.issuer {
		f.t.Fatalf("not back with a code: %v, %v", at, err)
	}
	var got struct {
		Access string `json:"access_token"`
		ID     string `json:"id_token"`
	}
	f.post(url.Values{
		"grant_type": {"authorization_code"}, "client_id": {"app"}, "code": {at.Query().Get("code")}, "redirect_uri": {back}, "code_verifier": {verifier}, "resource": {resource},
	}, "", "", &got)
	return got.Access, got.ID
}

// A server accepts the tokens of an external issuer. Programs and people find the issuer by the
// response to a refused request, and book.
func TestForeignIssuer(t *testing.T) {
	t.Parallel()
	const base = "https://trains.example/api"
	f := newForeign(t)
	r := start(t, "serve", "--data", filepath.Join(t.TempDir(), "t.db"), "--issuer", f.issuer, "--base-url", base)

	// Nothing is known but the address of the API.
	challenge := r.ask("GET", "/bookings").Header.Get("WWW-Authenticate")
	_, at, _ := strings.Cut(challenge, `resource_metadata="`)
	at, _, _ = strings.Cut(at, `"`)
	at, ok := strings.CutPrefix(at, base)
	if !ok {
		t.Fatalf("the challenge is %s", challenge)
	}
	told := r.call("", "GET", at, "", 200)
	if fmt.Sprint(told["authorization_servers"]) != "["+f.issuer+"]" || told["resource"] != base {
		t.Fatalf("the resource is %v", told)
	}
	req, err := http.NewRequest("GET", f.issuer+"/.well-known/openid-configuration", nil)
	if err != nil {
		t.Fatal(err)
	}
	f.read(req, &f.places)

	day := time.Now().AddDate(0, 0, 7).Format(time.DateOnly)
	var booked string
	for _, alg := range []string{"RS256", "PS256", "ES256", "EdDSA"} {
		token := f.programToken(alg, base)
		booked = r.book(token, day, "")
		if b := r.call(token, "GET", "/bookings/"+booked, "", 200); b["id"] != booked {
			t.Errorf("%s: %v", alg, b)
		}
	}
	anna, id := f.signIn("anna", base)
	r.call(anna, "GET", "/bookings/"+booked, "", 404)
	own := r.book(anna, day, "")
	r.call(anna, "GET", "/bookings/"+own, "", 200)

	// What else the issuer signs is of no use, and the operator reads why.
	for token, why := range map[string]string{
		id: "its typ is",
		f.programToken("RS256", "https://trains.example"): "its aud does not name this service",
		anna[:len(anna)-8] + "AAAAAAAA":                   "its signature is wrong",
	} {
		r.call(token, "GET", "/bookings", "", 401)
		if log := r.stderr.String(); !strings.Contains(log, why) {
			t.Errorf("the log does not say that %s: %s", why, log)
		}
	}

	// While the issuer is away its keys go on to serve.
	unseen := f.programToken("ES256", base)
	f.stop()
	r.call(anna, "GET", "/bookings", "", 200)
	r.call(unseen, "GET", "/bookings", "", 200)
}
