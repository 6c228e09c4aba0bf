package main

import (
	"log/slog"
	"strings"
	"sync"
	"time"
)

// complaints logs what net/http complains about, such as failed TLS handshakes. Strangers can
// cause any number of them, so one a second is logged, with the number of those left out
// before it. Panics are always logged.
type complaints struct {
	log *slog.Logger

	mu       sync.Mutex
	last     time.Time
	unlogged int
}

// Write logs a complaint.
func (c *complaints) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, text := time.Now(), strings.TrimSpace(string(b))
	switch {
	case strings.HasPrefix(text, "http: panic"), strings.HasPrefix(text, "http2: panic"):
		c.log.Error(text)
	case !c.last.IsZero() && now.Sub(c.last) < time.Second:
		c.unlogged++
	case c.unlogged > 0:
		c.log.Warn(text, "unlogged", c.unlogged)
		c.last, c.unlogged = now, 0
	default:
		c.log.Warn(text)
		c.last = now
	}
	return len(b), nil
}
