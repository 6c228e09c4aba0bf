package ticket_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/ticket"
)

// A ticket is issued by who has the key, and verified by who has its public part.
func Example() {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader) // keep it: an old ticket needs its key
	if err != nil {
		log.Fatal(err)
	}
	issuer, err := ticket.NewIssuer(key)
	if err != nil {
		log.Fatal(err)
	}
	container, err := issuer.Container(soldTicket(), 0) // what Service.Ticket returns, and its first leg
	if err != nil {
		log.Fatal(err)
	}

	keys, err := ticket.NewKeys(&key.PublicKey) // or ParseKeys of /.well-known/ticket-keys
	if err != nil {
		log.Fatal(err)
	}
	c, err := keys.Verify(container)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s, %s, coach %s seat %d\n", c.Passenger, c.Train, c.Coach, c.Seat)
	fmt.Printf("%s %s to %s %s\n", c.Origin, c.Departure.Format("15:04"), c.Destination, c.Arrival.Format("15:04"))

	container[200]++
	_, err = keys.Verify(container)
	fmt.Println(errors.Is(err, ticket.ErrSignature), err)
	// Output:
	// Anna Example, ME 11, coach 21 seat 1
	// Berlin Hauptbahnhof 11:00 to Paris Gare du Nord 18:46
	// true the ticket is forged or damaged
}

// soldTicket is one as Service.Ticket returns it.
func soldTicket() traintravel.Ticket {
	cet := time.FixedZone("CET", 3600)
	return traintravel.Ticket{
		Booking: traintravel.Booking{
			ID: uuid.MustParse("01a21fb5-69c1-7d40-adb5-9989ab2d6fbd"), Status: traintravel.Confirmed, PassengerName: "Anna Example",
			Legs: []traintravel.Leg{{
				Operator: "Meridian Express", Number: "ME 11", Coach: "21", Seat: 1,
				Origin:      traintravel.Stop{Name: "Berlin Hauptbahnhof", Time: time.Date(2027, 2, 1, 11, 0, 0, 0, cet)},
				Destination: traintravel.Stop{Name: "Paris Gare du Nord", Time: time.Date(2027, 2, 1, 18, 46, 0, 0, cet)},
			}},
		},
		Paid: time.Date(2026, 11, 28, 1, 20, 7, 0, time.UTC),
	}
}
