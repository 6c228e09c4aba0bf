package history

import (
	"context"
	"errors"
	"maps"
	"sync"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/sim/world"
)

// An apiError is one of the errors that the root package documents.
type apiError struct {
	name string
	is   func(error) bool
}

func sentinel(name string, want error) apiError {
	return apiError{name, func(err error) bool { return errors.Is(err, want) }}
}

func typed[E error](name string) apiError {
	return apiError{name, func(err error) bool { _, ok := errors.AsType[E](err); return ok }}
}

var apiErrors = []apiError{
	sentinel("ErrNotFound", traintravel.ErrNotFound),
	sentinel("ErrNoTimetable", traintravel.ErrNoTimetable),
	sentinel("ErrHasTimetable", traintravel.ErrHasTimetable),
	sentinel("ErrSoldOut", traintravel.ErrSoldOut),
	sentinel("ErrBicyclesNotAllowed", traintravel.ErrBicyclesNotAllowed),
	sentinel("ErrNoBicycleSpace", traintravel.ErrNoBicycleSpace),
	sentinel("ErrDogsNotAllowed", traintravel.ErrDogsNotAllowed),
	sentinel("ErrDeparted", traintravel.ErrDeparted),
	sentinel("ErrHoldExpired", traintravel.ErrHoldExpired),
	sentinel("ErrTooManyDeclines", traintravel.ErrTooManyDeclines),
	sentinel("ErrAlreadyPaid", traintravel.ErrAlreadyPaid),
	sentinel("ErrPaymentInProgress", traintravel.ErrPaymentInProgress),
	sentinel("ErrNoGateway", traintravel.ErrNoGateway),
	sentinel("ErrCancelled", traintravel.ErrCancelled),
	sentinel("ErrNotPaid", traintravel.ErrNotPaid),
	sentinel("ErrPaymentSettled", traintravel.ErrPaymentSettled),
	sentinel("ErrPlaceTaken", traintravel.ErrPlaceTaken),
	sentinel("ErrArrived", traintravel.ErrArrived),
	sentinel("ErrPaidTooLate", traintravel.ErrPaidTooLate),
	sentinel("ErrChanged", traintravel.ErrChanged),
	sentinel("ErrKeyReused", traintravel.ErrKeyReused),
	sentinel("ErrMoved", traintravel.ErrMoved),
	sentinel("ErrCopying", traintravel.ErrCopying),
	sentinel("ErrHoldsData", traintravel.ErrHoldsData),
	sentinel("ErrNewerData", traintravel.ErrNewerData),
	sentinel("ErrUnavailable", traintravel.ErrUnavailable),
	sentinel("ErrUnknownOutcome", traintravel.ErrUnknownOutcome),
	sentinel("ErrNoWebhooks", traintravel.ErrNoWebhooks),
	sentinel("ErrTooManySubscriptions", traintravel.ErrTooManySubscriptions),
	sentinel("ErrDelivered", traintravel.ErrDelivered),
	sentinel("ErrDisabled", traintravel.ErrDisabled),
	sentinel("ErrUnverified", traintravel.ErrUnverified),
	typed[*traintravel.InvalidError]("InvalidError"),
	typed[*traintravel.AmountError]("AmountError"),
	typed[*traintravel.HoldsError]("HoldsError"),
	typed[*traintravel.DeclinesError]("DeclinesError"),
	typed[*traintravel.EditionError]("EditionError"),
	typed[*traintravel.HostLimitError]("HostLimitError"),
}

// Errors are the names of the errors that the root package documents.
func Errors() (names []string) {
	for _, e := range apiErrors {
		names = append(names, e.name)
	}
	return names
}

// answers counts the errors that the services answered.
type answers struct {
	mu sync.Mutex
	of map[string]int
}

func (a *answers) count(err error) {
	if err == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.of == nil {
		a.of = map[string]int{}
	}
	for _, e := range apiErrors {
		if e.is(err) {
			a.of[e.name]++
		}
	}
}

func (a *answers) counts() map[string]int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.of)
}

// within is what the service of a process observes of its operations.
func (h *history) within(seat *world.Seat) func(ctx context.Context, operation string) (context.Context, func(error)) {
	return func(ctx context.Context, operation string) (context.Context, func(error)) {
		ctx, end := seat.Within(ctx, operation)
		return ctx, func(err error) {
			h.answers.count(err)
			end(err)
		}
	}
}
