package published

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// Examples are the IDs of the examples on a service. The zero value has none; Find fills
// it. Its methods are safe for concurrent use.
//
// A published trip is the same for all. The published booking is each user's own. It is
// held when the user first asks for it, and anew when the user does so after it was
// cancelled or its hold has ended, or pays for it once more: so each published request
// succeeds, in whatever order and however often it is sent.
type Examples struct {
	// Ahead is how far real time is ahead of the service's clock. The header Sunset, which
	// clients compare with their own clocks, tells real time.
	Ahead time.Duration

	service *traintravel.Service
	mu      sync.Mutex
	own     map[uuid.UUID]uuid.UUID           // the service's IDs of the trips, by the published ones
	shown   map[uuid.UUID]uuid.UUID           // the published IDs of trips and bookings, by the service's
	held    map[traintravel.Subject]uuid.UUID // the service's ID of each user's published booking
}

// Find looks for the trips of the examples in a service that has a timetable made by
// Timetable. It returns an error if one is not there.
func (e *Examples) Find(ctx context.Context, service *traintravel.Service) error {
	own, shown := map[uuid.UUID]uuid.UUID{}, map[uuid.UUID]uuid.UUID{}
	loc, err := time.LoadLocation(zone)
	if err != nil {
		return err
	}
	for _, x := range trips {
		depart := x.depart.Instant(day, loc)
		found, err := service.SearchTrips(ctx, traintravel.TripQuery{
			Origin: x.from, Destination: x.to, Depart: depart, Direct: true, Page: traintravel.Page{Limit: 100},
		})
		if err != nil {
			return err
		}
		for _, t := range found.Items {
			if t.Legs[0].Operator == x.operator && t.Origin().Time.Equal(depart) {
				own[x.id], shown[t.ID] = t.ID, x.id
			}
		}
		if own[x.id] == uuid.Nil {
			return fmt.Errorf("the published trip %v is not for sale", x.id)
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.service, e.own, e.shown, e.held = service, own, shown, map[traintravel.Subject]uuid.UUID{}
	return nil
}

// ownID is the service's ID of a trip with a published one.
func (e *Examples) ownID(published uuid.UUID) (uuid.UUID, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	id, ok := e.own[published]
	return id, ok
}

// shownID is the published ID of a trip or booking of the service's.
func (e *Examples) shownID(own uuid.UUID) (uuid.UUID, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	id, ok := e.shown[own]
	return id, ok
}

// booking is the service's ID of a user's published booking, which is held anew unless it
// is there.
func (e *Examples) booking(ctx context.Context, by traintravel.Caller) (uuid.UUID, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if id, ok := e.held[by.Subject]; ok {
		if _, err := e.service.Booking(ctx, by, id); !errors.Is(err, traintravel.ErrNotFound) {
			return id, err
		}
	}
	return e.hold(ctx, by)
}

// another holds the published booking anew for a user who has paid the one that it stands
// for now, and who keeps that one under the service's ID.
func (e *Examples) another(ctx context.Context, by traintravel.Caller, paid uuid.UUID) (uuid.UUID, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if id := e.held[by.Subject]; id != paid { // somebody else has held it
		return id, nil
	}
	delete(e.shown, paid)
	return e.hold(ctx, by)
}

func (e *Examples) hold(ctx context.Context, by traintravel.Caller) (uuid.UUID, error) {
	b, err := e.service.CreateBooking(ctx, by, traintravel.NewBooking{
		TripID: e.own[tripOut], PassengerName: passenger, HasBicycle: true, HasDog: true,
	})
	if err != nil {
		return uuid.Nil, err
	}
	e.held[by.Subject], e.shown[b.ID] = b.ID, booking
	return b.ID, nil
}

// Sender returns a sender that posts events with the published IDs.
func (e *Examples) Sender(next traintravel.WebhookSender) traintravel.WebhookSender {
	return sender{next, e}
}

type sender struct {
	traintravel.WebhookSender
	examples *Examples
}

func (s sender) Send(ctx context.Context, p traintravel.WebhookPost) (traintravel.WebhookAnswer, error) {
	b := &p.Event.Booking
	for _, id := range []*uuid.UUID{&b.ID, &b.TripID} {
		if shown, ok := s.examples.shownID(*id); ok {
			*id = shown
		}
	}
	return s.WebhookSender.Send(ctx, p)
}
