package ticket_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/ticket"
)

// A ticket comes from [traintravel.Service.Ticket]; this one is made by hand.
func ExampleIssuer_PDF() {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader) // or yours, kept somewhere
	check(err)
	issuer, err := ticket.NewIssuer(key)
	check(err)
	zone, err := time.LoadLocation("Europe/Berlin")
	check(err)
	sold := traintravel.Ticket{
		Booking: traintravel.Booking{
			ID: uuid.New(), Status: traintravel.Confirmed, PassengerName: "Anna Example",
			Price: traintravel.Money{Amount: 11358, Currency: "eur"},
			Legs: []traintravel.Leg{{
				Operator: "Ligne Atlantique", Number: "LA 21", Coach: "11", Seat: 42,
				Origin:      traintravel.Stop{Name: "Berlin Hauptbahnhof", Time: time.Date(2027, 2, 1, 7, 0, 0, 0, zone)},
				Destination: traintravel.Stop{Name: "Paris Gare du Nord", Time: time.Date(2027, 2, 1, 14, 46, 0, 0, zone)},
			}},
		},
		Paid: time.Now(),
	}

	pdf, err := issuer.PDF(sold)
	check(err)
	dir, err := os.MkdirTemp("", "ticket")
	check(err)
	defer os.RemoveAll(dir)
	check(os.WriteFile(filepath.Join(dir, "ticket.pdf"), pdf, 0o600))
	fmt.Printf("%s\n", pdf[:5])
	// Output: %PDF-
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
