package main

import (
	"bytes"
	"context"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats-server/v2/server"

	"github.com/traintravel/traintravel"
)

func TestRun(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	for range 2 { // the second finds the stream
		var out bytes.Buffer
		if err := run(ctx, []string{"--data", t.TempDir()}, &out); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"events.newBooking: booking ", "events.bookingCancelled: booking ", `of "Anna Example", Nats-Msg-Id `} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("it printed\n%swhich lacks %q", out.String(), want)
			}
		}
	}
}

// reports tells of each failure to notify.
type reports struct {
	traintravel.Notifier
	failed chan error
}

func (r *reports) Notify(ctx context.Context, e traintravel.Event) error {
	err := r.Notifier.Notify(ctx, e)
	if err != nil {
		select {
		case r.failed <- err:
		default:
		}
	}
	return err
}

// Events of bookings made while the NATS server is down are published when it is back. An event
// whose acknowledgement was lost is stored once.
func TestServerIsAway(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	dir := t.TempDir()
	s := started(t, dir, server.RANDOM_PORT)
	u, err := url.Parse(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		t.Fatal(err)
	}
	nc, err := connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	n, err := newNotifier(ctx, nc)
	if err != nil {
		t.Fatal(err)
	}
	again := traintravel.Event{ID: uuid.New(), Type: traintravel.BookingExpired, Created: time.Now()}
	if err := n.Notify(ctx, again); err != nil {
		t.Fatal(err)
	}
	stopServer(s)

	r := &reports{n, make(chan error, 1)}
	shop, err := office(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	made, err := book(ctx, shop)
	if err != nil {
		t.Fatal(err)
	}
	if err := shop.CancelBooking(ctx, anna, made.ID); err != nil {
		t.Fatal(err)
	}
	defer start(ctx, shop)()
	select {
	case <-r.failed:
	case <-ctx.Done():
		t.Fatal("publishing did not fail")
	}
	s = started(t, dir, port)
	defer stopServer(s)
	var out bytes.Buffer
	if err := show(ctx, n, made, &out); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := n.Notify(ctx, again); err != nil {
			t.Fatal(err)
		}
	}
	has, err := n.js.Stream(ctx, stream)
	if err != nil {
		t.Fatal(err)
	}
	is, err := has.Info(ctx)
	if err != nil || is.State.Msgs != 3 {
		t.Errorf("the stream has %+v, %v; three events happened", is.State, err)
	}
}

func started(t *testing.T, dir string, port int) *server.Server {
	t.Helper()
	s, err := startServer(dir, port)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
