package ticket_test

import (
	"bytes"
	"image"
	"image/draw"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/need"
	"github.com/traintravel/traintravel/ticket"
)

// readable are tickets with names in several scripts, in lengths that the layout
// of the container has room for.
func readable(t *testing.T) map[string]traintravel.Ticket {
	return map[string]traintravel.Ticket{
		"latin": newDraft(t, "Zoë Müller-Łuczak").leg("Example Rail", "ICE 575", place{"Köln Hbf", "Trankgasse 11", "DE", "Europe/Berlin", 50.943, 6.9589},
			"2026-12-01 22:30", place{"Ústí nad Labem", "", "CZ", "Europe/Prague", 50.6594, 14.0447}, "2026-12-02 06:35", "7", 42).doc,
		"greek":    newDraft(t, "Γιώργος Παπάς").leg("Ελληνικά Τρένα", "IC 54", athens, "2026-12-01 07:20", saloniki, "2026-12-01 11:55", "2", 7).doc,
		"cyrillic": newDraft(t, "Иван Петров").leg("БДЖ", "D 491", sofia, "2026-03-28 22:10", place{"Русе", "", "BG", "Europe/Sofia", 43.8346, 25.9556}, "2026-03-29 05:05", "431", 25).doc,
		"two": newDraft(t, "Anna Example").leg("Eurostar", "ES 9012", london, "2026-12-01 18:01", place{"Paris Nord", "", "FR", "Europe/Paris", 48.8809, 2.3553}, "2026-12-01 21:20", "12", 61).
			leg("Nachtzug", "", place{"Paris Est", "", "FR", "Europe/Paris", 48.8768, 2.3591}, "2026-12-01 22:10", place{"Bern", "", "CH", "Europe/Zurich", 46.949, 7.4391}, "2026-12-02 07:43", "", 0).doc,
	}
}

// KDE Itinerary knows of every representation what was sold.
func TestKitineraryReadsAll(t *testing.T) {
	t.Parallel()
	i := issuer(t, newKey(t))
	for name, doc := range readable(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for file, render := range map[string]func(traintravel.Ticket, ...int) ([]byte, error){
				"ticket.pdf": i.PDF, "ticket.ics": i.Calendar, "ticket.jsonld": i.JSONLD,
			} {
				b, err := render(doc)
				if err != nil {
					t.Fatal(err)
				}
				found := extract(t, file, b)
				if len(found) != len(doc.Booking.Legs) {
					t.Errorf("%s: %d reservations, want %d", file, len(found), len(doc.Booking.Legs))
					continue
				}
				for n, r := range found {
					compare(t, file, doc, n, r)
				}
			}
			for leg := range doc.Booking.Legs {
				for file, render := range map[string]func(traintravel.Ticket, int) ([]byte, error){"ticket.png": i.PNG, "ticket.uic": i.Container} {
					b, err := render(doc, leg)
					if err != nil {
						t.Fatal(err)
					}
					if found := extract(t, file, b); len(found) == 1 {
						compare(t, file, doc, leg, found[0])
					} else {
						t.Errorf("%s, leg %d: %d reservations", file, leg, len(found))
					}
				}
			}
		})
	}
}

func compare(t *testing.T, file string, doc traintravel.Ticket, leg int, got reservation) {
	t.Helper()
	ride := doc.Booking.Legs[leg]
	seat := ""
	if ride.Seat > 0 {
		seat = strconv.Itoa(ride.Seat)
	}
	const wall = "2006-01-02T15:04:05"
	for what, pair := range map[string][2]string{
		"type":        {"TrainReservation", got.Type},
		"number":      {ticket.Reference(doc.Booking.ID), got.Number},
		"passenger":   {doc.Booking.PassengerName, got.UnderName.Name},
		"origin":      {ride.Origin.Name, got.ReservationFor.DepartureStation.Name},
		"destination": {ride.Destination.Name, got.ReservationFor.ArrivalStation.Name},
		"departure":   {ride.Origin.Time.Format(wall), localTime(got.ReservationFor.DepartureTime)},
		"arrival":     {ride.Destination.Time.Format(wall), localTime(got.ReservationFor.ArrivalTime)},
		"train":       {ride.Number, got.ReservationFor.TrainNumber},
		"coach":       {ride.Coach, got.ReservedTicket.TicketedSeat.SeatSection},
		"seat":        {seat, got.ReservedTicket.TicketedSeat.SeatNumber},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s, leg %d: %s is %q, want %q", file, leg, what, pair[1], pair[0])
		}
	}
}

// run runs a program in a folder.
func run(t *testing.T, dir, program string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", program, args, err, out)
	}
	return out
}

const python = "/usr/bin/python3" // for which Debian has the module

var hasZXing = sync.OnceValue(func() bool { return exec.Command(python, "-c", "import zxingcpp, numpy").Run() == nil })

// scan has ZXing read the one code of a picture.
func scan(t *testing.T, picture []byte) []byte {
	t.Helper()
	need.Short(t, "other programs")
	if !hasZXing() {
		need.Missing(t, "zxingcpp for "+python, "python3-zxing-cpp")
	}
	img, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	size := img.Bounds().Size()
	grey := image.NewGray(image.Rectangle{Max: size})
	draw.Draw(grey, grey.Bounds(), img, img.Bounds().Min, draw.Src)
	cmd := exec.Command(python, "-c", `
import sys, numpy, zxingcpp
found = zxingcpp.read_barcodes(numpy.frombuffer(sys.stdin.buffer.read(), numpy.uint8).reshape(int(sys.argv[1]), -1), zxingcpp.BarcodeFormat.Aztec)
assert len(found) == 1, "%d codes" % len(found)
assert found[0].format == zxingcpp.BarcodeFormat.Aztec, found[0].format
sys.stdout.buffer.write(found[0].bytes)
`, strconv.Itoa(size.Y))
	cmd.Stdin = bytes.NewReader(grey.Pix)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	return out
}

// The picture holds the container byte for byte, and so does the one in the
// document, to which the container is attached as well.
func TestScannersReadCodes(t *testing.T) {
	t.Parallel()
	images := need.Program(t, "poppler-utils", "pdfimages")
	detach := need.Program(t, "poppler-utils", "pdfdetach")
	key := newKey(t)
	i := issuer(t, key)
	keys, err := ticket.NewKeys(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	all := drafts(t)
	for _, name := range []string{"one", "four", "widest"} {
		doc := all[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := func(name string) []byte {
				t.Helper()
				b, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil {
					t.Fatal(err)
				}
				return b
			}
			pdf, err := i.PDF(doc)
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, "ticket.pdf"), pdf)
			run(t, dir, images, "-png", "ticket.pdf", "code")
			run(t, dir, detach, "-saveall", "ticket.pdf")
			for leg := range doc.Booking.Legs {
				attached := file("ticket-" + strconv.Itoa(leg+1) + ".uic")
				got := scan(t, file("code-00"+strconv.Itoa(leg)+".png"))
				if !bytes.Equal(got, attached) {
					t.Errorf("leg %d: the code of the document is %q, and the file %q", leg, got, attached)
				}
				if c, err := keys.Verify(got); err != nil || c.Leg != leg || c.Booking != doc.Booking.ID {
					t.Errorf("leg %d: %+v, %v", leg, c, err)
				}
				png, err := i.PNG(doc, leg)
				if err != nil {
					t.Fatal(err)
				}
				if c, err := keys.Verify(scan(t, png)); err != nil || c.Leg != leg {
					t.Errorf("leg %d: the picture: %+v, %v", leg, c, err)
				}
			}
		})
	}
}

func write(t *testing.T, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
