package httpserver

import (
	"context"
	"errors"
	"reflect"
	"sync"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/fair"
)

// How many bytes of tickets are kept for one user and in all.
const (
	maxTickets    = 1 << 20
	maxAllTickets = 32 << 20
)

// A ticketFile names a ticket in one form, of all legs or one.
type ticketFile struct {
	booking uuid.UUID
	form    string // a media type
	leg     int    // counted from 1; 0 is none in particular
	base    string // begins its links
}

// A ticketCache keeps tickets as they were made, and has requests that want the same one
// at the same time wait for the first of them. It asks nobody whose a ticket is, nor
// whether it is still good: whoever uses it has just got the ticket from the service, for
// the caller, and gets what was made of a ticket that is equal to it in all it says.
type ticketCache struct {
	kept *fair.Cache[ticketFile, *madeTicket]

	mu     sync.Mutex
	making map[ticketFile]*madeTicket
}

// A madeTicket is a ticket that was made, or is being made until done is closed.
type madeTicket struct {
	of   traintravel.Ticket
	done chan struct{}
	body []byte
	err  error
}

func newTicketCache() *ticketCache {
	return &ticketCache{
		kept: fair.NewCache[ticketFile, *madeTicket](maxTickets, maxAllTickets), making: map[ticketFile]*madeTicket{},
	}
}

// ticketOverhead is what is kept of a ticket beside its file, in bytes.
const ticketOverhead = 4 << 10

// get returns the file of a ticket, which write makes if there is none of it. Errors are
// those of write, or of the context. The file is not to be changed.
func (c *ticketCache) get(ctx context.Context, who fair.Caller, name ticketFile, t traintravel.Ticket, write func() ([]byte, error)) ([]byte, error) {
	if m, ok := c.kept.Get(name); ok && reflect.DeepEqual(m.of, t) {
		return m.body, nil
	}
	m, mine := c.begin(name, t)
	if mine {
		c.make(who, name, m, write)
		return m.body, m.err
	}
	select {
	case <-m.done:
		return m.body, m.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// begin returns the ticket that is being made, and whether it is the caller who has to.
func (c *ticketCache) begin(name ticketFile, t traintravel.Ticket) (m *madeTicket, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.making[name]; m != nil && reflect.DeepEqual(m.of, t) {
		return m, false
	}
	m = &madeTicket{of: t, done: make(chan struct{}), err: errTicketNotMade}
	c.making[name] = m // one that is older is of a ticket as it was
	return m, true
}

// errTicketNotMade is what the others get if whoever makes a ticket panics.
var errTicketNotMade = errors.New("the ticket could not be made")

func (c *ticketCache) make(who fair.Caller, name ticketFile, m *madeTicket, write func() ([]byte, error)) {
	defer func() {
		if m.err == nil {
			c.kept.Put(who, name, m, int64(len(m.body))+ticketOverhead)
		}
		c.mu.Lock()
		if c.making[name] == m {
			delete(c.making, name)
		}
		c.mu.Unlock()
		close(m.done)
	}()
	m.body, m.err = write()
}
