package httpserver

import (
	"net/http"
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

// Admit counts a request that another handler answers, such as an authorization server
// beside this one, among those that are worked on at a time: see Options.MaxRequests.
// It returns what has to be called, once, when it has been answered; nil if there are
// too many, and it is to be refused with 503.
func (s *Server) Admit(r *http.Request) (done func()) {
	if s.load.enter() {
		return s.load.leave
	}
	if s.load.tell() {
		s.log.WarnContext(r.Context(), "request refused", "method", knownMethod(r.Method), "problem", problemOverloaded.slug)
	}
	return nil
}

// leave ends what enter began.
func (l *load) leave() { l.now.Add(-1) }

// tell says whether the log is to be told: once a second.
func (l *load) tell() bool {
	second := time.Now().Unix()
	return l.told.Swap(second) != second
}
