package agenda

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// A Host has the services of the program that scheduled work needs.
type Host struct {
	Store store.Store
	Now   func() time.Time
	Log   *slog.Logger

	// Begin reports the begin of a piece of work to the observer, and failing the number of
	// items of a kind that fail. See [rail.Observer].
	Begin   func(ctx context.Context, operation string) (context.Context, func(*error))
	Failing func(rail.FailingWork) // may be nil
}

// Recovered turns a panic of the host's code into an error with its stack.
func Recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
	}
}

// Sleep waits for a while, or until ctx ends.
func Sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// Insist schedules the next pass of a kind, and retries until it succeeds or ctx ends.
func Insist(ctx context.Context, log *slog.Logger, k records.Kind, schedule func(context.Context, records.Kind) error) {
	for ctx.Err() == nil {
		err := schedule(ctx, k)
		if err == nil {
			return
		}
		if !errors.Is(err, ctx.Err()) {
			log.Error("scheduling a pass over bookings failed; will retry", "kind", string(k), "error", err)
		}
		Sleep(ctx, LookAgain)
	}
}
