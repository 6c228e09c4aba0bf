package paymenttest

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/traintravel/traintravel"
)

// A check is one clause of the contract. It returns what is wrong with a
// gateway. That it reports by error instead of failing a test is what lets this
// package's own tests run it on broken gateways.
type check struct {
	name  string
	run   func(ctx context.Context, g Gateway) error
	needs []need
}

// A need is something of a Gateway that may be left out.
type need int

const (
	declines need = iota
	settlesLater
	failsLater
	moved
	answersLost
	canceller
	chargedBack
	notRefundable
)

// lacks says what a gateway does not have that the check needs.
func (c check) lacks(g Gateway) string {
	for _, n := range c.needs {
		switch {
		case n == declines && none(g.Declines):
			return "Declines is not set: no source that is declined"
		case n == settlesLater && none(g.SettlesLater):
			return "SettlesLater is not set: no source that settles later"
		case n == failsLater && none(g.FailsLater):
			return "FailsLater is not set: no source that fails later"
		case n == chargedBack && none(g.ChargedBack):
			return "ChargedBack is not set: no source whose charge is refunded in another way"
		case n == notRefundable && none(g.NotRefundable):
			return "NotRefundable is not set: no source whose refunds are impossible"
		case n == moved && g.Moved == nil:
			return "Moved is not set: what was really moved is not known"
		case n == answersLost && g.AnswersLost == nil:
			return "AnswersLost is not set: no connection that loses answers"
		case n == canceller && g.canceller() == nil:
			return "the gateway is not a Canceller, or its Cancel returns errors.ErrUnsupported"
		}
	}
	return ""
}

func none(s traintravel.Source) bool { return s == traintravel.Source{} }

// many is how many ask at once.
const many = 50

// together runs fn n times at once and returns what went wrong first.
func together(n int, fn func(i int) error) error {
	var (
		start = make(chan struct{})
		errs  = make([]error, n)
		wg    sync.WaitGroup
	)
	for i := range n {
		wg.Go(func() {
			<-start
			errs[i] = fn(i)
		})
	}
	close(start)
	wg.Wait()
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return errs[i]
	}
	return nil
}

// first runs steps until one fails, and says which it was.
func first(steps ...step) error {
	for _, s := range steps {
		if err := s.do(); err != nil {
			return fmt.Errorf("%s: %w", s.what, err)
		}
	}
	return nil
}

type step struct {
	what string
	do   func() error
}
