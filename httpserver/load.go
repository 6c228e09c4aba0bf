package httpserver

import (
	"sync/atomic"
	"time"
)

const defaultMaxRequests = 1024

// A load is the requests that are being worked on, of which there are at most as
// many as there may be; any number if that is negative.
type load struct {
	most int
	now  atomic.Int64
	told atomic.Int64 // the second in which the log was told last that it is too many
}

// enter begins to work on a request, unless there are too many.
func (l *load) enter() bool {
	if l.now.Add(1) <= int64(l.most) || l.most < 0 {
		return true
	}
	l.now.Add(-1)
	return false
}

// leave ends what enter began.
func (l *load) leave() { l.now.Add(-1) }

// tell says whether the log is to be told: once a second.
func (l *load) tell() bool {
	second := time.Now().Unix()
	return l.told.Swap(second) != second
}
