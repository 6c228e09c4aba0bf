package main

import (
	"bytes"
	"compress/zlib"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/keys"
	"github.com/traintravel/traintravel/ticket"
)

// A counter issues tickets with the keys beside a file of data.
type counter struct {
	t    *testing.T
	data string
	dir  string
}

func newCounter(t *testing.T) counter {
	t.Helper()
	dir := t.TempDir()
	c := counter{t, filepath.Join(dir, "t.db"), dir}
	if _, err := keys.Create(c.keysFile()); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c counter) keysFile() string { return ownKeys(c.data) }

// issuer signs with the first key of the file as it is now.
func (c counter) issuer() *ticket.Issuer {
	c.t.Helper()
	ring, err := keys.Load(c.keysFile())
	if err != nil {
		c.t.Fatal(err)
	}
	i, err := ticket.NewIssuer(ring.Tickets()[0])
	if err != nil {
		c.t.Fatal(err)
	}
	return i
}

// write makes a file and returns where it is.
func (c counter) write(name string, content []byte, err error) string {
	c.t.Helper()
	path := filepath.Join(c.dir, name)
	if err == nil {
		err = os.WriteFile(path, content, 0o600)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return path
}

// ticketOf is a ticket for two trains.
func ticketOf(booking uuid.UUID) traintravel.Ticket {
	cet := time.FixedZone("", 3600)
	leg := traintravel.Leg{
		Operator: "Meridian Express", Number: "ME 501", Coach: "22", Seat: 61,
		Origin:      traintravel.Stop{Name: "Berlin Hauptbahnhof", Time: time.Date(2026, 12, 31, 18, 4, 0, 0, cet)},
		Destination: traintravel.Stop{Name: "München Hauptbahnhof", Time: time.Date(2026, 12, 31, 22, 2, 0, 0, cet)},
	}
	next := leg
	next.Number, next.Coach, next.Seat = "", "", 0
	return traintravel.Ticket{
		Booking: traintravel.Booking{
			ID: booking, Status: traintravel.Confirmed, PassengerName: "Zoë Müller", HasDog: true, Legs: []traintravel.Leg{leg, next},
		},
		Paid: time.Date(2026, 11, 28, 12, 30, 5, 0, time.UTC),
	}
}

func TestVerifyTicket(t *testing.T) {
	t.Parallel()
	c := newCounter(t)
	i, of := c.issuer(), ticketOf(uuid.New())
	code, err := i.Container(of, 0)
	raw := c.write("ticket.uic", code, err)
	picture, err := i.PNG(of, 1)
	scanned := c.write("ticket.png", picture, err)
	sheet, err := i.PDF(of)
	printed := c.write("ticket.pdf", sheet, err)

	got, stdout, stderr := once(t, nil, "verify-ticket", raw, scanned, printed, "--data", c.data)
	if got != 0 || stderr != "" || strings.Count(stdout, ": valid\n") != 4 || strings.Count(stdout, "\n  leg 2 of 2") != 2 || !strings.HasPrefix(stdout, raw+`: valid
  Zoë Müller, with a dog
  2026-12-31 18:04 +01:00  Berlin Hauptbahnhof
  2026-12-31 22:02 +01:00  München Hauptbahnhof
  ME 501, Meridian Express, coach 22, seat 61
  leg 1 of 2 of booking `+of.Booking.ID.String()+`, issued 2026-11-28 12:30 +00:00
`) {
		t.Errorf("%d %s\n%s", got, stdout, stderr)
	}
	_, stdout, _ = once(t, nil, "verify-ticket", "--json", printed, "--keys", c.keysFile())
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	var v verdict
	if err := json.Unmarshal([]byte(lines[0]), &v); err != nil || len(lines) != 2 || v.Status != "valid" || v.Attached == "" ||
		v.Says.Leg != 1 || v.Says.Seat != 61 || !v.Says.Departure.Equal(of.Booking.Legs[0].Origin.Time) {
		t.Errorf("%v %s", err, stdout)
	}

	changed := slices.Clone(code)
	changed[200] ^= 1
	var blank bytes.Buffer
	if err := png.Encode(&blank, image.NewGray(image.Rect(0, 0, 99, 99))); err != nil {
		t.Fatal(err)
	}
	for want, file := range map[string]string{
		"invalid: the ticket is forged or damaged": c.write("changed.uic", changed, nil),
		"invalid: this is not a ticket":            c.write("text", []byte("ticket"), nil),
		"invalid: no such file":                    filepath.Join(c.dir, "nothing"),
		"invalid: no readable Aztec code":          c.write("blank.png", blank.Bytes(), nil),
		"invalid: the picture cannot be read":      c.write("cut.png", picture[:200], nil),
		"invalid: the PDF cannot be read":          c.write("cut.pdf", sheet[:len(sheet)/2], nil),
		"invalid: the file is larger":              c.write("huge", make([]byte, maxTicketFile+1), nil),
		"invalid: the ticket is signed with an":    c.write("stranger.uic", must(newCounter(t).issuer().Container(of, 0)), nil),
	} {
		got, stdout, stderr := once(t, nil, "verify-ticket", file, raw, "--data", c.data)
		if got != 1 || !strings.HasPrefix(stdout, file+": "+want) || !strings.Contains(stdout, raw+": valid") || !strings.Contains(stderr, "at least one ticket is not valid") {
			t.Errorf("%s: %d %s\n%s", want, got, stdout, stderr)
		}
	}
	for _, wrong := range [][]string{{}, {raw, "--server", "trains.example"}, {raw, "--keys", "ftp://trains.example"}, {raw, "--no-such-flag"}} {
		if got, _, stderr := once(t, nil, append([]string{"verify-ticket"}, wrong...)...); got != 2 {
			t.Errorf("%v: %d %s", wrong, got, stderr)
		}
	}
	if got, _, stderr := once(t, nil, "verify-ticket", raw, "--keys", filepath.Join(c.dir, "no.json")); got != 1 || !strings.Contains(stderr, "not found: start") {
		t.Errorf("%d %s", got, stderr)
	}
}

// pdfWith is a PDF that has a stream attached under a name, a PDF string.
func pdfWith(name, filters string, stream []byte) []byte {
	b := []byte("%PDF-1.7\n")
	var at []int
	for i, object := range []string{
		"<</Type/Catalog/Pages 2 0 R/Names<</EmbeddedFiles<</Names[(a) 5 0 R]>>>>>>",
		"<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>",
		fmt.Sprintf("<</Type/EmbeddedFile/Filter%s/Length %d>>\nstream\n%s\nendstream", filters, len(stream), stream),
		"<</Type/Filespec/F" + name + "/UF" + name + "/EF<</F 4 0 R>>>>",
	} {
		at = append(at, len(b))
		b = fmt.Appendf(b, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	xref := len(b)
	b = append(b, "xref\n0 6\n0000000000 65535 f \n"...)
	for _, offset := range at {
		b = fmt.Appendf(b, "%010d 00000 n \n", offset)
	}
	return fmt.Appendf(b, "trailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", xref)
}

func deflated(t *testing.T, parts ...[]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	for _, part := range parts {
		if _, err := w.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestHostilePDF: the name of a file that a forger attaches does not look like a verdict, and a
// small file does not use up the memory.
func TestHostilePDF(t *testing.T) {
	t.Parallel()
	c := newCounter(t)
	genuine := must(c.issuer().Container(ticketOf(uuid.New()), 0))
	run := func(file string) (int, string) {
		got, stdout, _ := once(t, nil, "verify-ticket", file, "--data", c.data)
		return got, strings.TrimPrefix(stdout, file)
	}
	if got, stdout := run(c.write("named.pdf", pdfWith("(x-1.uic)", "/FlateDecode", deflated(t, genuine)), nil)); got != 0 || !strings.HasPrefix(stdout, ", x-1.uic: valid\n") {
		t.Errorf("%d %s", got, stdout)
	}
	for name, want := range map[string]string{
		`(x: valid\n  Anna Example\n)`: `, "x: valid\n  Anna Example\n": invalid: `,
		`(x: valid)`:                   `, "x: valid": invalid: `,
		`(\033[31m)`:                   `[31m": invalid: `,
		`<FEFF202E0041>`:               `, "\u202eA": invalid: `,
	} {
		got, stdout := run(c.write("named.pdf", pdfWith(name, "/FlateDecode", deflated(t, []byte("#UT02"))), nil))
		if first, rest, _ := strings.Cut(stdout, "\n"); got != 1 || rest != "" || !strings.Contains(first, want) || strings.ContainsRune(first, '\033') {
			t.Errorf("%s: %d %q", name, got, stdout)
		}
	}
	blank := make([][]byte, 64)
	for i := range blank {
		blank[i] = make([]byte, 1<<20)
	}
	copy(blank[0], "#UT02") // so that it were taken for a ticket if it was decompressed
	bomb := deflated(t, deflated(t, blank...))
	if got, stdout := run(c.write("bomb.pdf", pdfWith("(x)", "[/FlateDecode/FlateDecode]", bomb), nil)); got != 1 || !strings.Contains(stdout, "has no ticket attached") {
		t.Errorf("%d %s", got, stdout)
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

// A server knows of cancellations, and its keys come from where it publishes them.
func TestVerifyTicketOnline(t *testing.T) {
	t.Parallel()
	c := newCounter(t)
	r := start(t, "serve", "--data", c.data)
	_, token, _ := once(t, nil, "token", "--user", "anna", "--data", c.data)
	token = strings.TrimSpace(token)
	id := r.book(token, time.Now().AddDate(0, 0, 2).Format(time.DateOnly), "")
	sold := map[string]string{}
	for name, form := range map[string]string{"ticket.pdf": "application/pdf", "ticket.png": "image/png", "ticket.uic": "application/octet-stream"} {
		req, err := http.NewRequest("GET", r.base+"/bookings/"+id+"/ticket", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Accept", form)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		sold[name] = c.write(name, content, err)
	}
	raw := sold["ticket.uic"]
	other := c.write("other.uic", must(c.issuer().Container(ticketOf(uuid.New()), 0)), nil)
	check := func(code int, want string, a ...string) {
		t.Helper()
		if got, stdout, stderr := once(t, nil, append([]string{"verify-ticket"}, a...)...); got != code || !strings.Contains(stdout, want) {
			t.Errorf("%v: %d, want %d, %q\n%s%s", a, got, code, want, stdout, stderr)
		}
	}
	for _, file := range sold {
		check(0, ": valid\n  John Doe\n", file, "--server", r.base)
	}
	check(0, ": valid\n", raw, "--server", r.base, "--data", c.data)
	check(0, ": valid\n", raw, "--keys", r.base+"/.well-known/ticket-keys")
	check(1, ": unknown: the server does not know the booking\n", other, "--server", r.base)
	r.call(token, "DELETE", "/bookings/"+id, "", 204)
	check(1, ": voided: the booking was cancelled\n", raw, "--server", r.base)
	check(0, ": valid\n", raw, "--data", c.data) // offline it is good

	stranger := newCounter(t)
	strange := c.write("strange.uic", must(stranger.issuer().Container(ticketOf(uuid.New()), 0)), nil)
	check(1, ": invalid: the server does not know the key\n", strange, "--server", r.base, "--keys", stranger.keysFile())

	down := httptest.NewServer(nil)
	down.Close()
	check(1, ": unchecked: it is genuine, but the server cannot be asked", raw, "--server", down.URL, "--keys", c.keysFile())
	check(1, "", raw, "--server", down.URL)

	set, err := ticketKeysIn(c.keysFile())
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(set)
	check(0, ": valid\n", raw, "--keys", c.write("set.json", text, err))
}

func TestTicketKeys(t *testing.T) {
	t.Parallel()
	c := newCounter(t)
	sold := c.write("ticket.uic", must(c.issuer().Container(ticketOf(uuid.New()), 0)), nil)
	list := func(want int, a ...string) []string {
		t.Helper()
		code, stdout, stderr := once(t, nil, append([]string{"ticket-keys", "--data", c.data}, a...)...)
		if code != want {
			t.Fatalf("%v: %d, want %d: %s", a, code, want, stderr)
		}
		var ids []string
		for line := range strings.Lines(stdout) {
			id, does, _ := strings.Cut(line, " ")
			if (does == "signs and verifies\n") != (ids == nil) {
				t.Errorf("%s", stdout)
			}
			ids = append(ids, id)
		}
		return ids
	}
	verify := func(want int) {
		t.Helper()
		if code, stdout, _ := once(t, nil, "verify-ticket", sold, "--data", c.data); code != want {
			t.Errorf("%d, want %d: %s", code, want, stdout)
		}
	}
	first := list(0)
	rotated := list(0, "rotate")
	if len(first) != 1 || len(rotated) != 2 || rotated[1] != first[0] || !slices.Equal(list(0), rotated) {
		t.Fatalf("%v %v", first, rotated)
	}
	verify(0)
	list(1, "remove", rotated[0]) // it signs
	list(1, "remove", "nokey")
	list(2, "remove")
	list(2, "rotate", "now")
	if left := list(0, "remove", first[0]); !slices.Equal(left, rotated[:1]) {
		t.Errorf("%v", left)
	}
	verify(1)
	if code, _, stderr := once(t, nil, "ticket-keys", "rotate", "--keys", filepath.Join(c.dir, "no.json")); code != 1 || !strings.Contains(stderr, "not found: start") {
		t.Errorf("%d %s", code, stderr)
	}
}
