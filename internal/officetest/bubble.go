package officetest

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
)

// InBubbles is the network in the bubble's first year.
func InBubbles() *traintravel.Timetable {
	tt := Network()
	for i := range tt.Trains {
		tt.Trains[i].Days = traintravel.Daily(traintravel.NewDate(2000, 1, 1), traintravel.NewDate(2000, 12, 31))
	}
	return tt
}

// Start runs the service until stop is called, which waits for its end.
func (o *Office) Start() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- o.Run(ctx) }()
	return func() {
		o.T.Helper()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			o.T.Errorf("Run returned %v", err)
		}
	}
}

// Tomorrow is a trip on the bubble's second day.
func (o *Office) Tomorrow(from, to rune, number string) uuid.UUID {
	o.T.Helper()
	id, err := o.Direct(o.T.Context(), number, traintravel.NewDate(2000, 1, 2), Station(from), Station(to))
	if err != nil {
		o.T.Fatal(err)
	}
	return id
}
