package world

import (
	"context"
	"fmt"
	"sync/atomic"
)

// An Actor is on whose behalf a call is made: an operation of the history, or the
// background work of a process.
type actor struct{}

// By returns a context in which calls are made on behalf of an actor.
func By(ctx context.Context, who string) context.Context {
	return context.WithValue(ctx, actor{}, who)
}

// Background is the actor of the work that a process does by itself.
const Background = "Run"

// Within is for Observer.Begin: what the calls of an operation of a service draw depends on
// the actor and the operation. Pieces of background work are numbered, as several happen at
// once.
func (s *Seat) Within(ctx context.Context, operation string) (context.Context, func(error)) {
	who, _ := ctx.Value(actor{}).(string)
	switch who {
	case "":
		who = operation
	case Background:
		who = fmt.Sprint(operation, " ", s.w.Places.Draw(s.line+" begins "+operation).K)
	default:
		who += " " + operation
	}
	return context.WithValue(ctx, actor{}, who), func(error) {}
}

// place names where a call draws.
func place(ctx context.Context, process, call string) string {
	who, _ := ctx.Value(actor{}).(string)
	return process + "|" + who + "|" + call
}

type leaving struct{}

// Leaving returns a context that ends at a call of the store, counted from 1.
func Leaving(ctx context.Context, call int) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	left := &departure{cancel: cancel}
	left.calls.Store(int64(call))
	return context.WithValue(ctx, leaving{}, left), cancel
}

type departure struct {
	calls  atomic.Int64
	cancel context.CancelFunc
}

func leave(ctx context.Context) {
	if d, ok := ctx.Value(leaving{}).(*departure); ok && d.calls.Add(-1) == 0 {
		d.cancel()
	}
}
