package httpserver

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// A problem is an answer that is not success, as RFC 9457 has it. Its type is
// {base}/problems/{slug}.
type problem struct {
	status int
	slug   string
	title  string
	detail string
	faults faults
	retry  int64  // Retry-After, in seconds; zero is none
	auth   string // what RFC 6750 calls the fault of the token, or ""
	cause  error  // for the log
}

func (p *problem) Error() string { return p.slug }

func (p *problem) Unwrap() error { return p.cause }

// because returns the problem with what the log is told of it.
func (p problem) because(err error) *problem {
	p.cause = err
	return &p
}

// The problems that are no errors of the service.
var (
	problemNoPath = &problem{status: http.StatusNotFound, slug: "not-found", title: "There is nothing here",
		detail: "No resource of this service has this address."}
	problemMethod = &problem{status: http.StatusMethodNotAllowed, slug: "method-not-allowed", title: "The method is not allowed here",
		detail: "The header Allow lists the methods of this resource."}
	problemNotAcceptable = &problem{status: http.StatusNotAcceptable, slug: "not-acceptable", title: "No acceptable representation",
		detail: "The header Accept excludes application/json and application/xml, which is what there is."}
	problemMediaType = &problem{status: http.StatusUnsupportedMediaType, slug: "unsupported-media-type", title: "The media type is not supported",
		detail: "Send the body as application/json, in UTF-8 and without a content coding, and say so in Content-Type."}
	problemMediaTypes = &problem{status: http.StatusUnsupportedMediaType, slug: "unsupported-media-type", title: "The media type is not supported",
		detail: "Send the body as application/json or application/xml, in UTF-8 and without a content coding, and say so in Content-Type."}
	problemMediaPatch = &problem{status: http.StatusUnsupportedMediaType, slug: "unsupported-media-type", title: "The media type is not supported",
		detail: "Send the body as application/merge-patch+json or application/json, in UTF-8 and without a content coding, and say so in Content-Type."}
	problemMediaBytes = &problem{status: http.StatusUnsupportedMediaType, slug: "unsupported-media-type", title: "The media type is not supported",
		detail: "Send the body as application/octet-stream, without a content coding, and say so in Content-Type."}
	problemTooLarge = &problem{status: http.StatusRequestEntityTooLarge, slug: "content-too-large", title: "The body is too large",
		detail: "A body has at most 65536 bytes."}
	problemInternal = &problem{status: http.StatusInternalServerError, slug: "internal-error", title: "Something went wrong here",
		detail: "It is not the request's fault. The operator can find what happened by this problem's instance."}
	problemUnavailable = &problem{status: http.StatusServiceUnavailable, slug: "unavailable", title: "The service is not available at the moment",
		detail: "Try again a little later.", retry: 5}
	problemNoTimetable = &problem{status: http.StatusServiceUnavailable, slug: "unavailable", title: problemUnavailable.title,
		detail: "No timetable is loaded yet, so there are no stations and no trips. The operator can load one: traintravel import FEED.", retry: 5}
	problemInvalid = &problem{status: http.StatusBadRequest, slug: "invalid-request", title: "The request is not valid"}
)

// refusals says which problem an error of the service is.
var refusals = []struct {
	err error
	problem
}{
	{traintravel.ErrUnknownOutcome, *problemInternal}, // whatever else it wraps: "try again" would be wrong
	{traintravel.ErrNotFound, problem{status: http.StatusNotFound, slug: "not-found", title: "There is nothing here",
		detail: "It does not exist, or not any more, or it is not yours."}},
	{traintravel.ErrSoldOut, problem{status: http.StatusConflict, slug: "sold-out", title: "The trip is sold out",
		detail: "No place is left on this trip."}},
	{traintravel.ErrBicyclesNotAllowed, problem{status: http.StatusConflict, slug: "bicycles-not-allowed", title: "Bicycles are not allowed",
		detail: "This trip is not known to take bicycles."}},
	{traintravel.ErrNoBicycleSpace, problem{status: http.StatusConflict, slug: "no-bicycle-space", title: "No space for a bicycle is left",
		detail: "All bicycle spaces of this trip are taken."}},
	{traintravel.ErrDogsNotAllowed, problem{status: http.StatusConflict, slug: "dogs-not-allowed", title: "Dogs are not allowed",
		detail: "This trip is not known to take dogs."}},
	{traintravel.ErrDeparted, problem{status: http.StatusConflict, slug: "departed", title: "The trip has departed",
		detail: "A trip can be booked, and a paid booking cancelled, until departure."}},
	{traintravel.ErrHoldExpired, problem{status: http.StatusConflict, slug: "hold-expired", title: "The hold has expired",
		detail: "The booking was not paid in time and its places are free again. Nothing was charged."}},
	{traintravel.ErrTooManyDeclines, problem{status: http.StatusConflict, slug: "too-many-declines", title: "Too many payments of the booking were declined",
		detail: "The hold on the booking has ended, because as many attempts to pay for it were declined as may be. Nothing was charged."}},
	{traintravel.ErrPaidTooLate, problem{status: http.StatusConflict, slug: "paid-too-late", title: "The payment came too late",
		detail: "The charge went through only when the booking could not have its places any more. The money is given back."}},
	{traintravel.ErrAlreadyPaid, problem{status: http.StatusConflict, slug: "already-paid", title: "The booking is paid",
		detail: "The booking is confirmed. Nothing was charged again."}},
	{traintravel.ErrCancelled, problem{status: http.StatusConflict, slug: "cancelled-by-operator", title: "The operator has cancelled the booking",
		detail: "The operator has cancelled the train, and the booking with it. What was paid for it is given back in full."}},
	{traintravel.ErrNotPaid, problem{status: http.StatusConflict, slug: "not-paid", title: "The booking is not paid",
		detail: "The booking is held, and has no ticket before it is paid."}},
	{traintravel.ErrPaymentInProgress, problem{status: http.StatusConflict, slug: "payment-in-progress", title: "A payment is in progress",
		detail: "The outcome of a payment of this booking is not known yet.", retry: lookAgain}},
	{traintravel.ErrNoGateway, problem{status: http.StatusConflict, slug: "payments-not-accepted", title: "Payments are not accepted",
		detail: "This service is not set up to take payments."}},
	{traintravel.ErrKeyReused, problem{status: http.StatusUnprocessableEntity, slug: "key-reused", title: "The key was used for another request",
		detail: "An idempotency key belongs to one request. Use a new one."}},
	{traintravel.ErrTooManySubscriptions, problem{status: http.StatusConflict, slug: "too-many-webhooks", title: "There are too many webhooks",
		detail: "You have as many webhooks as there may be."}},
	{traintravel.ErrUnverified, problem{status: http.StatusConflict, slug: "webhook-unverified", title: "The webhook is not verified",
		detail: "Its receiver has not answered a ping with a status of 2xx yet. Until then nothing but pings is posted to it."}},
	{traintravel.ErrDelivered, problem{status: http.StatusConflict, slug: "delivered", title: "The event was delivered",
		detail: "The receiver has acknowledged the event with 200. It is not sent again."}},
	{traintravel.ErrDisabled, problem{status: http.StatusConflict, slug: "webhook-disabled", title: "The webhook is disabled",
		detail: "Nothing but pings is posted to a webhook that is disabled."}},
	{traintravel.ErrNoTimetable, *problemNoTimetable},
	{traintravel.ErrMoved, *problemUnavailable}, // until its operator starts it on the other store
	{traintravel.ErrCopying, *problemUnavailable},
	{traintravel.ErrUnavailable, *problemUnavailable},
	{traintravel.ErrNewerData, *problemUnavailable}, // a newer server beside this one can answer
	{ErrUnavailable, *problemUnavailable},
}

// declinesProblem refuses a payment because too many were declined within an hour.
func declinesProblem(e *traintravel.DeclinesError) *problem {
	whose := "of yours"
	if e.Card {
		whose = "with this card or account"
	}
	return &problem{status: http.StatusTooManyRequests, slug: "declines-limited", title: "Too many payments were declined",
		detail: "Within an hour, as many payments " + whose + " were declined, or are still under way, as may be. Nothing was charged.",
		retry:  seconds(int64(e.RetryAfter))}
}

// holdsProblem refuses a booking because the user holds too many. It is a conflict with the
// user's other bookings, and not 429: programs would wait for the time that they are told,
// which can be a day, where paying or cancelling makes room at once.
func holdsProblem(e *traintravel.HoldsError) *problem {
	where := "in all"
	if e.Train {
		where = "for one train"
	}
	return &problem{status: http.StatusConflict, slug: "too-many-holds", title: "Too many bookings are not paid",
		detail: fmt.Sprintf("You hold %d bookings %s that are not paid, and may hold %d. If you do nothing, one more can be made at %s.",
			len(e.Bookings), where, e.Limit, e.Until.UTC().Format(time.RFC3339)),
		retry: seconds(int64(e.RetryAfter))}
}

// panicked is a panic of a handler.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v\n%s", p.value, p.stack) }

// A fault is what is wrong with one parameter, or one member of the body.
type fault struct {
	parameter string
	pointer   string // RFC 6901; the empty one is all of the body
	body      bool   // pointer counts, and not parameter
	detail    string
}

// faults are all that were found, in the order in which they were.
type faults []fault

// maxFaults bounds how many faults one answer tells.
const maxFaults = 20

func (f *faults) add(more fault) {
	if !f.full() {
		*f = append(*f, more)
	}
}

// full says whether no more faults are told.
func (f *faults) full() bool { return len(*f) >= maxFaults }

// problem returns what is wrong with the request, nil if nothing is.
func (f faults) problem() error {
	if len(f) == 0 {
		return nil
	}
	return f.invalid()
}

func (f faults) invalid() *problem {
	p := *problemInvalid
	p.faults = f
	for i, one := range f {
		if i > 0 {
			p.detail += "; "
		}
		name := one.parameter
		if one.body {
			name = strings.ReplaceAll(strings.TrimPrefix(one.pointer, "/"), "/", ".")
		}
		if name == "" {
			name = "The body"
		}
		p.detail += name + ": " + one.detail
	}
	p.detail += "."
	return &p
}

// A problemDoc is a problem as the client sees it. In XML it is as RFC 7807 has
// it, which RFC 9457 left out: items of an array are elements named i.
type problemDoc struct {
	*problem
	id uuid.UUID
}

const problemNamespace = "urn:ietf:rfc:7807"

func (d problemDoc) encode(e *encoder) {
	if e.form == asXML {
		e.b = append(e.b, `<problem xmlns="`+problemNamespace+`">`...)
	} else {
		e.item("problem")
	}
	e.text("type", e.base+"/problems/"+d.slug)
	e.text("title", d.title)
	e.whole("status", d.status)
	e.text("detail", d.detail)
	e.text("instance", d.id.URN())
	if len(d.faults) > 0 {
		e.list("errors", "errors")
		for _, f := range d.faults {
			e.item("i")
			if f.body {
				e.text("pointer", f.pointer)
			} else {
				e.text("parameter", f.parameter)
			}
			e.text("detail", f.detail)
			e.close("i")
		}
		e.endList("errors")
	}
	e.close("problem")
}

// lookAgain is in how many seconds to look again at a payment whose outcome is not known yet.
const lookAgain = 5

func seconds(ns int64) int64 { return (ns + int64(time.Second) - 1) / int64(time.Second) }
