// Command embed uses the library in one program: it loads a timetable, searches, books,
// pays and cancels, and prints the events.
//
//	go run ./examples/embed                                   # the demo network
//	go run ./examples/embed FEED.zip                          # a railway's own timetable
//	go run ./examples/embed FEED.zip "Köln Hbf" "Frankfurt (Main) Hauptbahnhof" 2023-12-13
//
// The demo network is an internal package of this module. To copy the program
// elsewhere, leave it out of load and name a feed.
//
// With a feed it travels in the middle of the feed's period, between the two stations
// that most trains connect, unless the arguments name others.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/cities"
	"github.com/traintravel/traintravel/gtfs"
	"github.com/traintravel/traintravel/internal/demo"
	"github.com/traintravel/traintravel/store/boltstore"
)

// errUsage is returned for arguments that the program does not take.
var errUsage = errors.New("usage: embed [FEED [ORIGIN DESTINATION [DATE]]]")

func main() {
	flag.Usage = func() { fmt.Fprintln(os.Stderr, errUsage) }
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, flag.Args(), os.Stdout)
	stop()
	switch {
	case errors.Is(err, errUsage):
		flag.Usage()
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "embed:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	timetable, err := load(ctx, args)
	if err != nil {
		return err
	}
	plan, err := choose(timetable, args)
	if err != nil {
		return err
	}

	dir, err := os.MkdirTemp("", "embed")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	store, err := boltstore.Open(filepath.Join(dir, "trains.db"), nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()

	events := make(chan traintravel.Event, 10)
	service, err := traintravel.New(store, traintravel.Options{
		Now:     func() time.Time { return plan.now }, // a timetable of the past needs a clock of its time
		Gateway: &till{},
		Cities:  cities.Europe(), // Vienna is Wien
		Notifier: traintravel.NotifierFunc(func(_ context.Context, e traintravel.Event) error {
			events <- e
			return nil
		}),
	})
	if err != nil {
		return err
	}
	loaded, err := service.LoadTimetable(ctx, timetable)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d stations, %d trains\n", loaded.Stations, loaded.Trains)

	background, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { _ = service.Run(background) }) // expires holds, refunds, delivers events
	defer running.Wait()
	defer stop()

	return travel(ctx, service, plan, events, out)
}

// load reads the feed that is named, else the demo network.
func load(ctx context.Context, args []string) (*traintravel.Timetable, error) {
	switch len(args) {
	case 0:
		timetable, _, err := gtfs.Read(ctx, demo.Feed(), gtfs.Options{})
		return timetable, err
	case 1, 3, 4:
		coaches := []traintravel.Coach{{Number: "1", Seats: 60}, {Number: "2", Seats: 80}} // feeds do not say
		timetable, _, err := gtfs.ReadFile(ctx, args[0], gtfs.Options{Coaches: coaches})
		if errors.Is(err, gtfs.ErrNoTrains) {
			return nil, fmt.Errorf("%s: %w", args[0], err)
		}
		if err != nil {
			return nil, fmt.Errorf("%s cannot be read as a GTFS feed, which is a zip file or a folder: %w", args[0], err)
		}
		return timetable, nil
	}
	return nil, errUsage
}

// travel is what the library is about.
func travel(ctx context.Context, service *traintravel.Service, plan plan, events <-chan traintravel.Event, out io.Writer) error {
	found, err := service.SearchTrips(ctx, traintravel.TripQuery{
		Origin: plan.origin.ID, Destination: plan.destination.ID, Depart: plan.day,
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s to %s on %s\n", plan.origin.Name, plan.destination.Name, plan.day.Format(time.DateOnly))
	if len(found.Items) == 0 {
		return errors.New("no trips found: choose another date")
	}
	for _, t := range found.Items {
		fmt.Fprintf(out, "  %s - %s  %-12s %10s  %s\n", clock(t.Origin().Time), clock(t.Destination().Time), t.Legs[0].Number, t.Price, seats(t))
	}
	if found.Next != "" {
		fmt.Fprintln(out, "  later trips are on the next page")
	}

	anna := traintravel.Caller{Subject: traintravel.Subject{Issuer: "box office", ID: "anna"}}
	booking, err := service.CreateBooking(ctx, anna, traintravel.NewBooking{TripID: found.Items[0].ID, PassengerName: "Anna Example"})
	if err != nil {
		return err
	}
	leg := booking.Legs[0]
	fmt.Fprintf(out, "%s until %s: %s", booking.Status, clock(booking.Expires.In(plan.day.Location())), leg.Number)
	if leg.Seat > 0 {
		fmt.Fprintf(out, ", coach %s seat %d", leg.Coach, leg.Seat)
	}
	fmt.Fprintln(out)
	if err := tell(ctx, out, events); err != nil {
		return err
	}

	payment, err := service.PayBooking(ctx, anna, booking.ID, traintravel.NewPayment{
		Amount: booking.Price,
		Source: traintravel.Source{Card: &traintravel.Card{
			Name: "Anna Example", Number: "4242 4242 4242 4242", CVC: "123", ExpMonth: 12, ExpYear: plan.now.Year() + 2, Country: "DE",
		}},
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%v from card %v: %s\n", payment.Amount, payment.Source.Card.Number, payment.Status)
	if err := tell(ctx, out, events); err != nil {
		return err
	}

	if err := service.CancelBooking(ctx, anna, booking.ID); err != nil {
		return err
	}
	if err := tell(ctx, out, events); err != nil {
		return err
	}
	return refunded(ctx, service, anna, booking.ID, out)
}

// refunded waits until Run has made the refund.
func refunded(ctx context.Context, service *traintravel.Service, by traintravel.Caller, booking uuid.UUID, out io.Writer) error {
	for {
		payments, err := service.Payments(ctx, by, booking, traintravel.Page{})
		if err != nil {
			return err
		}
		for _, p := range payments.Items { // the newest first
			if p.RefundOf != uuid.Nil && p.Status == traintravel.Succeeded {
				fmt.Fprintf(out, "%s: refunded to the card\n", p.Amount)
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// tell prints the event that what was just done brings about.
func tell(ctx context.Context, out io.Writer, events <-chan traintravel.Event) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case e := <-events:
		fmt.Fprintf(out, "  event %s: %s is %s\n", e.Type, e.Booking.PassengerName, e.Booking.Status)
		return nil
	}
}

func clock(t time.Time) string { return t.Format("15:04 MST") }

func seats(t traintravel.Trip) string {
	if !t.Reserved {
		return "unreserved"
	}
	return fmt.Sprintf("%d seats left", t.Seats)
}
