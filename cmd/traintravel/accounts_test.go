package main

import (
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/traintravel/traintravel/httpserver/authserver"
	"github.com/traintravel/traintravel/internal/signin"
)

const boardSecret = "a secret of enough bytes"

func TestDemoAccounts(t *testing.T) {
	t.Parallel()
	a, err := parseAccounts(demoAccounts, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !a.anyone || len(a.users) < 2 || a.users[0].Name != "anna" {
		t.Errorf("%+v", a)
	}
	want := []authserver.Client{{
		ID: "webapp", Name: "Overland", Secret: "overland-example-only", RedirectURIs: []string{"http://127.0.0.1/callback"},
		Scopes: []string{"read", "write"}, Grants: []string{"authorization_code", "refresh_token", "client_credentials"},
	}}
	if diff := cmp.Diff(want, a.clients); diff != "" {
		t.Error(diff)
	}
	r := start(t, "serve", "--data", filepath.Join(t.TempDir(), "t.db"))
	for redirect, want := range map[string]int{"http://127.0.0.1:9999/callback": 200, "http://127.0.0.1/callback": 200, "http://localhost:9999/callback": 400, "http://127.0.0.1:9999/": 400} {
		query := url.Values{
			"client_id": {"webapp"}, "redirect_uri": {redirect}, "response_type": {"code"}, "scope": {"read write"},
			"code_challenge": {strings.Repeat("x", 43)}, "code_challenge_method": {"S256"},
		}
		if resp := r.ask("GET", "/oauth/authorize?"+query.Encode()); resp.StatusCode != want {
			t.Errorf("back to %s: %d", redirect, resp.StatusCode)
		}
	}
}

// The example site's client is the same at a server of the command and at one of package
// trainserver.
func TestSiteClient(t *testing.T) {
	t.Parallel()
	a, err := parseAccounts(demoAccounts, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]authserver.Client{signin.SiteClient()}, a.clients); diff != "" {
		t.Error(diff)
	}
}

// siteSecret is that of the web site in the example.
const siteSecret = "another secret of enough bytes"

var exampleSecrets = map[string]string{"STATION_BOARD_SECRET": boardSecret, "WEBAPP_CLIENT_SECRET": siteSecret}

// The example file is valid, and a server accepts it.
func TestExampleAccounts(t *testing.T) {
	t.Parallel()
	const file = "../../examples/accounts.yaml"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	a, err := parseAccounts(text, exampleSecrets)
	if err != nil {
		t.Fatal(err)
	}
	want := accounts{
		users: []authserver.User{{Name: "anna", DisplayName: "Anna Lindqvist"}, {Name: "ben"}},
		clients: []authserver.Client{
			{ID: "webapp", Name: "Overland", Secret: siteSecret, RedirectURIs: []string{"http://127.0.0.1/callback", "https://shop.example/callback"},
				Scopes: []string{"read", "write"}, Grants: []string{"authorization_code", "refresh_token", "client_credentials"}},
			{ID: "station-board", Secret: boardSecret, Scopes: []string{"read"}, Grants: []string{"client_credentials"}},
			{ID: "phone-app", RedirectURIs: []string{"com.example.trains:/callback"}},
		},
	}
	if diff := cmp.Diff(want, a, cmp.AllowUnexported(accounts{})); diff != "" {
		t.Error(diff)
	}
	r := startIn(t, []string{"STATION_BOARD_SECRET=" + boardSecret, "WEBAPP_CLIENT_SECRET=" + siteSecret}, "serve", "--data", filepath.Join(t.TempDir(), "t.db"), "--accounts", file)
	resp := r.ask("GET", "/oauth/authorize?client_id=webapp&redirect_uri=https%3A%2F%2Fshop.example%2Fcallback&response_type=code&code_challenge="+strings.Repeat("x", 43)+"&code_challenge_method=S256")
	if resp.StatusCode != 200 {
		t.Errorf("the web site cannot have people sign in: %d", resp.StatusCode)
	}
	if said := r.stderr.String(); strings.Contains(said, boardSecret) || strings.Contains(said, siteSecret) || strings.Contains(said, "as anybody") {
		t.Errorf("the log shows the secret, or says that anybody may sign in: %s", said)
	}
}

// All that is wrong with a file is said, with its line, and no secret.
func TestBadAccounts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"nothing":              {"", []string{"the file is empty"}},
		"two documents":        {"users: []\n---\nusers: []\n", []string{"more than one"}},
		"no YAML":              {"users: [\n", []string{"line"}},
		"a list":               {"- anna\n", []string{"line 1: the file: want a mapping"}},
		"nobody":               {"anyone: false\n", []string{"line 1: nobody could sign in"}},
		"a word for yes":       {"anyone: maybe\n", []string{"line 1: want true or false"}},
		"users that are names": {"users: [anna]\n", []string{"line 1: a user: want a mapping"}},
		"no list":              {"users:\n", []string{"line 1: want a list"}},
		"a number":             {"users:\n- name: 17\n", []string{"line 2: want a text: put the value in quotes"}},
		"an alias":             {"users:\n- name: &a anna\n- name: *a\n", []string{"line 3: want a text"}},
		"many": {`
anyone: true
color: green
users:
  - {name: anna, password: secretsecret}
  - {name: ANNA}
  - {name: "client:x"}
  - {name: ben, name: ben}
  - {name: dora, display_name: "Do\u202era"}
clients:
  - id: traintravel-demo
    public: true
    redirect_uris: [http://127.0.0.1/]
  - id: a b
    secret: tiny
    secret_env: NOT_SET
    grants: [client_credentials, implicit]
    scopes: [all]
  - id: shop
    public: true
    redirect_uris:
      - http://shop.example/
      - https://shop.example/#x
  - id: shop
    public: false
  - id: board
    grants: [client_credentials]
    public: true
  - id: empty
    secret: ""
    grants: [client_credentials]
    redirect_uris: [https://x.example/]
`, []string{
			`line 3: the file: unknown field "color"`,
			`line 5: a user: unknown field "password"`,
			`line 6: duplicate user "anna"`,
			`line 7: invalid user "client:x": a user name may have letters`,
			`line 8: duplicate field name`,
			`line 9: invalid user "dora": has the invalid display name "Do\u202era"`,
			`line 11: duplicate client "traintravel-demo"`,
			`line 14: client "a b" has 2 of public, secret and secret_env: want one`,
			`line 14: client "a b" has an invalid ID`,
			`line 14: client "a b" has an unknown grant "implicit"`,
			`line 14: client "a b" has an unknown scope "all"`,
			`line 16: environment variable "NOT_SET" is not set`,
			`line 19: client "shop" has the invalid redirect URI "http://shop.example/"`,
			`line 19: client "shop" has the invalid redirect URI "https://shop.example/#x"`,
			`line 24: duplicate client "shop"`,
			`line 24: client "shop" has no redirect_uris`,
			`line 25: invalid public: false`,
			`line 26: client "board" needs a secret`,
			`line 30: empty secret`,
		}},
	} {
		_, err := parseAccounts([]byte(c.text), nil)
		if err == nil {
			t.Errorf("%s is good", name)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v\nlacks %s", name, err, want)
			}
		}
		if strings.Contains(err.Error(), "secretsecret") || strings.Contains(err.Error(), "tiny") {
			t.Errorf("%s: a secret shows: %v", name, err)
		}
	}
	file := filepath.Join(t.TempDir(), "accounts.yaml")
	if err := os.WriteFile(file, []byte("clients:\n- id: x y\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(t.TempDir(), "t.db")
	for want, args := range map[string][]string{
		file + ":\nline 2": {"--accounts", file},
		"no such file":     {"--accounts", file + "x"},
		"is a directory":   {"--accounts", filepath.Dir(file)},
		"--accounts and --issuer exclude each other": {"--accounts", file, "--issuer", "https://issuer.example", "--audience", "x"},
	} {
		if code, _, stderr := once(t, nil, append([]string{"serve", "--data", data, "--addr", "127.0.0.1:0"}, args...)...); code != 2 || !strings.Contains(stderr, want) {
			t.Errorf("%v: %d %s", args, code, stderr)
		}
	}
}

// No file makes reading it panic, and a server accepts every file that is read without an error.
func TestAlteredAccounts(t *testing.T) {
	t.Parallel()
	example, err := os.ReadFile("../../examples/accounts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const odd = "-:?[]{}&*!|>'\"#%@`,<\n\t \x00\xff~0"
	random := rand.New(rand.NewPCG(1, 2))
	good := 0
	for _, text := range [][]byte{demoAccounts, example, []byte("a: &a [*a]\n<<: {x: y}\n? [b]\n: c")} {
		for range 2000 {
			altered := slices.Clone(text)
			for range 1 + random.IntN(3) {
				switch at := random.IntN(len(altered)); random.IntN(3) {
				case 0:
					altered[at] = odd[random.IntN(len(odd))]
				case 1:
					altered = slices.Delete(altered, at, min(at+1+random.IntN(9), len(altered)))
				default:
					from := random.IntN(len(text))
					altered = slices.Insert(altered, at, text[from:min(from+random.IntN(60), len(text))]...)
				}
			}
			a, err := parseAccounts(altered, exampleSecrets)
			if err != nil {
				continue
			}
			good++
			for _, u := range a.users {
				if err := u.Check(); err != nil {
					t.Errorf("%s\n%v", altered, err)
				}
			}
			for _, c := range a.clients {
				if err := c.Check(); err != nil {
					t.Errorf("%s\n%v", altered, err)
				}
			}
		}
	}
	if good == 0 {
		t.Error("none was good")
	}
}
