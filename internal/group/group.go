// Package group is what the stores have in common that commit updates in
// groups: the queue of those that wait, the transaction that each closure
// reads and writes, and the overlay by which the later ones of a group see what
// the earlier ones have written.
//
// A caller joins the queue with a [Call]. If it is to lead, now or when its turn
// comes, it runs its own closure and those it takes from the queue, commits once
// for all, answers them, and passes the leadership on. No goroutine runs and no
// timer waits while nobody calls.
package group

import (
	"context"
	"errors"
	"sync"

	"github.com/traintravel/traintravel"
)

// ErrGoexit answers the calls of a group whose leader's goroutine was ended by
// one of their closures.
var ErrGoexit = errors.New("a closure ended the goroutine that ran it (runtime.Goexit)")

// A Call is one Update under way. Between the methods of [Queue] it belongs to
// the leader that took it.
type Call struct {
	Ctx context.Context
	Fn  func(traintravel.Tx) error
	Err error // the answer

	next     *Call
	state    state
	wake     chan bool // to the waiting caller: true, lead; false, you are answered
	panicked bool
	reason   any // the panic's
}

type state uint8

const (
	waiting state = iota
	taken         // by a leader, or to be one
	left          // by its caller, whose context ended
)

// Run runs the closure and keeps what came of it. It reports whether the
// closure wants its writes applied.
func (c *Call) Run(t *Tx) bool {
	c.run(t)
	return c.Err == nil && !c.panicked
}

func (c *Call) run(t *Tx) {
	c.Err = ErrGoexit
	defer func() {
		t.Reader = dead{}
		c.reason = recover()
		c.panicked = c.reason != nil
	}()
	c.Err = c.Fn(t)
	if t.Err != nil { // whatever the closure makes of it
		c.Err = t.Err
	}
}

// Answer lets the caller go on.
func (c *Call) Answer() {
	if c.wake != nil {
		c.wake <- false
	}
}

// Result returns the answer to the caller, or panics as its closure did.
func (c *Call) Result() error {
	if c.panicked {
		panic(c.reason)
	}
	return c.Err
}

// A Queue holds the calls that wait for a group. At any time at most one caller
// leads; while nobody does, the queue is empty. The zero value is one.
type Queue struct {
	mu         sync.Mutex
	head, tail *Call
	led        bool
	closed     error         // why calls are refused, once closed
	idle       chan struct{} // closed when closed and nobody leads any more
	failure    error         // why no update is taken any more
}

// Update joins the queue, leads a group if it is this call's turn, and returns
// the answer. lead is given the call itself, and must answer it.
func (q *Queue) Update(ctx context.Context, fn func(traintravel.Tx) error, lead func(*Call)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c := &Call{Ctx: ctx, Fn: fn}
	first, err := q.join(c)
	if err != nil {
		return err
	}
	if first || q.wait(c) {
		c.wake = nil
		func() {
			defer q.pass() // last: some of those answered come back at once
			lead(c)
		}()
	}
	return c.Result()
}

// join adds a call, and reports whether its caller is to lead at once.
func (q *Queue) join(c *Call) (lead bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed != nil:
		return false, q.closed
	case q.failure != nil:
		return false, q.failure
	case !q.led:
		q.led = true
		c.state = taken
		return true, nil
	}
	c.wake = make(chan bool, 1)
	if q.head == nil {
		q.head = c
	} else {
		q.tail.next = c
	}
	q.tail = c
	return false, nil
}

// wait waits until c is answered or is to lead.
func (q *Queue) wait(c *Call) (lead bool) {
	select {
	case lead = <-c.wake:
		return lead
	case <-c.Ctx.Done():
	}
	q.mu.Lock()
	if c.state == waiting {
		c.state = left
		c.Err = c.Ctx.Err()
		q.mu.Unlock()
		return false
	}
	q.mu.Unlock()
	return <-c.wake
}

// Take takes the first call out of the queue; nil if there is none.
func (q *Queue) Take() *Call {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.take()
}

func (q *Queue) take() *Call {
	for c := q.head; c != nil; c = q.head {
		q.head = c.next
		c.next = nil
		if c.state == waiting {
			c.state = taken
			return c
		}
	}
	return nil
}

// Waiting is how many calls are in the queue, those included whose callers have
// left.
func (q *Queue) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := 0
	for c := q.head; c != nil; c = c.next {
		n++
	}
	return n
}

// pass ends the leadership of the caller: the first one waiting leads next.
func (q *Queue) pass() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if c := q.take(); c != nil {
		c.wake <- true
		return
	}
	q.led = false
	if q.closed != nil {
		close(q.idle)
	}
}

// Fail makes the queue take no more calls, for a reason.
func (q *Queue) Fail(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.failure == nil {
		q.failure = err
	}
}

// Failed returns the error given to Fail, the first.
func (q *Queue) Failed() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.failure
}

// Closed says whether Close was called.
func (q *Queue) Closed() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed != nil
}

// Close makes the queue take no more calls and waits for those in it. Later
// calls are answered with reason.
func (q *Queue) Close(reason error) {
	q.mu.Lock()
	if q.closed == nil {
		q.closed = reason
		q.idle = make(chan struct{})
		if !q.led {
			close(q.idle)
		}
	}
	q.mu.Unlock()
	<-q.idle
}
