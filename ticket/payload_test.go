package ticket

import (
	"bytes"
	"compress/zlib"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
)

// What is signed is read strictly too, and never beyond its bounds.
func TestParsePayload(t *testing.T) {
	t.Parallel()
	c := Content{
		Booking: uuid.MustParse("01939f2c-7a51-7cc1-9f0a-b1e5c4d3f2a6"), Reference: "9f0a-b1e5c4d3f2a6", Legs: 1, Issued: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Passenger: "Anna", Departure: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Arrival: time.Date(2026, 1, 2, 5, 4, 5, 0, time.UTC),
	}
	good := string(payload(c))
	if got, err := parsePayload(good); err != nil || got != c {
		t.Fatalf("%+v %v", got, err)
	}
	short := c
	short.Reference = "K7M4QX"
	if got, err := parsePayload(string(payload(short))); err != nil || got != short {
		t.Fatalf("%+v %v", got, err)
	}
	for _, ref := range []string{"", "k7m4qx", "K7M4Q0", "K7M 4QX", "K7M4QXX"} {
		short.Reference = ref
		if got, err := parsePayload(string(payload(short))); err == nil {
			t.Errorf("the reference %q: %+v", ref, got)
		}
	}
	own := block(blockOwn, c.encode())
	before := strings.TrimSuffix(good, own)
	for name, bad := range map[string]string{
		"nothing":                    "",
		"no own block":               before,
		"another version":            strings.Replace(good, "U_HEAD01", "U_HEAD02", 1),
		"another order":              own + before,
		"a block twice":              good + own,
		"a length beyond the end":    strings.Replace(good, "U_HEAD010053", "U_HEAD019999", 1),
		"a length below the head":    strings.Replace(good, "U_HEAD010053", "U_HEAD010001", 1),
		"a length that is none":      strings.Replace(good, "U_HEAD010053", "U_HEAD01-053", 1),
		"another ticket's head":      strings.Replace(good, "9f0a-b1", "9f0a-b2", 1),
		"another company's head":     strings.Replace(good, "00539999", "00530080", 1),
		"a line too few":             before + block(blockOwn, strings.TrimSuffix(c.encode(), "\n2026-01-02T05:04:05Z")),
		"a line too many":            before + block(blockOwn, c.encode()+"\n"),
		"a leg that there is not":    before + block(blockOwn, strings.Replace(c.encode(), "1/1", "2/1", 1)),
		"leg 0":                      before + block(blockOwn, strings.Replace(c.encode(), "1/1", "0/1", 1)),
		"a leg with a blank":         before + block(blockOwn, strings.Replace(c.encode(), "1/1", " 1/1", 1)),
		"a time that cannot be":      before + block(blockOwn, strings.Replace(c.encode(), "01-02T05", "02-30T05", 1)),
		"a booking in capitals":      before + block(blockOwn, strings.Replace(c.encode(), "7cc1", "7CC1", 1)),
		"a seat with a sign":         before + block(blockOwn, strings.Replace(c.encode(), "\n0\n", "\n+0\n", 1)),
		"what travels along":         before + block(blockOwn, strings.Replace(c.encode(), "Anna\n", "Anna\ncat", 1)),
		"text that is not UTF-8":     before + block(blockOwn, strings.Replace(c.encode(), "Anna", "Ann\xff", 1)),
		"an escape sequence":         before + block(blockOwn, strings.Replace(c.encode(), "Anna", "\x1b[2J", 1)),
		"a time that is not as sent": before + block(blockOwn, strings.Replace(c.encode(), "05:04:05Z", "05:04:05+00:00", 1)),
	} {
		if got, err := parsePayload(bad); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestDecompress(t *testing.T) {
	t.Parallel()
	deflate := func(b []byte) []byte {
		var out bytes.Buffer
		w := zlib.NewWriter(&out)
		_, err := w.Write(b)
		if err := errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	if got, err := decompress(deflate(make([]byte, maxPayload))); err != nil || len(got) != maxPayload {
		t.Errorf("%d %v", len(got), err)
	}
	small := deflate([]byte("ticket"))
	for name, bad := range map[string][]byte{
		"a bomb":         deflate(make([]byte, 1<<20)),
		"one byte more":  deflate(make([]byte, maxPayload+1)),
		"trailing bytes": append(bytes.Clone(small), 0),
		"two streams":    append(bytes.Clone(small), small...),
		"no checksum":    small[:len(small)-4],
		"nothing":        nil,
	} {
		if _, err := decompress(bad); err == nil {
			t.Errorf("%s was decompressed", name)
		}
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	for _, text := range []string{strings.Repeat("ж", 200), strings.Repeat("🚆", 200), strings.Repeat("b\u0301\u0302", 70), "b" + strings.Repeat("\u0301", 199), strings.Repeat("x ", 100)} {
		long := line(text, maxPassenger)
		if len(long) > maxPassenger || len(long) < maxPassenger-8 || !strings.HasPrefix(long, text[:1]) || !utf8.ValidString(long) {
			t.Errorf("%q", long)
		}
	}
	for in, want := range map[string]string{
		"a\nb\x00c\u0085d":                  "a b c d",
		"a\xffb":                            "a?b",
		"a\u0301":                           "á",
		strings.Repeat("x", 19) + "q\u0302": strings.Repeat("x", 19),
		strings.Repeat("x", 17) + "q\u0302": strings.Repeat("x", 17) + "q\u0302",
		strings.Repeat("x", 19) + " yz":     strings.Repeat("x", 19),
	} {
		if got := line(in, 20); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	for name, want := range map[string]string{
		"Berlin Hauptbahnhof": "Berlin Hbf", "Hauptbahnhof": "Hauptbahnhof", "Paris Gare du Nord": "Paris Gare du",
		"Frankfurt (Main) Hauptbahnhof": "Frankfurt (Main)", "Llanfairpwllgwyngyll": "Llanfairpwllgwyng",
		"L Anfairpwllgwyngyll": "L Anfairpwllgwyng", "Kassel-Wilhelmshöhe": "Kassel-Wilhelmshö",
	} {
		if got := shorten(name, 17); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for train, want := range map[string][2]string{
		"ICE 123": {"123", "ICE"}, "ICE123": {"123", "ICE"}, "123": {"123", ""}, "": {"", ""}, "Nightjet 40457": {"40457", ""},
		"R-7 12": {"12", ""}, "Glacier": {"Glacier", ""}, "N 123456": {"N 123456", ""}, "ЭП 20": {"20", "ЭП"},
	} {
		if number, category := split(train); [2]string{number, category} != want {
			t.Errorf("%s: %q %q, want %q", train, number, category, want)
		}
	}
}

// However long and odd the names, an Aztec code can hold the container.
func TestLongestFits(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	odd := func(size int) string {
		var b strings.Builder
		for range 200 {
			b.WriteRune(rune(0x4e00 + random.IntN(0x5000)))
		}
		return line(b.String(), size)
	}
	code, err := new(compressor).compress(payload(Content{
		Legs: 4, Passenger: odd(maxPassenger), HasBicycle: true, HasDog: true, Operator: odd(maxOperator), Train: odd(maxTrain),
		Coach: odd(maxCoach), Seat: math.MaxInt, Origin: odd(maxStation), Destination: odd(maxStation),
	}))
	if err != nil || headerSize+len(code) > 1000 {
		t.Errorf("%d bytes, %v", headerSize+len(code), err)
	}
}

// FuzzPayload: nothing that is signed makes reading it panic, and one text has one
// meaning.
func FuzzPayload(f *testing.F) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600))
	f.Add(string(payload(Content{Legs: 1, Issued: at.UTC(), Passenger: "Anna", HasDog: true, Train: "ICE 1", Departure: at, Arrival: at})))
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parsePayload(text)
		if err != nil {
			return
		}
		if own := block(blockOwn, c.encode()); !strings.HasSuffix(text, own) {
			t.Errorf("%q is read as %q", text, own)
		}
	})
}
