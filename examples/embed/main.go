// Command embed is a whole ticket office in one program: it loads a timetable,
// searches, books, pays and cancels through the library, and hears of it all.
//
//	go run ./examples/embed                                   # the demo network
//	go run ./examples/embed FEED.zip                          # a railway's own timetable
//	go run ./examples/embed FEED.zip "Köln Hbf" "Frankfurt(Main)Hbf" 2023-12-13
//
// Of a feed it takes the middle of its period, and the two stations that most
// trains connect, unless they are named.
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
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
	"github.com/traintravel/traintravel/internal/demo"
	"github.com/traintravel/traintravel/store/boltstore"
)

func main() {
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: embed [FEED [ORIGIN DESTINATION [DATE]]]")
	}
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, flag.Args(), os.Stdout); err != nil {
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
		Notifier: traintravel.NotifierFunc(func(_ context.Context, e traintravel.Event) error {
			events <- e
			return nil
		}),
	})
	if err != nil {
		return err
	}
	if _, err := service.LoadTimetable(ctx, timetable); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d stations, %d trains\n", len(timetable.Stations), len(timetable.Trains))

	background, stop := context.WithCancel(ctx)
	stopped := make(chan struct{})
	go func() { service.Run(background); close(stopped) }() // expires holds, refunds, delivers events
	defer func() { stop(); <-stopped }()

	return travel(ctx, service, plan, events, out)
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
	for _, t := range found.Items {
		fmt.Fprintf(out, "  %s - %s  %-12s %10s  %s\n", clock(t.Origin().Time), clock(t.Destination().Time), t.Legs[0].Number, t.Price, seats(t))
	}
	if len(found.Items) == 0 {
		return errors.New("no train runs there on that day")
	}

	anna := traintravel.Caller{Subject: traintravel.Subject{Issuer: "box office", ID: "anna"}}
	booking, err := service.CreateBooking(ctx, anna, traintravel.NewBooking{TripID: found.Items[0].ID, PassengerName: "Anna Example"})
	if err != nil {
		return err
	}
	leg := booking.Legs[0]
	fmt.Fprintf(out, "%s until %s: %s", booking.Status, clock(booking.Expires), leg.Number)
	if leg.Seat > 0 {
		fmt.Fprintf(out, ", coach %s seat %d", leg.Coach, leg.Seat)
	}
	fmt.Fprintln(out)
	tell(out, events)

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
	tell(out, events)

	if err := service.CancelBooking(ctx, anna, booking.ID); err != nil {
		return err
	}
	tell(out, events)
	for { // Run makes the refund in the background
		payments, err := service.Payments(ctx, anna, booking.ID, traintravel.Page{})
		if err != nil {
			return err
		}
		for _, p := range payments.Items {
			if p.Amount.Amount < 0 && p.Status == traintravel.Succeeded {
				fmt.Fprintf(out, "%v given back\n", p.Amount)
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
func tell(out io.Writer, events <-chan traintravel.Event) {
	e := <-events
	fmt.Fprintf(out, "  event %s: %s is %s\n", e.Type, e.Booking.PassengerName, e.Booking.Status)
}

func clock(t time.Time) string { return t.Format("15:04 MST") }

func seats(t traintravel.Trip) string {
	if !t.Reserved {
		return "unreserved"
	}
	return fmt.Sprintf("%d seats left", t.Seats)
}

func load(ctx context.Context, args []string) (*traintravel.Timetable, error) {
	opts := gtfs.Options{}
	if len(args) == 0 {
		timetable, _, err := gtfs.Read(ctx, demo.Feed(), opts)
		return timetable, err
	}
	opts.Coaches = []traintravel.Coach{{Number: "1", Seats: 60}, {Number: "2", Seats: 80}} // feeds do not say
	timetable, _, err := gtfs.ReadFile(ctx, args[0], opts)
	return timetable, err
}
