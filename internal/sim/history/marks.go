package history

import (
	"context"
	"log/slog"
	"maps"
	"sync"
)

// Marks counts what does not happen in each history, but has to happen in some: the messages
// of the servers for their operator.
type marks struct {
	mu    sync.Mutex
	count map[string]int
}

func (m *marks) add(mark string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.count == nil {
		m.count = map[string]int{}
	}
	m.count[mark]++
}

func (m *marks) counts() map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.count)
}

// An ear is the log of a server.
type ear struct {
	history *history
	name    string
}

// Enabled implements slog.Handler.
func (e *ear) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelWarn }

// Handle implements slog.Handler.
func (e *ear) Handle(_ context.Context, r slog.Record) error {
	e.history.marks.add(r.Message)
	if e.history.w.Slow() {
		e.history.w.Journal.Say("%s: %s", e.name, r.Message)
	}
	return nil
}

// WithAttrs implements slog.Handler.
func (e *ear) WithAttrs([]slog.Attr) slog.Handler { return e }

// WithGroup implements slog.Handler.
func (e *ear) WithGroup(string) slog.Handler { return e }
