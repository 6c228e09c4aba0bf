package httpserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"syscall"

	"github.com/traintravel/traintravel"
)

// fail answers with the problem that an error is: the one place that does.
func (x *exchange) fail(err error) {
	p := x.problemOf(err)
	if x.wrong, x.gone = p.slug, x.givenUp(p); x.gone {
		x.wrong = ""
	}
	x.logProblem(p)
	if x.status != 0 { // too late: cut the answer off, so that nobody takes it for whole
		panic(http.ErrAbortHandler)
	}
	if p.retry > 0 {
		x.set("Retry-After", strconv.FormatInt(p.retry, 10))
	}
	if p.status == http.StatusUnauthorized || p.status == http.StatusForbidden {
		x.set("Www-Authenticate", x.challenge(p.auth))
	}
	f := acceptedProblem(x.r.Header["Accept"])
	x.encode(problemDoc{p, x.request()}, f)
	x.write(p.status, x.s.fixed.problems[f], x.s.fixed.noStore)
}

// fault finds the member of the body, or the parameter, that the service says
// is wrong.
func (x *exchange) fault(e *traintravel.InvalidError) fault {
	if x.route.body != noBody {
		return fault{pointer: pointer(e.Field), body: true, detail: e.Reason}
	}
	return fault{parameter: e.Field, detail: e.Reason}
}

// logProblem tells the operator of failures and of tokens that were refused, and
// whoever debugs of the rest.
// The faults of a request are nobody's but the client's: they may quote it.
func (x *exchange) logProblem(p *problem) {
	level := slog.LevelDebug
	switch {
	case p == problemOverloaded && !x.s.house.tell(), x.gone: // a line for each would add to it
	case p.status == http.StatusServiceUnavailable:
		level = slog.LevelWarn
	case p.status >= http.StatusInternalServerError:
		level = slog.LevelError
	case errors.Is(p.cause, ErrInvalidToken):
		level = slog.LevelInfo // why, which the client is not told; their number is bounded by quotas
	}
	if !x.s.log.Enabled(x.ctx(), level) {
		return
	}
	attrs := []slog.Attr{slog.String("request", x.request().String()), slog.String("method", knownMethod(x.r.Method)), slog.String("route", x.at), slog.String("problem", p.slug)}
	if p.cause != nil {
		attrs = append(attrs, slog.Any("error", p.cause))
	}
	x.s.log.LogAttrs(x.ctx(), level, "request refused", attrs...)
}

// problemOf says which problem an error is. What is not known is an internal
// error, of which the client learns nothing.
func (x *exchange) problemOf(err error) *problem {
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	if e, ok := errors.AsType[*traintravel.InvalidError](err); ok {
		return faults{x.fault(e)}.invalid()
	}
	if e, ok := errors.AsType[*traintravel.AmountError](err); ok {
		detail := "The amount due is " + e.Due.Decimal() + " " + e.Due.Currency + "."
		pointer := "/amount"
		if e.Offered.Currency != e.Due.Currency {
			pointer = "/currency"
		}
		return &problem{status: http.StatusBadRequest, slug: "amount-mismatch", title: "The amount differs from the amount due", detail: detail,
			faults: faults{{pointer: pointer, body: true, detail: detail}}}
	}
	if e, ok := errors.AsType[*traintravel.HostLimitError](err); ok {
		return &problem{status: http.StatusConflict, slug: "too-many-webhooks-to-host", title: "Too many webhooks to one host",
			detail: fmt.Sprintf("You have %d webhooks to %s, the maximum for one host.", e.Most, e.Host)}
	}
	if e, ok := errors.AsType[*traintravel.DeclinesError](err); ok {
		return declinesProblem(e)
	}
	if e, ok := errors.AsType[*traintravel.HoldsError](err); ok {
		return holdsProblem(e)
	}
	for i := range refusals {
		if errors.Is(err, refusals[i].err) {
			return refusals[i].because(err)
		}
	}
	for _, cannotWrite := range [...]error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EROFS, syscall.EIO} {
		if errors.Is(err, cannotWrite) {
			return problemUnavailable.because(err) // nothing was done; the operator must repair the disk
		}
	}
	if x.ctx().Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return problemUnavailable.because(err)
	}
	return problemInternal.because(err)
}

// givenUp says whether a request was not worked on to its end only because its client has
// left. Nobody gets the answer, and it is not a failure of the server's.
func (x *exchange) givenUp(p *problem) bool {
	return p.status == http.StatusServiceUnavailable && errors.Is(p.cause, context.Canceled) && errors.Is(x.ctx().Err(), context.Canceled)
}
