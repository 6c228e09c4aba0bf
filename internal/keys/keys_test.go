package keys

import (
	"bytes"
	"crypto/ecdsa"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/traintravel/traintravel/internal/jwk"
)

func file(t *testing.T) string { return filepath.Join(t.TempDir(), "traintravel.keys.json") }

func create(t *testing.T, path string) *Ring {
	t.Helper()
	r, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// same says whether two rings hold the same.
func same(a, b *Ring) bool {
	return slices.EqualFunc(a.signing, b.signing, equal) && slices.EqualFunc(a.tickets, b.tickets, equal) && bytes.Equal(a.Fingerprint(), b.Fingerprint()) && bytes.Equal(a.Seal(), b.Seal()) &&
		a.WebhookSecret() == b.WebhookSecret() && a.ProgramSecret() == b.ProgramSecret() && a.Issuer() == b.Issuer()
}

func equal(a, b *ecdsa.PrivateKey) bool { return a.Equal(b) }

func TestCreateAndLoad(t *testing.T) {
	t.Parallel()
	path := file(t)
	if _, err := Load(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	r := create(t, path)
	again, err := Load(path)
	if err != nil || !same(r, again) || !same(r, create(t, path)) {
		t.Errorf("read back otherwise: %v", err)
	}
	if len(r.Signing()) != 1 || len(r.Tickets()) != 1 || len(r.Fingerprint()) != 32 || len(r.Seal()) != 32 || !strings.HasPrefix(r.WebhookSecret(), "whsec_") || len(r.ProgramSecret()) != 43 || r.Issuer() != "" {
		t.Error("something is missing")
	}
	if other, err := New(); err != nil || same(r, other) {
		t.Error("two files have the same keys")
	}
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("left over: %v %v", entries, err)
	}
}

func TestRecordIssuer(t *testing.T) {
	t.Parallel()
	path := file(t)
	r := create(t, path)
	for _, issuer := range []string{"http://127.0.0.1:8080", "https://trains.example/api", "https://trains.example/api"} {
		if err := r.RecordIssuer(issuer); err != nil {
			t.Fatal(err)
		}
		again, err := Load(path)
		if err != nil || again.Issuer() != issuer || !same(r, again) {
			t.Errorf("%q %v", again.Issuer(), err)
		}
		if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
			t.Errorf("%v %v", info.Mode(), err)
		}
	}
	memory, err := New()
	if err != nil || memory.RecordIssuer("x") != nil || memory.Issuer() != "x" {
		t.Error("in memory", err)
	}
}

// Members that a newer version, or another process meanwhile, has written do not change.
func TestUnknownMembersStay(t *testing.T) {
	t.Parallel()
	path := file(t)
	r := create(t, path)
	edit(t, path, func(m map[string]any) {
		m["ticket_keys"] = []any{map[string]any{"kty": "EC", "x": 12345678901234567.0}}
		m["signing"].([]any)[0].(map[string]any)["made"] = "2026-01-01"
	})
	if err := r.RecordIssuer("https://trains.example"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(text, []byte("ticket_keys")) || !bytes.Contains(text, []byte("12345678901234568")) || !bytes.Contains(text, []byte("2026-01-01")) {
		t.Errorf("%v: lost: %d bytes", err, len(text))
	}
	if again, err := Load(path); err != nil || !same(r, again) {
		t.Error(err)
	}
}

// A file from before there were tickets and subscribers gets keys for them, once, and
// keeps all else; who only reads it changes nothing.
func TestWhatIsMissingIsAdded(t *testing.T) {
	t.Parallel()
	path := file(t)
	before := create(t, path)
	edit(t, path, func(m map[string]any) {
		for _, name := range []string{"tickets", "seal", "webhook_secret"} {
			delete(m, name)
		}
		m["later"] = "kept"
	})
	if r, err := Load(path); err != nil || len(r.Tickets()) != 0 || len(r.Seal()) != 0 || r.WebhookSecret() != "" {
		t.Errorf("%v", err)
	}
	var wg sync.WaitGroup
	made := make([]*Ring, 8)
	for i := range made {
		wg.Go(func() { made[i] = create(t, path) })
	}
	wg.Wait()
	for _, r := range made {
		if len(r.Tickets()) != 1 || len(r.Seal()) != 32 || r.WebhookSecret() == "" || !same(r, made[0]) || !equal(r.signing[0], before.signing[0]) || string(r.members["later"]) != `"kept"` {
			t.Error("made twice, or something else has changed")
		}
	}
	if bytes.Equal(made[0].seal, before.seal) || equal(made[0].tickets[0], before.tickets[0]) || equal(made[0].tickets[0], before.signing[0]) {
		t.Error("it is not a key of its own")
	}
}

func TestRotateTickets(t *testing.T) {
	t.Parallel()
	path := file(t)
	first := create(t, path)
	if err := RotateTickets(path); err != nil {
		t.Fatal(err)
	}
	r := create(t, path)
	if len(r.tickets) != 2 || !equal(r.tickets[1], first.tickets[0]) || equal(r.tickets[0], r.tickets[1]) {
		t.Errorf("%d keys", len(r.tickets))
	}
	refused := errors.New("refused")
	if err := ChangeTickets(path, func([]*ecdsa.PrivateKey) ([]*ecdsa.PrivateKey, error) { return nil, refused }); !errors.Is(err, refused) {
		t.Error(err)
	}
	if !same(r, create(t, path)) {
		t.Error("a refused change was made")
	}
	if err := RotateTickets(path + "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// edit changes a file as somebody with an editor would.
func edit(t *testing.T, path string, change func(map[string]any)) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	change(m)
	if text, err = json.Marshal(m); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestOthersMayNotRead(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes of files mean nothing on Windows")
	}
	path := file(t)
	create(t, path)
	for _, mode := range []os.FileMode{0o644, 0o640, 0o604, 0o620, 0o601, 0o660} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		for _, open := range []func(string) (*Ring, error){Load, Create} {
			if _, err := open(path); err == nil || !strings.Contains(err.Error(), "chmod 600 "+path) {
				t.Errorf("%04o: %v", mode, err)
			}
		}
	}
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err != nil {
		t.Error(err)
	}
}

// A file that is not right is refused with a reason, and never replaced; no
// reason shows what is in it.
func TestBadFiles(t *testing.T) {
	t.Parallel()
	key := func(m map[string]any) map[string]any { return m["signing"].([]any)[0].(map[string]any) }
	other, err := New()
	if err != nil {
		t.Fatal(err)
	}
	otherKey, err := jwk.Private(other.signing[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(map[string]any)
		why    string
	}{
		"a newer version":    {func(m map[string]any) { m["version"] = 2 }, "newer"},
		"no version":         {func(m map[string]any) { delete(m, "version") }, "version"},
		"version zero":       {func(m map[string]any) { m["version"] = 0 }, "version"},
		"no signing keys":    {func(m map[string]any) { delete(m, "signing") }, "signing"},
		"empty signing keys": {func(m map[string]any) { m["signing"] = []any{} }, "signing"},
		"one key, no list":   {func(m map[string]any) { m["signing"] = key(m) }, "signing"},
		"an RSA key":         {func(m map[string]any) { key(m)["kty"] = "RSA" }, "EC"},
		"another curve":      {func(m map[string]any) { key(m)["crv"] = "P-384" }, "P-256"},
		"another x":          {func(m map[string]any) { key(m)["x"] = otherKey.X }, "belong"},
		"another kid":        {func(m map[string]any) { key(m)["kid"] = otherKey.ID }, "belong"},
		"d of zero":          {func(m map[string]any) { key(m)["d"] = strings.Repeat("A", 43) }, "private key"},
		"d not base64url":    {func(m map[string]any) { key(m)["d"] = "!" }, "base64url"},
		"tickets a text":     {func(m map[string]any) { m["tickets"] = "x" }, "tickets"},
		"a bad ticket key":   {func(m map[string]any) { m["tickets"] = []any{map[string]any{"kty": "EC"}} }, "key 1 in"},
		"no fingerprint":     {func(m map[string]any) { delete(m, "fingerprint") }, "fingerprint"},
		"a short one":        {func(m map[string]any) { m["fingerprint"] = "AAAA" }, "fingerprint"},
		"a number for it":    {func(m map[string]any) { m["fingerprint"] = 1 }, "fingerprint"},
		"a short seal":       {func(m map[string]any) { m["seal"] = "AAAA" }, "seal"},
		"seal no base64url":  {func(m map[string]any) { m["seal"] = "!" }, "seal"},
		"retired a list":     {func(m map[string]any) { m["retired"] = []any{} }, "retired"},
		"retired at noon":    {func(m map[string]any) { m["retired"] = map[string]any{"x": "noon"} }, "retired"},
		"issuer a number":    {func(m map[string]any) { m["issuer"] = 1 }, "issuer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := file(t)
			r := create(t, path)
			edit(t, path, c.change)
			before, _ := os.ReadFile(path)
			for _, open := range []func(string) (*Ring, error){Load, Create} {
				_, err := open(path)
				if err == nil || !strings.Contains(err.Error(), c.why) || !strings.Contains(err.Error(), path) {
					t.Errorf("%v; want %q", err, c.why)
				}
			}
			if err := r.RecordIssuer("x"); err == nil {
				t.Error("the issuer was recorded in it")
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("the file changed")
			}
		})
	}
	for name, text := range map[string]string{"empty": "", "null": "null", "an array": "[]", "cut": `{"version":1,`, "large": strings.Repeat(" ", maxSize+1)} {
		path := file(t)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Create(path); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if _, err := Create(t.TempDir()); err == nil {
		t.Error("a folder is accepted")
	}
	if _, err := Create(filepath.Join(t.TempDir(), "no", "such", "folder")); err == nil {
		t.Error("no folder is accepted")
	}
}

// Many who make the file at once all get the same keys.
func TestCreateAtOnce(t *testing.T) {
	t.Parallel()
	path := file(t)
	rings := make([]*Ring, 16)
	var wg sync.WaitGroup
	for i := range rings {
		wg.Go(func() {
			var err error
			if rings[i], err = Create(path); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, r := range rings {
		if r == nil || !same(r, rings[0]) {
			t.Fatal("two made keys of their own")
		}
	}
}

// So do processes.
func TestCreateAtOnceByProcesses(t *testing.T) {
	t.Parallel()
	const variable = "TRAINTRAVEL_KEYS_TEST_FILE"
	if path := os.Getenv(variable); path != "" {
		fmt.Println("key", mustID(create(t, path)))
		return
	}
	path := file(t)
	out := make([]string, 4)
	var wg sync.WaitGroup
	for i := range out {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0], "-test.run=^TestCreateAtOnceByProcesses$", "-test.count=1")
			cmd.Env = append(os.Environ(), variable+"="+path)
			text, err := cmd.CombinedOutput()
			_, id, _ := strings.Cut(string(text), "key ")
			if out[i], _, _ = strings.Cut(id, "\n"); err != nil || len(out[i]) != 43 {
				t.Errorf("%v: %s", err, text)
			}
		})
	}
	wg.Wait()
	for _, id := range out {
		if id != mustID(create(t, path)) {
			t.Error("two processes made keys of their own")
		}
	}
}

func mustID(r *Ring) string {
	key, err := jwk.Private(r.signing[0])
	if err != nil {
		panic(err)
	}
	return key.ID
}

// Changes of several at once are all kept.
func TestChangesAtOnce(t *testing.T) {
	t.Parallel()
	path := file(t)
	create(t, path)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if err := change(path, func(*Ring) (map[string]any, error) { return map[string]any{"member" + strconv.Itoa(i): 1}, nil }); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	r, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.members) != 7+8 && runtime.GOOS != "windows" {
		t.Errorf("%d members", len(r.members))
	}
}

// Printing a ring in any way shows no key.
func TestPrintingShowsNoKey(t *testing.T) {
	t.Parallel()
	r := create(t, file(t))
	key, err := jwk.Private(r.signing[0])
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "ring", r)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "ring", r)
	text, err := json.Marshal(map[string]any{"ring": r})
	if err != nil {
		t.Fatal(err)
	}
	shown := fmt.Sprintf("%v %+v %#v %s %x %d", r, r, r, r, r, r) + log.String() + string(text)
	for _, secret := range []string{key.D, r.WebhookSecret(), r.ProgramSecret(), fmt.Sprintf("%x", r.fingerprint), fmt.Sprint(r.fingerprint), key.X} {
		if strings.Contains(shown, secret) {
			t.Errorf("%s shows %s", shown, secret)
		}
	}
}

// Two rings have prints in common if they have keys in common; nothing secret is in them.
func TestPrints(t *testing.T) {
	t.Parallel()
	a, err := New()
	if err != nil {
		t.Fatal(err)
	}
	b, err := New()
	if err != nil {
		t.Fatal(err)
	}
	p, q := a.Prints(), b.Prints()
	if !reflect.DeepEqual(p, a.Prints()) || p.Fingerprint == q.Fingerprint || len(p.Signing) != 1 || p.Signing[0] == q.Signing[0] {
		t.Errorf("%+v, %+v", p, q)
	}
	text, err := encode(a.members)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), p.Fingerprint) {
		t.Error("the file has the print of the fingerprint key")
	}
	b.signing = append(b.signing, a.signing...)
	if got := b.Prints().Signing; !slices.Contains(got, p.Signing[0]) || len(got) != 2 {
		t.Errorf("%v", got)
	}
}
