package ticket_test

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/need"
	"github.com/traintravel/traintravel/ticket"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// sample is a ticket for two trains, over New Year; change makes it another.
func sample(t testing.TB, change func(*traintravel.Booking)) traintravel.Ticket {
	t.Helper()
	berlin, athens := zone(t, "Europe/Berlin"), zone(t, "Europe/Athens")
	b := traintravel.Booking{
		ID:            uuid.MustParse("01939f2c-7a51-7cc1-9f0a-b1e5c4d3f2a6"),
		Status:        traintravel.Confirmed,
		PassengerName: "Zoë Müller",
		Legs: []traintravel.Leg{{
			Operator: "Meridian Express", Number: "ME 501", Coach: "22", Seat: 61,
			Origin:      traintravel.Stop{Name: "Berlin Hauptbahnhof", Time: time.Date(2026, 12, 31, 18, 4, 0, 0, berlin)},
			Destination: traintravel.Stop{Name: "München Hauptbahnhof", Time: time.Date(2026, 12, 31, 22, 2, 0, 0, berlin)},
		}, {
			Operator: "Nachtlinie", Number: "N 7",
			Origin:      traintravel.Stop{Name: "München Hauptbahnhof", Time: time.Date(2026, 12, 31, 23, 10, 0, 0, berlin)},
			Destination: traintravel.Stop{Name: "Θεσσαλονίκη", Time: time.Date(2027, 1, 1, 21, 45, 0, 0, athens)},
		}},
	}
	if change != nil {
		change(&b)
	}
	return traintravel.Ticket{Booking: b, Paid: time.Date(2026, 11, 28, 12, 30, 5, 0, time.UTC)}
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func issuer(t testing.TB, key *ecdsa.PrivateKey) *ticket.Issuer {
	t.Helper()
	i, err := ticket.NewIssuer(key)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func container(t testing.TB, i *ticket.Issuer, tk traintravel.Ticket, leg int) []byte {
	t.Helper()
	b, err := i.Container(tk, leg)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A reservation is what kitinerary-extractor prints, as far as it matters.
type reservation struct {
	Type           string `json:"@type"`
	Number         string `json:"reservationNumber"`
	ReservationFor struct {
		TrainNumber                string
		DepartureStation           struct{ Name string }
		ArrivalStation             struct{ Name string }
		DepartureTime, ArrivalTime any
	}
	ReservedTicket struct {
		TicketedSeat struct{ SeatSection, SeatNumber string }
	}
	UnderName struct{ Name string }
}

// extract has KDE's itinerary reader read a file.
func extract(t *testing.T, name string, content []byte) []reservation {
	t.Helper()
	program := need.Program(t, "libkpimitinerary-bin",
		"kitinerary-extractor", "/usr/lib/x86_64-linux-gnu/libexec/kf5/kitinerary-extractor", "/usr/lib/x86_64-linux-gnu/libexec/kf6/kitinerary-extractor")
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program, path).Output()
	if err != nil {
		t.Fatal(err)
	}
	var found []reservation
	if err := json.Unmarshal(out, &found); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return found
}

// What travellers' programs know of a ticket is what was sold: in any letters of
// Europe, over New Year, and cut to the layout where it is too long.
func TestKitineraryReadsContainers(t *testing.T) {
	t.Parallel()
	i := issuer(t, newKey(t))
	for _, c := range []struct {
		passenger, origin, destination, train, coach string
		seat                                         int
		wantPassenger, wantOrigin, wantDestination   string
		wantTrain                                    string
	}{
		{"Zoë Müller", "Berlin Hauptbahnhof", "Paris Gare du Nord", "ME 11", "22", 61, "", "Berlin Hbf", "Paris Gare du", ""},
		{"Ἀλέξανδρος Ωνάσης", "Θεσσαλονίκη", "Αθήνα", "IC 50", "1", 7, "", "", "", ""},
		{"Ганна Шевченко", "Київ-Пасажирський", "Łódź Fabryczna", "N 12345", "101", 1, "", "", "", ""},
		{"Wolfeschlegelsteinhausenbergerdorff", "Frankfurt (Main) Hauptbahnhof", "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch", "Nightjet 40457", "A12", 118, "Wolfeschlegelsteinh", "Frankfurt (Main)", "Llanfairpwllgwyng", "40457"},
		{"Anna Example", "Bern", "Zürich HB", "", "", 0, "", "", "", ""},
		{"🚆🚆🚆🚆🚆🚆🚆🚆🚆🚆🚆🚆", "X", "Y", "Überland", "21", 4, "🚆🚆🚆🚆🚆🚆🚆🚆🚆", "", "", "Überl"},
		{"Jose\u0301 Garci\u0301a Lo\u0301pez X\u0301", "A", "B", "9", "2", 3, "José García López", "", "", ""},
	} {
		tk := sample(t, func(b *traintravel.Booking) {
			b.PassengerName = c.passenger
			for k := range b.Legs {
				l := &b.Legs[k]
				l.Origin.Name, l.Destination.Name, l.Number, l.Coach, l.Seat = c.origin, c.destination, c.train, c.coach, c.seat
			}
		})
		for leg, times := range [][2]string{{"2026-12-31T18:04:00", "2026-12-31T22:02:00"}, {"2026-12-31T23:10:00", "2027-01-01T21:45:00"}} {
			code := container(t, i, tk, leg)
			if len(code) > 500 {
				t.Errorf("%s: %d bytes", c.passenger, len(code))
			}
			found := extract(t, "ticket.bin", code)
			if len(found) != 1 || found[0].Type != "TrainReservation" {
				t.Fatalf("%s: %+v", c.passenger, found)
			}
			r := found[0]
			seat := ""
			if c.seat != 0 {
				seat = strconv.Itoa(c.seat)
			}
			for what, pair := range map[string][2]string{
				"number":      {ticket.Reference(tk.Booking.ID), r.Number},
				"passenger":   {cmp.Or(c.wantPassenger, c.passenger), r.UnderName.Name},
				"origin":      {cmp.Or(c.wantOrigin, c.origin), r.ReservationFor.DepartureStation.Name},
				"destination": {cmp.Or(c.wantDestination, c.destination), r.ReservationFor.ArrivalStation.Name},
				"departure":   {times[0], localTime(r.ReservationFor.DepartureTime)},
				"arrival":     {times[1], localTime(r.ReservationFor.ArrivalTime)},
				"train":       {cmp.Or(c.wantTrain, c.train), r.ReservationFor.TrainNumber},
				"coach":       {c.coach, r.ReservedTicket.TicketedSeat.SeatSection},
				"seat":        {seat, r.ReservedTicket.TicketedSeat.SeatNumber},
			} {
				if pair[0] != pair[1] {
					t.Errorf("%s, leg %d: %s %q, want %q", c.passenger, leg, what, pair[1], pair[0])
				}
			}
		}
	}
}

// localTime is the wall time of what kitinerary prints: a text, or an object with
// the zone where it knows the station.
func localTime(v any) string {
	if m, ok := v.(map[string]any); ok {
		v = m["@value"]
	}
	s, _ := v.(string)
	if len(s) > len("2006-01-02T15:04:05") {
		s = s[:len("2006-01-02T15:04:05")]
	}
	return s
}
