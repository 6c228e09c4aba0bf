package officetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/traintravel/traintravel"
)

// A Watcher is an observer that writes down what it is told.
type Watcher struct {
	mu    sync.Mutex
	lines []string
}

func (w *Watcher) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, fmt.Sprintf(format, args...))
}

// Said are the lines that begin with a word, sorted.
func (w *Watcher) Said(word string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var lines []string
	for _, l := range w.lines {
		if rest, ok := strings.CutPrefix(l, word+" "); ok {
			lines = append(lines, rest)
		}
	}
	slices.Sort(lines)
	return lines
}

func (w *Watcher) Observe(o *traintravel.Options) {
	o.Observer = traintravel.Observer{
		Begin: func(ctx context.Context, op string) (context.Context, func(error)) {
			return ctx, func(err error) { w.note("operation %s: %v", op, err) }
		},
		Booking: func(ctx context.Context, c traintravel.BookingChange) {
			w.note("booking %v to %v", c.From, c.To)
		},
		Payment: func(ctx context.Context, c traintravel.PaymentChange) {
			w.note("payment refund=%v %q to %q", c.Refund, c.From, c.To)
		},
		Attempt: func(_ context.Context, a traintravel.Attempt) {
			w.note("attempt notifier=%v %s %d after %v", a.Notifier, a.Status, a.Answered, a.Lag)
		},
	}
}
