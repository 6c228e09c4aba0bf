// Command nats-notifier books a seat and cancels the booking. It publishes the events to NATS
// JetStream, and prints them from there. See README.md.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
	"github.com/traintravel/traintravel/internal/demo"
	"github.com/traintravel/traintravel/store/memstore"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "nats-notifier:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("nats-notifier", flag.ContinueOnError)
	url := flags.String("nats", "", "`URL` of a NATS server with JetStream; empty runs one in this program")
	data := flags.String("data", "", "`folder` for the data of that server; empty means a temporary one")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *url == "" {
		dir := *data
		if dir == "" {
			var err error
			if dir, err = os.MkdirTemp("", "nats-notifier"); err != nil {
				return err
			}
			defer os.RemoveAll(dir)
		}
		s, err := startServer(dir, server.RANDOM_PORT)
		if err != nil {
			return err
		}
		defer stopServer(s)
		*url = s.ClientURL()
	}
	nc, err := connect(*url)
	if err != nil {
		return err
	}
	defer nc.Close()
	n, err := newNotifier(ctx, nc)
	if err != nil {
		return err
	}
	stop, made, err := sell(ctx, n)
	if err != nil {
		return err
	}
	defer stop()
	return show(ctx, n, made, out)
}

// startServer starts a NATS server that keeps its streams in a folder.
func startServer(dir string, port int) (*server.Server, error) {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: dir, NoSigs: true, NoLog: true})
	if err != nil {
		return nil, err
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		stopServer(s)
		return nil, errors.New("the NATS server did not start within 10 seconds")
	}
	return s, nil
}

func stopServer(s *server.Server) {
	s.Shutdown()
	s.WaitForShutdown()
}

// connect connects to a server, and reconnects without limit.
func connect(url string) (*nats.Conn, error) {
	return nats.Connect(url, nats.Name("traintravel"), nats.MaxReconnects(-1), nats.ReconnectWait(100*time.Millisecond))
}

// sell runs a service that tells the notifier, books a trip on the demo network and
// cancels it. stop ends the service.
func sell(ctx context.Context, n traintravel.Notifier) (stop func(), made traintravel.Booking, err error) {
	s, err := office(ctx, n)
	if err != nil {
		return nil, made, err
	}
	if made, err = book(ctx, s); err != nil {
		return nil, made, err
	}
	if err := s.CancelBooking(ctx, anna, made.ID); err != nil {
		return nil, made, err
	}
	return start(ctx, s), made, nil
}

// start runs a service until the function returned is called.
func start(ctx context.Context, s *traintravel.Service) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { _ = s.Run(ctx) })
	return func() { cancel(); running.Wait() }
}

var (
	anna   = traintravel.Caller{Subject: traintravel.Subject{Issuer: "example", ID: "anna"}}
	berlin = uuid.MustParse("efdbb9d1-02c2-4bc3-afb7-6788d8782b1e")
	paris  = uuid.MustParse("b2e783e1-c824-4d63-b37a-d8d698862f1d")
)

// office returns a service with the demo network. Its clock begins on an evening of the demo
// timetable, and runs a hundred times as fast as a real one, so that retries come soon.
func office(ctx context.Context, n traintravel.Notifier) (*traintravel.Service, error) {
	begun, evening := time.Now(), time.Date(2024, 1, 31, 20, 0, 0, 0, time.UTC)
	s, err := traintravel.New(memstore.New(), traintravel.Options{
		Notifier: n,
		Now:      func() time.Time { return evening.Add(100 * time.Since(begun)) },
	})
	if err != nil {
		return nil, err
	}
	timetable, _, err := gtfs.Read(ctx, demo.Feed(), gtfs.Options{})
	if err != nil {
		return nil, err
	}
	_, err = s.LoadTimetable(ctx, timetable)
	return s, err
}

func book(ctx context.Context, s *traintravel.Service) (traintravel.Booking, error) {
	found, err := s.SearchTrips(ctx, traintravel.TripQuery{Origin: berlin, Destination: paris, Depart: time.Date(2024, 2, 1, 5, 0, 0, 0, time.UTC)})
	if err != nil {
		return traintravel.Booking{}, err
	}
	if len(found.Items) == 0 {
		return traintravel.Booking{}, errors.New("no trips to Paris found")
	}
	return s.CreateBooking(ctx, anna, traintravel.NewBooking{TripID: found.Items[0].ID, PassengerName: "Anna Example"})
}

// show prints the events of a booking from the stream until the booking is cancelled. The
// order of events is not guaranteed.
func show(ctx context.Context, n *notifier, made traintravel.Booking, out io.Writer) error {
	c, err := n.js.OrderedConsumer(ctx, stream, jetstream.OrderedConsumerConfig{})
	if err != nil {
		return err
	}
	messages, err := c.Messages()
	if err != nil {
		return err
	}
	defer messages.Stop()
	for shown := 0; shown < 2; {
		msg, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			return err
		}
		var m message
		if err := json.Unmarshal(msg.Data(), &m); err != nil {
			return err
		}
		if m.Booking != made.ID.String() {
			continue // of another run, in a stream that was kept
		}
		shown++
		if _, err := fmt.Fprintf(out, "%s: booking %s of %q, %s %s\n", msg.Subject(), m.Booking, m.Passenger, nats.MsgIdHdr, msg.Headers().Get(nats.MsgIdHdr)); err != nil {
			return err
		}
	}
	return nil
}
