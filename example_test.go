package traintravel_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/cities"
	"github.com/traintravel/traintravel/gtfs"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/store/boltstore"
	"github.com/traintravel/traintravel/store/memstore"
)

// Example is what the README shows, from here to there.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	dir, err := os.MkdirTemp("", "example")
	check(err)
	defer os.RemoveAll(dir)
	file, feed := filepath.Join(dir, "trains.db"), "internal/demo/feed"
	from, to := "Berlin", "Paris Nord"

	// README: from here
	store, err := boltstore.Open(file, nil)
	check(err)
	defer store.Close()
	service, err := traintravel.New(store, traintravel.Options{Gateway: sandbox.New(), Cities: cities.Europe()})
	check(err)
	go service.Run(ctx) // ends holds, makes refunds, delivers events

	timetable, _, err := gtfs.ReadFile(ctx, feed, gtfs.Options{}) // or your own trains
	check(err)
	_, err = service.LoadTimetable(ctx, timetable)
	check(err)

	origin, destination := look(ctx, service, from), look(ctx, service, to)
	zone, err := time.LoadLocation(origin.Zone)
	check(err)
	tomorrow := (traintravel.DateOf(time.Now().In(zone)) + 1).Start(zone)
	found, err := service.SearchTrips(ctx, traintravel.TripQuery{
		Origin: origin.ID, Destination: destination.ID, Depart: tomorrow,
	})
	check(err)
	if len(found.Items) == 0 {
		check(fmt.Errorf("no train goes from %s to %s tomorrow", origin.Name, destination.Name))
	}

	anna := traintravel.Caller{Subject: traintravel.Subject{Issuer: "my shop", ID: "anna"}}
	booking, err := service.CreateBooking(ctx, anna, traintravel.NewBooking{
		TripID: found.Items[0].ID, PassengerName: "Anna Example",
	})
	check(err)
	payment, err := service.PayBooking(ctx, anna, booking.ID, traintravel.NewPayment{
		Amount: booking.Price,
		Source: traintravel.Source{Card: &traintravel.Card{
			Name: "Anna Example", Number: "4242 4242 4242 4242", CVC: "123", ExpMonth: 12, ExpYear: 2099, Country: "DE",
		}},
	})
	check(err)
	fmt.Println(payment.Status, "from card", payment.Source.Card.Number)
	// README: to there

	// Output:
	// succeeded from card ************4242
}

// look finds the first station of which the words begin the name.
func look(ctx context.Context, service *traintravel.Service, words string) traintravel.Station {
	found, err := service.Stations(ctx, traintravel.StationQuery{Search: words})
	check(err)
	if len(found.Items) == 0 {
		check(fmt.Errorf("the timetable has no station %q", words))
	}
	return found.Items[0]
}

// check ends an example at an error that it does not expect.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

// The line of the examples: Aberg to Bdorf and on to Ceburg, 8 o'clock to 9.
var (
	aberg  = uuid.MustParse("a0000000-0000-4000-8000-00000000000a")
	bdorf  = uuid.MustParse("b0000000-0000-4000-8000-00000000000b")
	ceburg = uuid.MustParse("c0000000-0000-4000-8000-00000000000c")

	// The examples happen half a day before their train runs.
	eveBefore = time.Date(2027, 2, 28, 20, 0, 0, 0, time.UTC)
	travelDay = time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC)

	mira = traintravel.Caller{Subject: traintravel.Subject{Issuer: "my shop", ID: "mira"}}
)

// lineTimetable is a timetable of one train a day with two seats.
func lineTimetable() *traintravel.Timetable {
	return &traintravel.Timetable{
		Stations: []traintravel.Station{
			{ID: aberg, Name: "Aberg", Zone: "UTC", Latitude: 52.0, Longitude: 13.0},
			{ID: bdorf, Name: "Bdorf", Zone: "UTC", Latitude: 52.1, Longitude: 13.0},
			{ID: ceburg, Name: "Ceburg", Zone: "UTC", Latitude: 52.2, Longitude: 13.0},
		},
		Trains: []traintravel.Train{{
			Operator: "Kreisbahn", Number: "RB 1", Zone: "UTC",
			Days: traintravel.Daily(traintravel.NewDate(2027, 1, 1), traintravel.NewDate(2027, 12, 31)),
			Calls: []traintravel.Call{
				{Station: aberg, Depart: traintravel.Clock(8, 0)},
				{Station: bdorf, Arrive: traintravel.Clock(8, 28), Depart: traintravel.Clock(8, 30), Metres: 20_000},
				{Station: ceburg, Arrive: traintravel.Clock(9, 0), Metres: 40_000},
			},
			Coaches: []traintravel.Coach{{Number: "1", Seats: 2}},
			Fare:    traintravel.Fare{Currency: "eur", Base: 200, PerKm: 10},
		}},
	}
}

// lineOffice is a service that sells lineTimetable. Unless the options have a
// clock, its own shows eveBefore, and a millisecond more each time.
func lineOffice(ctx context.Context, opts traintravel.Options) *traintravel.Service {
	if opts.Now == nil {
		var looks atomic.Int64
		opts.Now = func() time.Time { return eveBefore.Add(time.Duration(looks.Add(1)) * time.Millisecond) }
	}
	service, err := traintravel.New(memstore.New(), opts)
	check(err)
	_, err = service.LoadTimetable(ctx, lineTimetable())
	check(err)
	return service
}

// holdSeat books a seat from Aberg to Ceburg for Mira.
func holdSeat(ctx context.Context, service *traintravel.Service) traintravel.Booking {
	found, err := service.SearchTrips(ctx, traintravel.TripQuery{Origin: aberg, Destination: ceburg, Depart: travelDay})
	check(err)
	booking, err := service.CreateBooking(ctx, mira, traintravel.NewBooking{TripID: found.Items[0].ID, PassengerName: "Mira Example"})
	check(err)
	return booking
}

// testCard is a source with a test number of package sandbox.
func testCard(number traintravel.Secret) traintravel.Source {
	return traintravel.Source{Card: &traintravel.Card{
		Name: "Mira Example", Number: number, CVC: "123", ExpMonth: 12, ExpYear: 2030, Country: "DE",
	}}
}

// A timetable can come from anywhere. Here it is the program's own data.
func ExampleService_LoadTimetable() {
	ctx := context.Background()
	service, err := traintravel.New(memstore.New(), traintravel.Options{})
	check(err)

	island, mainland := uuid.New(), uuid.New()
	timetable := &traintravel.Timetable{
		Stations: []traintravel.Station{
			{ID: island, Name: "Westerland (Sylt)", Country: "DE", Zone: "Europe/Berlin", Latitude: 54.907, Longitude: 8.311},
			{ID: mainland, Name: "Niebüll", Country: "DE", Zone: "Europe/Berlin", Latitude: 54.788, Longitude: 8.831},
		},
		Trains: []traintravel.Train{{
			Operator: "Inselbahn", Number: "62", Zone: "Europe/Berlin",
			Days: traintravel.Daily(traintravel.NewDate(2027, 1, 1), traintravel.NewDate(2027, 12, 31)),
			Calls: []traintravel.Call{
				{Station: island, Depart: traintravel.Clock(23, 45)},
				{Station: mainland, Arrive: traintravel.Clock(24, 20)}, // the night after
			},
			Fare: traintravel.Fare{Currency: "eur", Base: 150, PerKm: 12},
		}},
	}
	report, err := service.LoadTimetable(ctx, timetable)
	check(err)
	fmt.Println(report.Stations, "stations,", report.Trains, "train")

	// A timetable that cannot be is refused, and the old one stays in force.
	timetable.Trains[0].Calls[1].Arrive = traintravel.Clock(23, 20)
	_, err = service.LoadTimetable(ctx, timetable)
	fmt.Println(err)

	stations, err := service.Stations(ctx, traintravel.StationQuery{Search: "niebuell"})
	check(err)
	fmt.Println(len(stations.Items), "for niebuell")
	stations, err = service.Stations(ctx, traintravel.StationQuery{Search: "nieb"})
	check(err)
	fmt.Println(stations.Items[0].Name, "for nieb")

	// Output:
	// 2 stations, 1 train
	// trains[0].calls[1]: has the time 23:20:00 after 23:45:00: times must not decrease
	// 1 for niebuell
	// Niebüll for nieb
}

func ExampleService_SearchTrips() {
	ctx := context.Background()
	service := lineOffice(ctx, traintravel.Options{})

	query := traintravel.TripQuery{
		Origin:      aberg,
		Destination: ceburg,
		Depart:      travelDay, // from then to the end of the day at Aberg
		Page:        traintravel.Page{Limit: 20},
	}
	for {
		found, err := service.SearchTrips(ctx, query)
		if err != nil {
			fmt.Println(err) // an *InvalidError names what was wrong
			return
		}
		for _, t := range found.Items {
			fmt.Println(t.Origin().Time.Format(time.TimeOnly), t.Legs[0].Number, t.Price, t.Seats, "seats")
		}
		if found.Next == "" {
			break
		}
		query.Page.After = found.Next
	}

	query.Destination = aberg
	_, err := service.SearchTrips(ctx, query)
	fmt.Println(err)

	// Output:
	// 08:00:00 RB 1 6.00 eur 2 seats
	// destination: is the same station as the origin
}

func ExampleService_CreateBooking() {
	ctx := context.Background()
	service := lineOffice(ctx, traintravel.Options{})
	found, err := service.SearchTrips(ctx, traintravel.TripQuery{Origin: aberg, Destination: bdorf, Depart: travelDay})
	check(err)

	request := traintravel.NewBooking{
		TripID:         found.Items[0].ID,
		PassengerName:  "Mira Example",
		IdempotencyKey: "order 4711", // makes it safe to ask again
	}
	booking, err := service.CreateBooking(ctx, mira, request)
	check(err)
	leg := booking.Legs[0]
	fmt.Printf("%v until %v: coach %s seat %d\n", booking.Status, booking.Expires.Format(time.TimeOnly), leg.Coach, leg.Seat)

	again, err := service.CreateBooking(ctx, mira, request)
	check(err)
	fmt.Println("the same booking:", again.ID == booking.ID && again.Replayed)

	request.IdempotencyKey = ""
	_, err = service.CreateBooking(ctx, mira, request) // the other seat
	check(err)
	_, err = service.CreateBooking(ctx, mira, request)
	fmt.Println("sold out:", errors.Is(err, traintravel.ErrSoldOut))

	// A seat is sold for each section of the line: beyond Bdorf both are free.
	found, err = service.SearchTrips(ctx, traintravel.TripQuery{Origin: bdorf, Destination: ceburg, Depart: travelDay})
	check(err)
	fmt.Println(found.Items[0].Seats, "seats from Bdorf")

	// Output:
	// held until 21:00:00: coach 1 seat 1
	// the same booking: true
	// sold out: true
	// 2 seats from Bdorf
}

func ExampleService_PayBooking() {
	ctx := context.Background()
	service := lineOffice(ctx, traintravel.Options{Gateway: sandbox.New()})
	booking := holdSeat(ctx, service)

	// Only the exact price is taken.
	_, err := service.PayBooking(ctx, mira, booking.ID, traintravel.NewPayment{
		Amount: traintravel.Money{Amount: 500, Currency: "eur"}, Source: testCard("4242424242424242"),
	})
	var wrong *traintravel.AmountError
	fmt.Println("due:", errors.As(err, &wrong), wrong.Due)

	// A decline is an attempt that failed, not an error, and the hold stays.
	payment, err := service.PayBooking(ctx, mira, booking.ID, traintravel.NewPayment{
		Amount: booking.Price, Source: testCard("4000000000009995"),
	})
	check(err)
	fmt.Println(payment.Status, payment.Failure.Code)

	payment, err = service.PayBooking(ctx, mira, booking.ID, traintravel.NewPayment{
		Amount: booking.Price, Source: testCard("4242424242424242"),
	})
	check(err)
	booking, err = service.Booking(ctx, mira, booking.ID)
	check(err)
	fmt.Println(payment.Status, payment.Source.Card.Number, booking.Status)

	// Output:
	// due: true 6.00 eur
	// failed insufficient_funds
	// succeeded ************4242 confirmed
}

func ExampleService_CancelBooking() {
	ctx := context.Background()
	service := lineOffice(ctx, traintravel.Options{Gateway: sandbox.New()})
	booking := holdSeat(ctx, service)
	_, err := service.PayBooking(ctx, mira, booking.ID, traintravel.NewPayment{
		Amount: booking.Price, Source: testCard("4242424242424242"),
	})
	check(err)

	check(service.CancelBooking(ctx, mira, booking.ID))

	// The booking is gone, but its owner can still read what was paid. The
	// refund was recorded with the cancellation, and Run makes it.
	_, err = service.Booking(ctx, mira, booking.ID)
	fmt.Println(err)
	payments, err := service.Payments(ctx, mira, booking.ID, traintravel.Page{})
	check(err)
	for _, p := range payments.Items {
		fmt.Println(p.Amount, p.Status)
	}

	// Output:
	// not found
	// -6.00 eur pending
	// 6.00 eur succeeded
}
