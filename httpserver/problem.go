package httpserver

import (
	"fmt"
	"net/http"
	"slices"
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

// because returns the problem with the error that the log gets.
func (p problem) because(err error) *problem {
	p.cause = err
	return &p
}

// The problems of requests that do not reach the service.
var (
	problemNoPath = &problem{status: http.StatusNotFound, slug: "not-found", title: "Not found",
		detail: "This service has no resource at this address. Check the path."}
	problemMethod = &problem{status: http.StatusMethodNotAllowed, slug: "method-not-allowed", title: "The method is not allowed",
		detail: "The header Allow lists the methods that this resource supports."}
	problemNotAcceptable = &problem{status: http.StatusNotAcceptable, slug: "not-acceptable", title: "No acceptable representation",
		detail: "The header Accept allows neither application/json nor application/xml, the media types of this resource."}
	problemMediaType = &problem{status: http.StatusUnsupportedMediaType, slug: "unsupported-media-type", title: "The media type is not supported",
		detail: "Send the body as application/json, in UTF-8 and without a content coding, and say so in Content-Type."}
	problemMediaTypes = &problem{status: http.StatusUnsupportedMediaType, slug: "unsupported-media-type", title: "The media type is not supported",
		detail: "Send the body as application/json or application/xml, in UTF-8 and without a content coding, and say so in Content-Type."}
	problemMediaPatch = &problem{status: http.StatusUnsupportedMediaType, slug: "unsupported-media-type", title: "The media type is not supported",
		detail: "Send the body as application/merge-patch+json or application/json, in UTF-8 and without a content coding, and say so in Content-Type."}
	problemMediaBytes = &problem{status: http.StatusUnsupportedMediaType, slug: "unsupported-media-type", title: "The media type is not supported",
		detail: "Send the body as application/octet-stream, without a content coding, and say so in Content-Type."}
	problemTooLarge = &problem{status: http.StatusRequestEntityTooLarge, slug: "content-too-large", title: "The body is too large",
		detail: "The request body has more than 65536 bytes, the maximum."}
	problemInternal = &problem{status: http.StatusInternalServerError, slug: "internal-error", title: "Internal server error",
		detail: "The server failed; the request is not at fault. Give the operator this problem's instance, by which they can find the cause in the log."}
	problemUnavailable = &problem{status: http.StatusServiceUnavailable, slug: "unavailable", title: "The service is temporarily unavailable",
		detail: "Wait for the number of seconds in Retry-After, then send the request again.", retry: 5}
	problemNoTimetable = &problem{status: http.StatusServiceUnavailable, slug: "unavailable", title: problemUnavailable.title,
		detail: "No timetable is loaded yet, so the service has no stations and no trips. The operator can load one: traintravel import FEED.", retry: 5}
	problemInvalid = &problem{status: http.StatusBadRequest, slug: "invalid-request", title: "The request is invalid"}
)

// refusals maps errors of the service to problems.
var refusals = []struct {
	err error
	problem
}{
	{traintravel.ErrUnknownOutcome, *problemInternal}, // whatever else it wraps: "try again" would be wrong
	{traintravel.ErrNotFound, problem{status: http.StatusNotFound, slug: "not-found", title: "Not found",
		detail: "The resource does not exist, no longer exists, or belongs to another user."}},
	{traintravel.ErrSoldOut, problem{status: http.StatusConflict, slug: "sold-out", title: "The trip is sold out",
		detail: "All places on this trip are taken."}},
	{traintravel.ErrBicyclesNotAllowed, problem{status: http.StatusConflict, slug: "bicycles-not-allowed", title: "Bicycles are not allowed",
		detail: "The timetable does not say that this trip allows bicycles."}},
	{traintravel.ErrNoBicycleSpace, problem{status: http.StatusConflict, slug: "no-bicycle-space", title: "No space for a bicycle is left",
		detail: "All bicycle spaces of this trip are taken."}},
	{traintravel.ErrDogsNotAllowed, problem{status: http.StatusConflict, slug: "dogs-not-allowed", title: "Dogs are not allowed",
		detail: "The timetable does not say that this trip allows dogs."}},
	{traintravel.ErrDeparted, problem{status: http.StatusConflict, slug: "departed", title: "The trip has departed",
		detail: "Trips can be booked, and paid bookings cancelled, only until departure."}},
	{traintravel.ErrHoldExpired, problem{status: http.StatusConflict, slug: "hold-expired", title: "The hold has expired",
		detail: "The booking was not paid in time, and its places are free again. Nothing was charged."}},
	{traintravel.ErrTooManyDeclines, problem{status: http.StatusConflict, slug: "too-many-declines", title: "Too many payments of the booking were declined",
		detail: "The hold on the booking has ended because the maximum number of attempts to pay for it were declined. Nothing was charged."}},
	{traintravel.ErrPaidTooLate, problem{status: http.StatusConflict, slug: "paid-too-late", title: "The payment came too late",
		detail: "The charge succeeded only after the booking had lost its places. The money is refunded."}},
	{traintravel.ErrAlreadyPaid, problem{status: http.StatusConflict, slug: "already-paid", title: "The booking is paid",
		detail: "The booking is confirmed. Nothing was charged again."}},
	{traintravel.ErrCancelled, problem{status: http.StatusConflict, slug: "cancelled-by-operator", title: "The operator has cancelled the booking",
		detail: "The operator has cancelled the train, and the booking with it. What was paid for it is given back in full."}},
	{traintravel.ErrNotPaid, problem{status: http.StatusConflict, slug: "not-paid", title: "The booking is not paid",
		detail: "The booking is held but not paid. It has no ticket until it is paid."}},
	{traintravel.ErrPaymentInProgress, problem{status: http.StatusConflict, slug: "payment-in-progress", title: "A payment is in progress",
		detail: "The outcome of a payment of this booking is not known yet.", retry: lookAgain}},
	{traintravel.ErrNoGateway, problem{status: http.StatusConflict, slug: "payments-not-accepted", title: "Payments are not accepted",
		detail: "This service is not set up to take payments."}},
	{traintravel.ErrKeyReused, problem{status: http.StatusUnprocessableEntity, slug: "key-reused", title: "The idempotency key was used for another request",
		detail: "An idempotency key belongs to one request. Send this request with a new key."}},
	{traintravel.ErrTooManySubscriptions, problem{status: http.StatusConflict, slug: "too-many-webhooks", title: "Too many webhooks",
		detail: "You have the maximum number of webhooks."}},
	{traintravel.ErrUnverified, problem{status: http.StatusConflict, slug: "webhook-unverified", title: "The webhook is not verified",
		detail: "The webhook's receiver has not yet responded to a ping with a 2xx status. Until it does, the service posts nothing but pings to it."}},
	{traintravel.ErrDelivered, problem{status: http.StatusConflict, slug: "delivered", title: "The event was delivered",
		detail: "The receiver acknowledged the event with status 200. The service does not send it again."}},
	{traintravel.ErrDisabled, problem{status: http.StatusConflict, slug: "webhook-disabled", title: "The webhook is disabled",
		detail: "The service posts nothing but pings to a disabled webhook."}},
	{traintravel.ErrNoTimetable, *problemNoTimetable},
	{traintravel.ErrMoved, *problemUnavailable}, // until its operator starts it on the other store
	{traintravel.ErrCopying, *problemUnavailable},
	{traintravel.ErrUnavailable, *problemUnavailable},
	{traintravel.ErrNewerData, *problemUnavailable}, // a newer server beside this one can answer
	{ErrUnavailable, *problemUnavailable},
}

// declinesProblem refuses a payment because too many were declined within an hour.
func declinesProblem(e *traintravel.DeclinesError) *problem {
	whose := "by you"
	if e.Card {
		whose = "with this card or account"
	}
	return &problem{status: http.StatusTooManyRequests, slug: "declines-limited", title: "Too many payments were declined",
		detail: "Too many payments " + whose + " were declined within an hour; payments in progress count as well. Nothing was charged.",
		retry:  seconds(int64(e.RetryAfter))}
}

// holdsProblem refuses a booking because the user holds too many. It is a conflict with the
// user's other bookings, not 429: programs would wait for the time in Retry-After, which can
// be a day, although the user can pay or cancel and book again immediately.
func holdsProblem(e *traintravel.HoldsError) *problem {
	where := "in total"
	if e.Train {
		where = "for one train"
	}
	return &problem{status: http.StatusConflict, slug: "too-many-holds", title: "Too many unpaid bookings",
		detail: fmt.Sprintf("You hold %d unpaid bookings %s, and the maximum is %d. If you do nothing, you can book again at %s.",
			len(e.Bookings), where, e.Limit, e.Until.UTC().Format(time.RFC3339)),
		retry: seconds(int64(e.RetryAfter))}
}

// panicked is the error of a handler that panicked.
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

// isPredicate says whether a detail forms a sentence with the name before it, as "is required" does.
func isPredicate(detail string) bool {
	word, _, _ := strings.Cut(detail, " ")
	return slices.Contains([]string{"is", "are", "has", "have", "must", "may", "occurs", "nests", "lacks"}, word)
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
		if !isPredicate(one.detail) {
			name += ":"
		}
		p.detail += name + " " + one.detail
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
