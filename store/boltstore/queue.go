package boltstore

import (
	"context"
	"sync"

	"github.com/traintravel/traintravel"
)

// A call is one Update under way.
type call struct {
	ctx context.Context
	fn  func(traintravel.Tx) error

	next  *call
	state callState
	wake  chan bool // to the waiting caller: true, lead; false, you are answered

	err      error
	panicked bool
	reason   any // the panic's
}

type callState uint8

const (
	waiting  callState = iota
	promoted           // still in the queue, at its head, and about to lead
	taken              // by a leader
	left               // by its caller, whose context ended
)

// A queue holds the calls that wait for a group. At any time at most one caller
// leads; while nobody leads, the queue is empty.
type queue struct {
	mu         sync.Mutex
	head, tail *call
	led        bool
	closed     bool
	idle       chan struct{} // closed when closed and no longer led
	failure    error         // why no update is taken any more
}

// join adds a call, and reports whether its caller is to lead at once.
func (q *queue) join(c *call) (lead bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed:
		return false, ErrClosed
	case q.failure != nil:
		return false, q.failure
	}
	if q.head == nil {
		q.head = c
	} else {
		q.tail.next = c
	}
	q.tail = c
	lead, q.led = !q.led, true
	if !lead {
		c.wake = make(chan bool, 1)
	}
	return lead, nil
}

// wait waits until c is answered or is to lead.
func (q *queue) wait(c *call) (lead bool) {
	select {
	case lead = <-c.wake:
		return lead
	case <-c.ctx.Done():
	}
	q.mu.Lock()
	if c.state == waiting {
		c.state = left
		c.err = c.ctx.Err()
		q.mu.Unlock()
		return false
	}
	q.mu.Unlock()
	return <-c.wake
}

// take takes the first call out of the queue; nil if there is none.
func (q *queue) take() *call {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.skip()
	c := q.head
	if c != nil {
		q.head = c.next
		c.next = nil
		c.state = taken
	}
	return c
}

// pass ends the leadership of the caller: the first one waiting leads next.
func (q *queue) pass() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.skip()
	if q.head != nil {
		q.head.state = promoted
		q.head.wake <- true
		return
	}
	q.led = false
	if q.closed {
		close(q.idle)
	}
}

// skip drops the calls at the head whose callers have left.
func (q *queue) skip() {
	for q.head != nil && q.head.state == left {
		q.head = q.head.next
	}
}

// fail makes the queue take no more calls.
func (q *queue) fail(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.failure = err
}

// failed returns the error given to fail.
func (q *queue) failed() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.failure
}

// close makes the queue take no more calls and waits for those in it.
func (q *queue) close() {
	q.mu.Lock()
	if !q.closed {
		q.closed = true
		q.idle = make(chan struct{})
		if !q.led {
			close(q.idle)
		}
	}
	q.mu.Unlock()
	<-q.idle
}

// answer lets the caller of c go on.
func (c *call) answer() {
	if c.wake != nil {
		c.wake <- false
	}
}
