package ticket_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/ticket"
)

// A property is a content line of iCalendar, unfolded, with its value as written.
type property struct{ name, value string }

// contentLines reads iCalendar as RFC 5545 has it, and fails where it is not so.
func contentLines(t interface {
	Helper()
	Fatalf(string, ...any)
}, b []byte,
) []property {
	t.Helper()
	text, ok := strings.CutSuffix(string(b), "\r\n")
	if !ok || !utf8.ValidString(text) {
		t.Fatalf("no text, or its last line has no end: %q", b)
	}
	var all []property
	for _, l := range strings.Split(text, "\r\n") {
		if len(l) > 75 || !utf8.ValidString(l) || strings.ContainsFunc(l, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			t.Fatalf("a line that cannot be: %q", l)
		}
		if rest, folded := strings.CutPrefix(l, " "); folded {
			all[len(all)-1].value += rest
			continue
		}
		name, value, ok := strings.Cut(l, ":")
		if !ok {
			t.Fatalf("a line without a value: %q", l)
		}
		all = append(all, property{name, value})
	}
	return all
}

func valuesOf(all []property, name string) (values []string) {
	for _, p := range all {
		if p.name == name {
			values = append(values, p.value)
		}
	}
	return values
}

var unescape = strings.NewReplacer(`\\`, `\`, `\;`, ";", `\,`, ",", `\n`, "\n")

func TestCalendar(t *testing.T) {
	t.Parallel()
	i := issuer(t, newKey(t))
	doc := newDraft(t, "Zoë; Anna, Müller").
		leg("Example, Rail", "ICE 575", berlin, "2026-03-28 22:10", athens, "2026-03-29 21:05", "7", 42).
		leg("Example, Rail", "", athens, "2026-03-30 07:00", saloniki, "2026-03-30 12:00", "", 0).doc
	doc.Booking.HasDog = true
	b, err := i.Calendar(doc)
	if err != nil {
		t.Fatal(err)
	}
	all := contentLines(t, b)
	all = slices.DeleteFunc(all, func(p property) bool { return strings.HasPrefix(p.name, "X-KDE-") })
	want := []property{
		{"BEGIN", "VCALENDAR"}, {"VERSION", "2.0"}, {"PRODID", "-//traintravel//ticket//EN"}, {"CALSCALE", "GREGORIAN"},
		{"BEGIN", "VTIMEZONE"}, {"TZID", "Europe/Berlin"},
		{"BEGIN", "STANDARD"}, {"DTSTART", "20251026T030000"}, {"TZOFFSETFROM", "+0200"}, {"TZOFFSETTO", "+0100"}, {"TZNAME", "CET"}, {"END", "STANDARD"},
		{"END", "VTIMEZONE"},
		{"BEGIN", "VTIMEZONE"}, {"TZID", "Europe/Athens"},
		{"BEGIN", "DAYLIGHT"}, {"DTSTART", "20260329T030000"}, {"TZOFFSETFROM", "+0200"}, {"TZOFFSETTO", "+0300"}, {"TZNAME", "EEST"}, {"END", "DAYLIGHT"},
		{"END", "VTIMEZONE"},
		{"BEGIN", "VEVENT"}, {"UID", "0197e0a1-7c52-7b3e-9a4d-5f6e7a8b9c0d-1@traintravel"}, {"DTSTAMP", "20261103T093000Z"},
		{"DTSTART;TZID=Europe/Berlin", "20260328T221000"}, {"DTEND;TZID=Europe/Athens", "20260329T210500"},
		{"SUMMARY", "ICE 575: Berlin Hauptbahnhof – Αθήνα"}, {"GEO", "52.525100;13.369400"},
		{"LOCATION", `Berlin Hauptbahnhof\, Europaplatz 1\, 10557 Berlin`},
		{"DESCRIPTION", `From Berlin Hauptbahnhof: Sat 28 March 2026\, 22:10 (CET\, UTC+01:00)\n` +
			`To Αθήνα: Sun 29 March 2026\, 21:05 (EEST\, UTC+03:00)\nTrain ICE 575\, Example\, Rail\nCoach 7\, seat 42\n` +
			`Passenger: Zoë\; Anna\, Müller\nWith: Dog\nBooking: 9a4d-5f6e7a8b9c0d`},
		{"STATUS", "CONFIRMED"}, {"TRANSP", "OPAQUE"}, {"END", "VEVENT"},
		{"BEGIN", "VEVENT"}, {"UID", "0197e0a1-7c52-7b3e-9a4d-5f6e7a8b9c0d-2@traintravel"}, {"DTSTAMP", "20261103T093000Z"},
		{"DTSTART;TZID=Europe/Athens", "20260330T070000"}, {"DTEND;TZID=Europe/Athens", "20260330T120000"},
		{"SUMMARY", `Example\, Rail: Αθήνα – Θεσσαλονίκη`}, {"GEO", "37.992400;23.721100"},
		{"LOCATION", `Αθήνα\, Θεοδώρου Δηλιγιάννη\, Αθήνα`},
		{"DESCRIPTION", `From Αθήνα: Mon 30 March 2026\, 07:00 (EEST\, UTC+03:00)\nTo Θεσσαλονίκη: Mon 30 March 2026\, 12:00 (EEST\, UTC+03:00)\n` +
			`Train of Example\, Rail\nAny free seat\nPassenger: Zoë\; Anna\, Müller\nWith: Dog\nBooking: 9a4d-5f6e7a8b9c0d`},
		{"STATUS", "CONFIRMED"}, {"TRANSP", "OPAQUE"}, {"END", "VEVENT"},
		{"END", "VCALENDAR"},
	}
	if diff := cmp.Diff(want, all, cmp.AllowUnexported(property{})); diff != "" {
		t.Error(diff)
	}
	one, err := i.Calendar(doc, 1)
	if err != nil {
		t.Fatal(err)
	}
	if uids := valuesOf(contentLines(t, one), "UID"); len(uids) != 1 || !strings.HasSuffix(uids[0], "-2@traintravel") {
		t.Errorf("the second leg alone has the UIDs %q", uids)
	}
}

// Whatever the clocks show, the instant is the one that was sold: what is told of
// the zones gives it, in hours that clocks show twice, too.
func TestCalendarInstants(t *testing.T) {
	t.Parallel()
	i := issuer(t, newKey(t))
	zones := []string{"Europe/Berlin", "Europe/London", "Europe/Lisbon", "Europe/Istanbul", "Asia/Tbilisi", "Europe/Kyiv", "Africa/Casablanca", "Europe/Dublin"}
	rapid.Check(t, func(rt *rapid.T) {
		doc := newDraft(t, "Anna").leg("R", "1", berlin, "2026-03-28 22:10", athens, "2026-03-29 21:05", "7", 42).doc
		leg := &doc.Booking.Legs[0]
		at := time.Date(2026, rapid.SampledFrom([]time.Month{1, 3, 7, 10}).Draw(rt, "month"), 1, 0, 0, 0, 0, time.UTC)
		at = at.Add(time.Duration(rapid.IntRange(0, 31*24*60).Draw(rt, "minutes")) * time.Minute)
		leg.Origin.Time = at.In(zone(t, rapid.SampledFrom(zones).Draw(rt, "from")))
		leg.Destination.Time = at.Add(time.Duration(rapid.IntRange(1, 40*60).Draw(rt, "ride")) * time.Minute).In(zone(t, rapid.SampledFrom(zones).Draw(rt, "to")))
		b, err := i.Calendar(doc)
		if err != nil {
			rt.Fatal(err)
		}
		all := contentLines(rt, b)
		for name, want := range map[string]time.Time{"DTSTART": leg.Origin.Time, "DTEND": leg.Destination.Time} {
			if got := instant(rt, all, name); !got.Equal(want) {
				rt.Fatalf("%s is %v, want %v:\n%s", name, got, want, b)
			}
		}
	})
}

// instant reads a property by the zones that are described beside it. Of the
// observances that have begun, the one that began last counts, and of what clocks
// show twice, the first.
func instant(t *rapid.T, all []property, name string) time.Time {
	t.Helper()
	const layout = "20060102T150405"
	begins := false
	for _, p := range all {
		begins = begins || p == property{"BEGIN", "VEVENT"}
		if !begins {
			continue
		}
		if p.name == name {
			at, err := time.Parse(layout+"Z", p.value)
			if err != nil {
				t.Fatal(err)
			}
			return at
		}
		id, ok := strings.CutPrefix(p.name, name+";TZID=")
		if !ok {
			continue
		}
		wall, err := time.Parse(layout, p.value)
		if err != nil {
			t.Fatal(err)
		}
		var found, latest time.Time
		in := ""
		var from, to time.Duration
		var start time.Time
		for _, z := range all {
			switch z.name {
			case "TZID":
				in = z.value
			case "DTSTART":
				start, _ = time.Parse(layout, z.value)
			case "TZOFFSETFROM":
				from = shift(t, z.value)
			case "TZOFFSETTO":
				to = shift(t, z.value)
			case "END":
				if (z.value == "STANDARD" || z.value == "DAYLIGHT") && in == id {
					begun, at := start.Add(-from), wall.Add(-to)
					if !at.Before(begun) && begun.After(latest) {
						found, latest = at, begun
					}
				}
			}
		}
		return found
	}
	t.Fatalf("there is no %s", name)
	return time.Time{}
}

func shift(t *rapid.T, text string) time.Duration {
	t.Helper()
	at, err := time.Parse("-0700", text)
	if err != nil {
		t.Fatal(err)
	}
	_, seconds := at.Zone()
	return time.Duration(seconds) * time.Second
}

// hostile are texts that bookings and timetables can have.
func hostile() *rapid.Generator[string] {
	letters := rapid.OneOf(
		rapid.SampledFrom([]rune("<>&\"';,\\:/%(){}[]|^~`#=+-– \u00a0\u2028\u2029\u200b\u200d\u00ad\ufeff\ufffd")),
		rapid.SampledFrom([]rune("WMЖШΩԱႠ漢字🚆👩🏽\u0301\u0302אבשלוםالعربية\u202e\u2066")),
		rapid.SampledFrom([]rune("abcdefghijklmnop 0123456789")),
		rapid.Rune(),
	)
	return rapid.Custom(func(t *rapid.T) string {
		s := strings.Map(func(r rune) rune {
			if r < ' ' || r >= 0x7f && r < 0xa0 || !utf8.ValidRune(r) {
				return 'x'
			}
			return r
		}, string(rapid.SliceOfN(letters, 1, 200).Draw(t, "text")))
		return "x" + string([]rune(s)[:min(199, len([]rune(s)))])
	})
}

// hostileTicket is a ticket in which all texts are hostile.
func hostileTicket(t testing.TB, rt *rapid.T) traintravel.Ticket {
	text := func(name string) string { return hostile().Draw(rt, name) }
	doc := newDraft(t, text("passenger")).
		leg(text("operator"), text("number"), place{text("origin"), text("address"), "DE", "Europe/Berlin", 52.5, 13.4},
			"2026-12-01 08:30", place{text("destination"), "", "", "Europe/Paris", 48.9, 2.4}, "2026-12-01 16:35", text("coach"), rapid.IntRange(0, 1e6).Draw(rt, "seat")).
		leg(text("operator 2"), "", paris, "2026-12-01 18:30", berlin, "2026-12-02 06:35", "", 0).doc
	doc.Booking.HasBicycle = rapid.Bool().Draw(rt, "bicycle")
	return doc
}

// No text breaks a representation, and what is read from it is what was written.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	i := issuer(t, newKey(t))
	rapid.Check(t, func(rt *rapid.T) {
		checkForms(t, rt, i, hostileTicket(t, rt))
	})
}

func FuzzTexts(f *testing.F) {
	i := issuer(f, newKey(f))
	f.Fuzz(func(t *testing.T, chance []byte) {
		rapid.MakeFuzz(func(rt *rapid.T) { checkForms(t, rt, i, hostileTicket(t, rt)) })(t, chance)
	})
}

func checkForms(t testing.TB, rt *rapid.T, i *ticket.Issuer, doc traintravel.Ticket) {
	t.Helper()
	ride := doc.Booking.Legs[0]
	type named struct{ Name string }
	type reservationLD struct {
		UnderName      named
		ReservationFor struct {
			TrainNumber                      string
			Provider                         named
			DepartureStation, ArrivalStation named
		}
	}
	check := func(ld []byte) {
		rt.Helper()
		var found []reservationLD
		if err := json.Unmarshal(ld, &found); err != nil {
			rt.Fatalf("%v: %s", err, ld)
		}
		got := found[0]
		for _, pair := range [][2]string{
			{got.UnderName.Name, doc.Booking.PassengerName}, {got.ReservationFor.TrainNumber, ride.Number},
			{got.ReservationFor.Provider.Name, ride.Operator}, {got.ReservationFor.DepartureStation.Name, ride.Origin.Name},
			{got.ReservationFor.ArrivalStation.Name, ride.Destination.Name},
		} {
			if pair[0] != pair[1] {
				rt.Fatalf("%q was written as %q", pair[1], pair[0])
			}
		}
	}
	ld, err := i.JSONLD(doc)
	if err != nil {
		rt.Fatal(err)
	}
	check(ld)
	cal, err := i.Calendar(doc)
	if err != nil {
		rt.Fatal(err)
	}
	all := contentLines(rt, cal)
	if strings.ContainsAny(string(cal), "\u2028\u2029\u0085") {
		rt.Fatalf("a line has another end: %q", cal)
	}
	inside := valuesOf(all, "X-KDE-KITINERARY-RESERVATION")
	if len(inside) != 2 || len(valuesOf(all, "SUMMARY")) != 2 || len(valuesOf(all, "BEGIN")) != 7 {
		rt.Fatalf("not two events: %s", cal)
	}
	check([]byte(unescape.Replace(inside[0])))
	if rapid.IntRange(0, 7).Draw(rt, "PDF") > 0 { // which takes fifty times as long
		return
	}
	pdf, err := i.PDF(doc)
	if err != nil || !strings.HasPrefix(string(pdf), "%PDF-") {
		rt.Fatalf("%.20q %v", pdf, err)
	}
}
