package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// config runs "traintravel config" and returns what it prints.
func config(t *testing.T, environ []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(context.Background(), append([]string{"config"}, args...), &out, &errs, environ)
	return code, out.String(), errs.String()
}

func configFile(t testing.TB, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "traintravel.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func wantLines(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains("\n"+text, "\n"+line+"\n") {
			t.Errorf("there is no line %q in\n%s", line, text)
		}
	}
}

func TestConfigSources(t *testing.T) {
	t.Parallel()
	file := configFile(t, `# ours
addr: 127.0.0.1:9000
hold: 90m
rate-limit: 30
data: /srv/trains.db
cors-origin:
  - https://a.example
  - https://b.example
webhook: https://c.example/hook?token=abc,def
public-signin: true
`)
	code, out, errs := config(t, []string{"TRAINTRAVEL_HOLD=5m", "TRAINTRAVEL_RATE_LIMIT=40", "TRAINTRAVEL_WEBHOOK_SECRET=" + ownSecret, "TRAINTRAVEL_CONFIG=" + file}, "--rate-limit", "50")
	if code != 0 {
		t.Fatal(code, errs)
	}
	wantLines(t, out,
		"addr: 127.0.0.1:9000 # "+file+":2",
		"hold: 5m0s # TRAINTRAVEL_HOLD",
		"rate-limit: 50 # --rate-limit",
		"keys: /srv/trains.keys.json",
		"cors-origin: ['https://a.example', 'https://b.example'] # "+file+":7",
		"webhook: ['https://c.example/hook?xxxxx'] # "+file+":9",
		"public-signin: true # "+file+":10",
		"token-type: at+jwt",
		"# TRAINTRAVEL_WEBHOOK_SECRET is set.",
	)

	// What is printed is such a file.
	again, out2, errs := config(t, nil, "--config", configFile(t, out))
	if again != 0 {
		t.Fatal(again, errs)
	}
	wantLines(t, strings.ReplaceAll(out2, " # ", "\n"), "rate-limit: 50", "hold: 5m0s")
}

// Of two settings that exclude each other, the one that is set nearer is used: on the command line
// before the environment, there before the file. At the same distance both are refused.
func TestConfigNearer(t *testing.T) {
	t.Parallel()
	const database, variable = "postgres://db.example/trains", "TRAINTRAVEL_POSTGRES=postgres://db.example/trains"
	file := configFile(t, "data: /srv/file.db\n")
	for _, c := range []struct {
		environ, args []string
		line, absent  string // of what is printed; "" if the settings are refused
	}{
		{[]string{variable}, []string{"--data", "x.db"}, "data: x.db # --data", "postgres: "},
		{[]string{"TRAINTRAVEL_DATA=x.db"}, []string{"--postgres", database}, "postgres: " + database + " # --postgres", "x.db"},
		{[]string{variable}, []string{"--config", file}, "postgres: " + database + " # TRAINTRAVEL_POSTGRES", "file.db"},
		{nil, []string{"--config", file, "--postgres", database}, "postgres: " + database + " # --postgres", "file.db"},
		{[]string{variable}, []string{"--config", file, "--data", "x.db"}, "data: x.db # --data", "postgres: "},
		{[]string{variable, "TRAINTRAVEL_DATA=x.db"}, nil, "", ""},
		{[]string{variable, "TRAINTRAVEL_DATA=x.db"}, []string{"--data", "y.db"}, "data: y.db # --data", "postgres: "},
		{nil, []string{"--data", "x.db", "--postgres", database}, "", ""},
		{nil, []string{"--config", configFile(t, "data: x.db\npostgres: "+database+"\n")}, "", ""},
		{nil, []string{"--config", configFile(t, "data: x.db\npostgres: "+database+"\n"), "--data", "y.db"}, "data: y.db # --data", "postgres: "},
		{[]string{"TRAINTRAVEL_ISSUER=https://issuer.example"}, []string{"--accounts", "accounts.yaml"}, "accounts: accounts.yaml # --accounts", "issuer.example"},
		{nil, []string{"--accounts", "accounts.yaml", "--issuer", "https://issuer.example", "--audience", "x"}, "", ""},
	} {
		code, out, errs := config(t, c.environ, c.args...)
		if c.line == "" {
			if code != 2 || !strings.Contains(errs, "exclude each other") {
				t.Errorf("%q %q: %d, %s", c.environ, c.args, code, errs)
			}
			continue
		}
		if code != 0 || strings.Contains(out, c.absent) {
			t.Errorf("%q %q: %d, %s%s", c.environ, c.args, code, out, errs)
		}
		wantLines(t, out, c.line)
	}
}

func TestConfigHidesSecrets(t *testing.T) {
	t.Parallel()
	for _, value := range []string{
		"postgres://user:hush@db.example/trains", "postgres://db.example/trains?user=a&password=hush",
		"host=db.example password=hush user=a", "host=a password = 'hu\\'sh hush' user=b",
	} {
		code, out, errs := config(t, []string{"TRAINTRAVEL_POSTGRES=" + value, "TRAINTRAVEL_GATEWAY_SECRET=hush"})
		if code != 0 || strings.Contains(out+errs, "hush") || !strings.Contains(out, "TRAINTRAVEL_GATEWAY_SECRET is set") {
			t.Errorf("%s: %d\n%s%s", value, code, out, errs)
		}
	}
}

func TestMistakesHideSecrets(t *testing.T) {
	t.Parallel()
	if code, out, errs := config(t, nil, "--postgres", "postgres://user:hush@db.example:port/"); code != 2 || !strings.Contains(errs, "invalid --postgres: ") || strings.Contains(out+errs, "hush") {
		t.Errorf("%d, %s%s", code, out, errs)
	}
	for _, flag := range []string{"--base-url", "--issuer", "--webhook", "--cors-origin"} {
		for _, value := range []string{"ftp://user:hush@shop.example", "https://user:hush@shop.example:port", "ftp://shop.example?key=hush"} {
			if code, out, errs := config(t, nil, flag, value); code != 2 || !strings.Contains(errs, "invalid "+flag+" ") || strings.Contains(out+errs, "hush") {
				t.Errorf("%s %s: %d, %s%s", flag, value, code, out, errs)
			}
		}
	}
}

// All that is wrong is named at once, wherever it is.
func TestConfigNamesAllMistakes(t *testing.T) {
	t.Parallel()
	file := configFile(t, "rate_limit: 3\nhold: 90\nbase-url: [a, b]\npublic-signin: yes\nissuer:\nhold: 1h\nkeys: {a: b}\nclock: soon\n")
	code, out, errs := config(t, []string{"TRAINTRAVEL_ANY_AMOUNT=maybe"}, "--config", file, "--rate-limit", "many", "--addr", "here", "--cors-origin", "shop")
	if code != 2 || out != "" {
		t.Error(code, out)
	}
	for _, want := range []string{
		`invalid --rate-limit "many": want a whole number`, `invalid TRAINTRAVEL_ANY_AMOUNT "maybe": want true or false`, `invalid --addr "here"`, `invalid --cors-origin "shop"`,
		file + `:1: unknown setting "rate_limit": did you mean rate-limit?`, file + `:2: invalid hold "90": want a duration such as`, file + `:3: base-url: want one value`,
		file + `:4: invalid public-signin "yes": want true or false`, file + `:5: issuer: no value`, file + `:6: duplicate setting hold`,
		file + `:7: keys: want one value`, `invalid --clock "soon"`,
	} {
		if !strings.Contains(errs, want) {
			t.Errorf("%q is not in\n%s", want, errs)
		}
	}
	if strings.Contains(errs, "--hold 0s") {
		t.Error("a value that could not be read is told as another:", errs)
	}
}

func TestConfigFiles(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                           "",
		"# nothing yet\n":            "",
		"null\n":                     "",
		"- addr\n":                   "want settings, in lines such as",
		"addr\n":                     "want settings, in lines such as",
		"addr: 1\n---\naddr: 2\n":    "more than one YAML document",
		"addr: \"1\n":                "invalid --config ",
		"? [a]\n: b\n":               "unknown setting ",
		"password: x\n":              "unknown setting \"password\"\n",
		strings.Repeat("#", 1<<20+1): "larger than",
		"trusted-proxy: [10.0.0.0/8]\npublic-signin: true": "",
		"trusted-proxy: [[1]]":                             "want a list of texts",
	} {
		code, _, errs := config(t, nil, "--config", configFile(t, text))
		if wrong := want != ""; wrong != (code == 2) || !strings.Contains(errs, want) {
			t.Errorf("%.40q: %d, %s", text, code, errs)
		}
	}
	if code, _, errs := config(t, nil, "--config", "/nowhere/traintravel.yaml"); code != 1 || !strings.Contains(errs, "cannot read --config: open /nowhere") {
		t.Error(code, errs)
	}
}

// Other commands read those settings of the file that they have too.
func TestConfigOfOtherCommands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var out, errs bytes.Buffer
	file := configFile(t, "data: "+filepath.Join(dir, "trains.db")+"\nrate-limit: 5\n")
	if code := run(context.Background(), []string{"token", "--user", "anna", "--config", file}, &out, &errs, nil); code != 1 || !strings.Contains(errs.String(), dir) {
		t.Error(code, errs.String())
	}
}

func TestUnknownVariables(t *testing.T) {
	t.Parallel()
	r := startIn(t, []string{"TRAINTRAVEL_RATELIMIT=3", "TRAINTRAVEL_PORT_80_TCP=x", "TRAINTRAVEL_SERVICE_HOST=y", "TRAINTRAVEL_HOLD=1h", "TRAINTRAVEL_USER=anna"},
		"serve", "--data", filepath.Join(t.TempDir(), "t.db"))
	if got := r.stderr.String(); !strings.Contains(got, "variable=TRAINTRAVEL_RATELIMIT") || strings.Count(got, "variable=") != 1 {
		t.Error(got)
	}
}

func FuzzConfig(f *testing.F) {
	for _, text := range []string{"addr: a\n", "hold: [1h]\n", "a: &b [*b]\n", "? x\n", "<<: {addr: b}\n", "addr: !!binary aGk=\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if code, _, errs := config(t, nil, "--config", configFile(t, text)); code != 0 && errs == "" {
			t.Errorf("%d without a reason", code)
		}
	})
}

// Config reports what serve refuses for its sign-in, and serve leaves no file behind.
func TestRefusedServerLeavesNoFile(t *testing.T) {
	t.Parallel()
	for flag, value := range map[string]string{"--addr": "0.0.0.0:0", "--accounts": "/nonexist/accounts.yaml", "--gateway": "https://pay.example"} {
		folder := t.TempDir()
		for _, command := range []string{"serve", "config"} {
			args := []string{command, "--data", filepath.Join(folder, "t.db"), "--addr", "127.0.0.1:0", flag, value}
			code, _, stderr := once(t, nil, args...)
			if made, err := os.ReadDir(folder); code != 2 || len(made) > 0 || err != nil {
				t.Errorf("%v: %d, %v, %v, %s", args, code, made, err, stderr)
			}
		}
	}
}
