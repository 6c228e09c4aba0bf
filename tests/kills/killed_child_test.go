package kills_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
)

// This file is the process that TestKilled kills, and what it has around it
// that outlives it: a file for a store, one for the books of its payment
// provider, and one for the events that it was told of.

// A note is a line of one of the files, or of what the process says.
type note struct {
	What    string    // an event's type, or what was done, asked or moved
	ID      uuid.UUID `json:",omitzero"` // of the event, payment, refund or trip
	Booking uuid.UUID `json:",omitzero"`
	Payment uuid.UUID `json:",omitzero"` // what a refund gives back or an event is about
	Name    string    `json:",omitempty"`
	Status  traintravel.PaymentStatus
	Amount  int64 `json:",omitempty"`
	Request request
}

// A paper is a file of notes, each of which is there whole or does not count,
// whenever the process dies that writes it.
type paper struct{ file *os.File }

func openPaper(path string) (*paper, error) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &paper{f}, nil
}

// write appends a note in one write. The line break that it begins with ends
// what a former process has left unfinished.
func (p *paper) write(n note) error {
	b, err := json.Marshal(n)
	if err != nil {
		return err
	}
	_, err = p.file.Write(append(append([]byte{'\n'}, b...), '\n'))
	return err
}

func readPaper(path string) ([]note, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var notes []note
	for line := range bytes.Lines(b) {
		var n note
		if json.Unmarshal(line, &n) == nil {
			notes = append(notes, n)
		}
	}
	return notes, err
}

// A provider is a gateway whose books are on paper. Like a real one it knows
// after the death of a client what it has done for it.
type provider struct {
	paper *paper
	rough bool // takes its time, and loses requests and answers

	mu    sync.Mutex
	known map[uuid.UUID]note // what it has moved or fenced, as it stands
}

func openProvider(path string, rough bool) (*provider, error) {
	notes, err := readPaper(path)
	if err != nil {
		return nil, err
	}
	g := &provider{rough: rough, known: map[uuid.UUID]note{}}
	for _, n := range notes {
		if n.What != "asked" {
			g.known[n.ID] = n
		}
	}
	g.paper, err = openPaper(path)
	return g, err
}

var errLost = errors.New("the line is dead")

// travel is the way of a request or an answer, on which some get lost.
func (g *provider) travel(ctx context.Context, lost bool) error {
	if !g.rough {
		return nil
	}
	sleep(ctx, rand.N(20*time.Millisecond))
	if ctx.Err() == nil && lost {
		return errLost
	}
	return ctx.Err()
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// move enters a movement in the books, unless its ID is in there.
func (g *provider) move(n note) (traintravel.Outcome, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if was, ok := g.known[n.ID]; ok {
		if was.What != "fence" && (was.Amount != n.Amount || was.Booking != n.Booking || was.Payment != n.Payment) {
			return traintravel.Outcome{}, fmt.Errorf("%v came before, and was another", n.ID)
		}
		n = was
	} else if err := g.enter(n); err != nil {
		return traintravel.Outcome{}, err
	}
	return outcome(n), nil
}

func (g *provider) enter(n note) error {
	g.known[n.ID] = n
	return g.paper.write(n)
}

func outcome(n note) traintravel.Outcome {
	out := traintravel.Outcome{Status: n.Status}
	if n.Status == traintravel.Failed {
		out.Failure = traintravel.Failure{Code: traintravel.CardDeclined, Message: "No."}
	}
	return out
}

// take makes a charge that has arrived. What becomes of it follows from its ID.
func (g *provider) take(asked note) (traintravel.Outcome, error) {
	asked.What, asked.Status = "charge", traintravel.Succeeded
	switch asked.ID[15] % 16 {
	case 0, 1:
		asked.Status = traintravel.Failed
	case 2, 3:
		asked.Status = traintravel.Pending
	}
	return g.move(asked)
}

func (g *provider) Charge(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
	asked := note{What: "asked", ID: c.ID, Booking: c.Booking, Amount: c.Amount.Amount}
	if err := g.paper.write(asked); err != nil {
		return traintravel.Outcome{}, err
	}
	if err := g.travel(ctx, c.ID[15]%16 == 4); err != nil {
		return traintravel.Outcome{}, err
	}
	out, err := g.take(asked)
	if err != nil {
		return out, err
	}
	return out, g.travel(ctx, c.ID[15]%16 == 5)
}

// Lookup settles a charge that is pending.
func (g *provider) Lookup(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
	if err := g.travel(ctx, false); err != nil {
		return traintravel.Outcome{}, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	n, ok := g.known[id]
	if !ok {
		return traintravel.Outcome{}, fmt.Errorf("%v: %w", id, traintravel.ErrNotFound)
	}
	if n.Status == traintravel.Pending {
		n.Status = traintravel.Succeeded
		if id[14]%4 == 0 {
			n.Status = traintravel.Failed
		}
		if err := g.enter(n); err != nil {
			return traintravel.Outcome{}, err
		}
	}
	return outcome(n), nil
}

func (g *provider) Refund(ctx context.Context, r traintravel.Refund) (traintravel.Outcome, error) {
	if err := g.travel(ctx, rand.N(16) == 0); err != nil {
		return traintravel.Outcome{}, err
	}
	out, err := g.move(note{What: "refund", ID: r.ID, Payment: r.Charge, Amount: r.Amount.Amount, Status: traintravel.Succeeded})
	if err != nil {
		return out, err
	}
	return out, g.travel(ctx, rand.N(16) == 0)
}

func (g *provider) Cancel(_ context.Context, id uuid.UUID) (traintravel.Outcome, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n, ok := g.known[id]
	if !ok || n.Status == traintravel.Pending {
		if n.What, n.ID, n.Status = "charge", id, traintravel.Failed; !ok {
			n.What = "fence"
		}
		if err := g.enter(n); err != nil {
			return traintravel.Outcome{}, err
		}
	}
	return outcome(n), nil
}

// mail is a notifier that writes down what it is told.
func mail(p *paper, rough bool) traintravel.NotifierFunc {
	return func(_ context.Context, e traintravel.Event) error {
		if rough && rand.N(16) == 0 {
			return errLost
		}
		n := note{What: string(e.Type), ID: e.ID, Booking: e.Booking.ID}
		if e.Payment != nil {
			n.Payment = e.Payment.ID
		}
		return p.write(n)
	}
}

// hesitant is a store far away: there is time to die between a commit and the
// answer to it, and between two updates.
type hesitant struct{ traintravel.Store }

func (h hesitant) Update(ctx context.Context, fn func(traintravel.Tx) error) error {
	sleep(ctx, rand.N(5*time.Millisecond))
	err := h.Store.Update(ctx, fn)
	sleep(ctx, rand.N(5*time.Millisecond))
	return err
}
