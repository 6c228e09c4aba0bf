package bench_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/store/memstore"
)

// BenchmarkRun delivers 2000 events that wait, in memory: on a store that one
// process has to itself, and on one that servers share, of which one runs.
func BenchmarkRun(b *testing.B) {
	const events = 2000
	for _, shared := range []bool{false, true} {
		b.Run(fmt.Sprintf("shared=%t", shared), func(b *testing.B) {
			var left atomic.Int64
			var done context.CancelFunc
			opts := benchOptions
			opts.Notifier = traintravel.NotifierFunc(func(context.Context, traintravel.Event) error {
				if left.Add(-1) == 0 {
					done()
				}
				return nil
			})
			for b.Loop() {
				b.StopTimer()
				var store traintravel.Store = memstore.New()
				if shared {
					store = struct{ traintravel.Store }{store}
				}
				s := benchService(b, store, opts)
				for i, trip := range spreadTrips(b, s, events) {
					if _, err := s.CreateBooking(b.Context(), caller(i), traintravel.NewBooking{TripID: trip, PassengerName: "A"}); err != nil {
						b.Fatal(err)
					}
				}
				left.Store(events)
				var ctx context.Context
				ctx, done = context.WithCancel(b.Context())
				b.StartTimer()
				_ = s.Run(ctx) // ends when all is delivered
				b.StopTimer()
				done()
				b.StartTimer()
			}
			b.ReportMetric(float64(events*b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}
