package main

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/traintravel/traintravel"
)

const (
	stream  = "TRAINTRAVEL"
	subject = "traintravel.events." // and the event's type
	// remembers is how long JetStream recognises an event. If a response was lost, the
	// event is published again within a day.
	remembers = 25 * time.Hour
)

// A notifier publishes events to a stream of JetStream.
type notifier struct{ js jetstream.JetStream }

// newNotifier creates the stream if it does not exist.
func newNotifier(ctx context.Context, nc *nats.Conn) (*notifier, error) {
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, err
	}
	_, err = js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: stream, Subjects: []string{subject + "*"}, Duplicates: remembers, Storage: jetstream.FileStorage,
	})
	return &notifier{js}, err
}

// A message is an event as it is published.
type message struct {
	ID        string                `json:"id"`
	Type      traintravel.EventType `json:"type"`
	Timestamp time.Time             `json:"timestamp"`
	Booking   string                `json:"booking"`
	Trip      string                `json:"trip"`
	Passenger string                `json:"passenger"`
}

// Notify publishes an event and waits until it is stored. If that is unknown, the service
// calls Notify again with the same event, and JetStream stores it once.
func (n *notifier) Notify(ctx context.Context, e traintravel.Event) error {
	body, err := json.Marshal(message{
		ID: e.ID.String(), Type: e.Type, Timestamp: e.Created.UTC(),
		Booking: e.Booking.ID.String(), Trip: e.Booking.TripID.String(), Passenger: e.Booking.PassengerName,
	})
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, 5*time.Second) // do not wait for a server that is away
	defer stop()
	_, err = n.js.Publish(ctx, subject+string(e.Type), body, jetstream.WithMsgID(e.ID.String()))
	return err
}
