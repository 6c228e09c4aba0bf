package ticket_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// A place is a station of the drafts.
type place struct {
	name, address, country, zone string
	lat, lon                     float64
}

var (
	berlin   = place{"Berlin Hauptbahnhof", "Europaplatz 1, 10557 Berlin", "DE", "Europe/Berlin", 52.5251, 13.3694}
	paris    = place{"Paris Gare du Nord", "18 Rue de Dunkerque, 75010 Paris", "FR", "Europe/Paris", 48.8809, 2.3553}
	london   = place{"London St Pancras", "Euston Road, London", "GB", "Europe/London", 51.532, -0.1262}
	athens   = place{"Αθήνα", "Θεοδώρου Δηλιγιάννη, Αθήνα", "GR", "Europe/Athens", 37.9924, 23.7211}
	saloniki = place{"Θεσσαλονίκη", "Μοναστηρίου, Θεσσαλονίκη", "GR", "Europe/Athens", 40.6443, 22.9293}
	sofia    = place{"София", "бул. Княгиня Мария Луиза 102, 1202 София", "BG", "Europe/Sofia", 42.7119, 23.3212}
	tbilisi  = place{"თბილისი ცენტრალური", "", "GE", "Asia/Tbilisi", 41.7222, 44.7983}
	yerevan  = place{"Երևան", "", "AM", "Asia/Yerevan", 40.1553, 44.5092}
)

// A draft is a ticket that tests make.
type draft struct {
	t   testing.TB
	doc traintravel.Ticket
}

func newDraft(t testing.TB, passenger string) *draft {
	t.Helper()
	return &draft{t, traintravel.Ticket{
		Booking: traintravel.Booking{
			ID: uuid.MustParse("0197e0a1-7c52-7b3e-9a4d-5f6e7a8b9c0d"), PassengerName: passenger, Status: traintravel.Confirmed,
			Price: traintravel.Money{Amount: 4990, Currency: "eur"},
		},
		Paid: time.Date(2026, 11, 3, 9, 30, 0, 0, time.UTC), Stations: map[uuid.UUID]traintravel.Station{},
	}}
}

func (s *draft) stop(p place, at string) traintravel.Stop {
	s.t.Helper()
	loc := zone(s.t, p.zone)
	when, err := time.ParseInLocation("2006-01-02 15:04", at, loc)
	if err != nil {
		s.t.Fatal(err)
	}
	id := uuid.NewSHA1(uuid.Nil, []byte(p.name))
	s.doc.Stations[id] = traintravel.Station{ID: id, Name: p.name, Address: p.address, Country: p.country, Zone: p.zone, Latitude: p.lat, Longitude: p.lon}
	return traintravel.Stop{Station: id, Name: p.name, Time: when}
}

// leg adds a ride.
func (s *draft) leg(operator, number string, from place, departs string, to place, arrives, coach string, seat int) *draft {
	s.t.Helper()
	s.doc.Booking.Legs = append(s.doc.Booking.Legs, traintravel.Leg{
		Operator: operator, Number: number, Origin: s.stop(from, departs), Destination: s.stop(to, arrives), Coach: coach, Seat: seat,
	})
	return s
}

func drafts(t testing.TB) map[string]traintravel.Ticket {
	one := newDraft(t, "Zoë Müller-Ångström").leg("Example Rail", "ICE 575", berlin, "2026-12-01 08:30", paris, "2026-12-01 16:35", "7", 42)
	one.doc.Booking.HasBicycle, one.doc.Booking.HasDog = true, true
	long := place{"Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch Pentrebychan Interchange Station (North Wales Coast Line)", "An address that goes on and on, past the old mill, the new mill, and the mill that never was, 2nd floor, LL61 5UJ Llanfairpwllgwyngyll, Isle of Anglesey", "GB", "Europe/London", 53.2209, -4.2094}
	wide := place{strings.Repeat("W", 200), strings.Repeat("Ж", 200), "GB", "Europe/London", 51.5, 0}
	many := newDraft(t, strings.Repeat("W", 200))
	for range 4 {
		many.leg(strings.Repeat("Ŵ", 200), strings.Repeat("M", 200), wide, "2026-12-01 08:30", wide, "2026-12-02 16:35", strings.Repeat("W", 200), 123456)
	}
	return map[string]traintravel.Ticket{
		"widest": many.doc,
		"long":   newDraft(t, "Maximiliane-Friederike Wilhelmina von und zu Hohenlohe-Schillingsfürst-Waldenburg, Gräfin von Württemberg").leg("Trafnidiaeth Cymru Example Rail Passenger Services Limited", "Pendolino Express 12345", long, "2026-12-01 08:30", paris, "2026-12-01 16:35", "A12", 142).doc,
		"one":    one.doc,
		"four": newDraft(t, "Γιώργος Παπαδόπουλος").
			leg("Eurostar Example", "ES 9012", london, "2026-12-01 18:01", paris, "2026-12-01 21:20", "12", 61).
			leg("Nachtzug", "NJ 471", paris, "2026-12-01 22:10", berlin, "2026-12-02 07:43", "263", 104).
			leg("Example Rail", "", berlin, "2026-12-02 09:00", sofia, "2026-12-03 08:05", "", 0).
			leg("Ελληνικά Τρένα", "IC 54", sofia, "2026-12-03 09:20", athens, "2026-12-03 21:55", "2", 7).doc,
		"unreserved": newDraft(t, "Jane Doe").leg("Regional Example", "", berlin, "2026-12-01 23:50", paris, "2026-12-02 07:10", "", 0).doc,
		"greek":      newDraft(t, "Γιώργος Παπαδόπουλος").leg("Ελληνικά Τρένα", "IC 54", athens, "2026-12-01 07:20", saloniki, "2026-12-01 11:55", "2", 7).doc,
		"caucasus":   newDraft(t, "Նարե Սարգսյան გიორგი").leg("საქართველოს რკინიგზა", "371", tbilisi, "2026-12-01 22:20", yerevan, "2026-12-02 07:05", "3", 12).doc,
		"dst":        newDraft(t, "Иван Петров").leg("БДЖ", "D 491", sofia, "2026-03-28 22:10", berlin, "2026-03-29 19:05", "431", 25).doc,
	}
}

// With TICKET_SAMPLES=DIR the drafts are left in a folder, to be looked at.
func TestDrafts(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("TICKET_SAMPLES")
	i := issuer(t, newKey(t))
	for name, doc := range drafts(t) {
		for ext, render := range map[string]func(traintravel.Ticket, ...int) ([]byte, error){
			".pdf": i.PDF, ".ics": i.Calendar, ".json": i.JSONLD,
		} {
			b, err := render(doc)
			if err != nil {
				t.Fatalf("%s%s: %v", name, ext, err)
			}
			if dir != "" {
				write(t, filepath.Join(dir, name+ext), b)
			}
		}
	}
}
