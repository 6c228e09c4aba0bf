package officetest

import (
	"context"
	"errors"
	"sync"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
)

var ErrDead = errors.New("the process is dead")

// A Process is what a service has around it, and dies at one of its steps:
// before or after a commit, a word with the bank, or an event. From then on
// nothing that the service does has any effect.
type Process struct {
	traintravel.Store
	Gateway traintravel.PaymentGateway
	Post    *Post
	Mail    *Mailroom
	Panics  bool // dies with a panic, once

	mu    sync.Mutex
	DieAt int // the number of the step, from 1; 0 is never
	Steps int
}

func (p *Process) Dead() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dies()
}

func (p *Process) dies() bool { return p.DieAt > 0 && p.Steps >= p.DieAt }

// Step returns an error if the process is dead, or dies now.
func (p *Process) Step() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dies() {
		return ErrDead
	}
	if p.Steps++; p.dies() {
		if p.Panics {
			panic(ErrDead)
		}
		return ErrDead
	}
	return nil
}

func (p *Process) Update(ctx context.Context, fn func(traintravel.Tx) error) error {
	if err := p.Step(); err != nil {
		return err
	}
	if err := p.Store.Update(ctx, fn); err != nil {
		return err
	}
	return p.Step()
}

func (p *Process) View(ctx context.Context, fn func(traintravel.Reader) error) error {
	if p.Dead() {
		return ErrDead
	}
	return p.Store.View(ctx, fn)
}

func (p *Process) Get(ctx context.Context, keys ...traintravel.Key) ([][]byte, error) {
	if p.Dead() {
		return nil, ErrDead
	}
	return p.Store.Get(ctx, keys...)
}

func (p *Process) List(ctx context.Context, r traintravel.Range) ([]traintravel.Record, error) {
	if p.Dead() {
		return nil, ErrDead
	}
	return p.Store.List(ctx, r)
}

func (p *Process) Ask(act func() (traintravel.Outcome, error)) (traintravel.Outcome, error) {
	if err := p.Step(); err != nil {
		return traintravel.Outcome{}, err
	}
	out, err := act()
	if dead := p.Step(); dead != nil {
		return traintravel.Outcome{}, dead
	}
	return out, err
}

func (p *Process) Charge(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
	return p.Ask(func() (traintravel.Outcome, error) { return p.Gateway.Charge(ctx, c) })
}

func (p *Process) Lookup(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
	return p.Ask(func() (traintravel.Outcome, error) { return p.Gateway.Lookup(ctx, id) })
}

func (p *Process) Refund(ctx context.Context, r traintravel.Refund) (traintravel.Outcome, error) {
	return p.Ask(func() (traintravel.Outcome, error) { return p.Gateway.Refund(ctx, r) })
}

func (p *Process) Notify(ctx context.Context, e traintravel.Event) error {
	if err := p.Step(); err != nil {
		return err
	}
	if err := p.Post.Notify(ctx, e); err != nil {
		return err
	}
	return p.Step()
}

func (p *Process) CheckURL(url string) error { return p.Mail.CheckURL(url) }

func (p *Process) Send(ctx context.Context, w traintravel.WebhookPost) (traintravel.WebhookAnswer, error) {
	if err := p.Step(); err != nil {
		return traintravel.WebhookAnswer{}, err
	}
	answer, err := p.Mail.Send(ctx, w)
	if dead := p.Step(); dead != nil {
		return traintravel.WebhookAnswer{}, dead
	}
	return answer, err
}
