// Package loglimit bounds how often a line is logged. It must not know what the lines are
// about.
package loglimit

import (
	"sync"
	"time"
)

// maxLines is how many lines about one kind of failure are logged in a minute.
const maxLines = 10

// A LogLimit bounds how many lines are logged. The zero value has logged nothing. It is
// safe for concurrent use.
type LogLimit struct {
	mu            sync.Mutex
	since         time.Time
	lines, unsaid int
}

// Take says whether a line may be logged now, and how many were not since the last.
func (l *LogLimit) Take(now time.Time) (ok bool, unsaid int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.since.IsZero() || now.Sub(l.since) >= time.Minute {
		l.since, l.lines = now, 0
	}
	if l.lines == maxLines {
		l.unsaid++
		return false, 0
	}
	l.lines++
	unsaid, l.unsaid = l.unsaid, 0
	return true, unsaid
}
