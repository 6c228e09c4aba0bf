package httpserver

import (
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/fair"
)

func sampleTicket(n uint64) (ticketFile, traintravel.Ticket) {
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:], n)
	station := uuid.UUID{1}
	return ticketFile{booking: id, form: "application/pdf"}, traintravel.Ticket{
		Booking:  traintravel.Booking{ID: id, PassengerName: "Anna Example", Status: traintravel.Confirmed},
		Stations: map[uuid.UUID]traintravel.Station{station: {ID: station, Name: "Berlin"}},
	}
}

// However many ask for a ticket at once, it is made once.
func TestTicketIsMadeOnceForManyAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newTicketCache()
		name, of := sampleTicket(1)
		var made atomic.Int64
		finish := make(chan struct{})
		write := func() ([]byte, error) {
			made.Add(1)
			<-finish
			return []byte("ticket"), nil
		}
		var asking sync.WaitGroup
		for range 600 {
			asking.Go(func() {
				if b, err := c.get(t.Context(), 1, name, of, write); err != nil || string(b) != "ticket" {
					t.Errorf("%q, %v", b, err)
				}
			})
		}
		gone, cancel := context.WithCancel(t.Context())
		asking.Go(func() {
			if _, err := c.get(gone, 1, name, of, write); err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
		synctest.Wait()
		cancel()
		synctest.Wait()
		close(finish)
		asking.Wait()
		if _, err := c.get(t.Context(), 1, name, of, write); err != nil || made.Load() != 1 {
			t.Errorf("%v: 602 requests made the ticket %d times", err, made.Load())
		}
		if len(c.making) != 0 {
			t.Errorf("%d tickets are still being made", len(c.making))
		}
	})
}

// A ticket that says anything else is made anew, also while the one before is being made.
func TestTicketIsMadeAnewWhenItChanges(t *testing.T) {
	t.Parallel()
	c := newTicketCache()
	name, of := sampleTicket(1)
	texts := func(text string) func() ([]byte, error) {
		return func() ([]byte, error) { return []byte(text), nil }
	}
	want := func(t *testing.T, name ticketFile, of traintravel.Ticket, make, want string) {
		t.Helper()
		if b, err := c.get(t.Context(), 1, name, of, texts(make)); err != nil || string(b) != want {
			t.Errorf("%q, %v, want %q", b, err, want)
		}
	}
	want(t, name, of, "first", "first")
	want(t, name, of, "second", "first")
	_, renamed := sampleTicket(1)
	renamed.Booking.PassengerName = "Berta Example"
	want(t, name, renamed, "renamed", "renamed")
	_, moved := sampleTicket(1)
	moved.Stations[uuid.UUID{1}] = traintravel.Station{ID: uuid.UUID{1}, Name: "Berlin", Address: "Europaplatz 1"}
	want(t, name, moved, "moved", "moved")
	for i, other := range []ticketFile{
		{name.booking, "image/png", 0, ""}, {name.booking, name.form, 1, ""}, {name.booking, name.form, 0, "https://trains.example"}, {uuid.UUID{9}, name.form, 0, ""},
	} {
		own := strings.Repeat("x", i+1)
		want(t, other, moved, own, own)
	}

	_, _ = c.get(t.Context(), 1, name, of, func() ([]byte, error) {
		want(t, name, renamed, "renamed meanwhile", "renamed meanwhile")
		return []byte("as it was"), nil
	})
	want(t, name, renamed, "renamed after", "renamed after")
}

// Failures are not cached, and no request waits for one forever.
func TestTicketThatCannotBeMade(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		for _, panics := range []bool{false, true} {
			c := newTicketCache()
			name, of := sampleTicket(1)
			finish := make(chan struct{})
			var asking sync.WaitGroup
			for range 3 {
				asking.Go(func() {
					defer func() { _ = recover() }()
					b, err := c.get(t.Context(), 1, name, of, func() ([]byte, error) {
						<-finish
						if panics {
							panic("broken")
						}
						return nil, broken
					})
					if b != nil || err == nil || !panics && !errors.Is(err, broken) {
						t.Errorf("%q, %v", b, err)
					}
				})
			}
			synctest.Wait()
			close(finish)
			asking.Wait()
			if b, err := c.get(t.Context(), 1, name, of, func() ([]byte, error) { return []byte("mended"), nil }); err != nil || string(b) != "mended" {
				t.Errorf("%q, %v", b, err)
			}
		}
	})
}

// One user has only so much of the memory for tickets, and cannot push out the others'.
func TestTicketsOfOneUserAreBounded(t *testing.T) {
	t.Parallel()
	c := newTicketCache()
	get := func(who fair.Caller, n uint64, size int) (made bool) {
		name, of := sampleTicket(n)
		if _, err := c.get(t.Context(), who, name, of, func() ([]byte, error) {
			made = true
			return make([]byte, size), nil
		}); err != nil {
			t.Fatal(err)
		}
		return made
	}
	get(1, 0, 50<<10)
	for n := range uint64(1000) {
		get(2, 1+n, 50<<10)
	}
	if get(1, 0, 50<<10) {
		t.Error("one user pushed out the ticket of another")
	}
	if size := c.kept.Size(); size > 2*maxTickets {
		t.Errorf("two users have %d bytes", size)
	}
	for n := range uint64(2000) {
		get(fair.Caller(10+n), 10_000+n, 50<<10)
	}
	if size := c.kept.Size(); size > maxAllTickets {
		t.Errorf("%d bytes are kept, more than %d", size, maxAllTickets)
	}
	if get(3, 1<<40, maxTickets) && !get(3, 1<<40, maxTickets) {
		t.Error("a ticket larger than one user may have is kept")
	}
}
