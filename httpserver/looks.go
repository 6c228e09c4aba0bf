package httpserver

import (
	"context"
	"errors"
	"sync"
	"time"
)

// readyWithin is how long all that readiness needs may take to show that it is there.
const readyWithin = 5 * time.Second

// looks are the looks at readiness. Nobody's quota counts for them and they ask the
// database, so there is one at a time: whoever comes meanwhile is told what it says.
type looks struct {
	mu  sync.Mutex
	now *oneLook // that is under way, or nil
}

// A oneLook is a look that is under way. Its error may be read when done is closed.
type oneLook struct {
	done chan struct{}
	err  error
}

// take returns what the look says that is under way, or that it begins.
func (l *looks) take(ctx context.Context, look func(context.Context) error) error {
	l.mu.Lock()
	one := l.now
	if one != nil {
		l.mu.Unlock()
		select {
		case <-one.done:
			return one.err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	one = &oneLook{done: make(chan struct{}), err: errLookPanicked}
	l.now = one
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.now = nil
		close(one.done)
	}()
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), readyWithin) // others wait for it too
	defer stop()
	one.err = look(ctx)
	return one.err
}

var errLookPanicked = errors.New("the readiness check panicked")
