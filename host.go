package traintravel

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"
)

// A host is what the work on the agenda needs of the program in which it runs.
type host struct {
	store Store
	now   func() time.Time
	log   *slog.Logger

	// begin tells the observer of a piece of work, and failing how many items of a kind
	// fail. See [Observer].
	begin   func(ctx context.Context, operation string) (context.Context, func(*error))
	failing func(FailingWork) // may be nil
}

// recovered makes a panic of somebody else's code an error with its place.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
	}
}

// sleep waits for a while, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
