package payments

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/traintravel/traintravel/internal/agenda"
	"github.com/traintravel/traintravel/internal/ledger"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// Concurrent attempts to pay with one card, or of one user, may all be declined. When as many
// are in progress as may still be declined, the next one waits for the outcome of one of them.
// So a program that pays for many bookings at once is only slowed down, and a thief's parallel
// attempts do not exceed the limit.
//
// Attempts that wait in one process form a line, of which only the first polls the store, because
// the outcome may be recorded by another process.

const (
	// maxTurns is the number of attempts that may wait for a card or user in a process.
	maxTurns = 100
	// declinePause is when to try again if no more attempts may wait.
	declinePause = 5 * time.Second

	firstLook, lastLook = 5 * time.Millisecond, 250 * time.Millisecond
)

// turns are the lines of a process.
type turns struct {
	mu    sync.Mutex
	lines map[store.Key]*payLine
}

type payLine struct {
	turn    chan struct{} // has one value while an attempt has the turn
	waiting int
}

// join enters a line; it returns false if the line is too long.
func (t *turns) join(k store.Key) (*payLine, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.lines[k]
	if l == nil {
		if t.lines == nil {
			t.lines = map[store.Key]*payLine{}
		}
		l = &payLine{turn: make(chan struct{}, 1)}
		t.lines[k] = l
	}
	if l.waiting >= maxTurns {
		return nil, false
	}
	l.waiting++
	return l, true
}

func (t *turns) leave(k store.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l := t.lines[k]; l.waiting > 1 {
		l.waiting--
	} else {
		delete(t.lines, k)
	}
}

// inTurn makes an attempt to pay when its turn comes, or refuses it if that takes longer than a
// gateway may take.
func (f *Flow) inTurn(ctx context.Context, try func() error) error {
	err := try()
	busy, ok := errors.AsType[*ledger.UnderWay](err)
	if !ok {
		return err
	}
	refusal := &rail.DeclinesError{Card: busy.Card, RetryAfter: declinePause}
	l, ok := f.turns.join(busy.Key)
	if !ok {
		return refusal
	}
	defer f.turns.leave(busy.Key)
	wait, stop := context.WithTimeout(ctx, f.Timeout)
	defer stop()
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-wait.Done():
	}
	for look := firstLook; wait.Err() == nil; look = min(2*look, lastLook) {
		if err := try(); !errors.As(err, &busy) {
			return err
		}
		agenda.Sleep(wait, look)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return refusal
}
