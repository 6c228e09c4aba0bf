package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

var (
	errNoPage      = errors.New("page not found")
	errForged      = errors.New("the form is not from this site")
	errIncomplete  = errors.New("the form does not say what it is about")
	errTooLarge    = errors.New("the form is too large")
	errManyBills   = errors.New("too many bookings to pay together")
	errDeclines    = errors.New("the booking has ended after too many declined payments")
	errReleased    = errors.New("the booking has ended after a declined payment")
	errNoBooking   = errors.New("the booking was not found")
	errSignedOut   = errors.New("nobody is signed in")
	errSignIn      = errors.New("signing in did not work")
	errNoPrice     = errors.New("the timetable does not know the trip any more")
	errHalfBooked  = errors.New("an order was made in part")
	errFormUsed    = errors.New("the form was used too often")
	errOtherCharge = errors.New("what is to be paid is not what the form showed")
	errExpiry      = errors.New("the expiry date cannot be read")
	errNotBegun    = errors.New("the sign-in was not begun here")
)

// A fault is what people are told when something does not work.
type fault struct {
	Status      int
	Title, Text string
	Fields      []string // what is wrong with what they entered
	inputs      []string // by the names of the fields
	Links       []link   // to what it is about
	Link, Next  string   // where to go on, and what that is called
	RetryAfter  string
}

// tooManyDeclines is the fault of a booking that has ended because its payments were
// declined.
var tooManyDeclines = fault{Status: http.StatusConflict, Title: "Your seat was released", Text: "Too many payments for the booking were declined. Nothing was charged. If there are seats left, you can book again and pay with another card."}

// ours says what errors of the site itself are to people.
var ours = []struct {
	err error
	fault
}{
	{errNoPage, fault{Status: 404, Title: "Page not found", Text: "Check the address: it may be mistyped, or the page no longer exists."}},
	{errForged, fault{Status: 403, Title: "That form did not come from this site", Text: "It was sent from another site, or you have signed in again since. Nothing was changed. Please open the page again."}},
	{errIncomplete, fault{Status: 400, Title: "This form is incomplete", Text: "It does not say what to book or to pay for. Nothing was changed. Please open the page again."}},
	{errTooLarge, fault{Status: 413, Title: "This form is too long", Text: "Nothing was changed. Please enter shorter texts."}},
	{errManyBills, fault{Status: 400, Title: "Too many bookings", Text: fmt.Sprintf("At most %d bookings can be paid together. Nothing was charged.", mostTogether), Link: "/bookings", Next: "My bookings"}},
	{errDeclines, tooManyDeclines},
	{errReleased, fault{Status: 409, Title: "Your seat was released", Text: "The payment was declined, and the booking has ended: too many payments for it were declined, or it was not paid in time. Nothing was charged. If there are seats left, you can book again."}},
	{errNoBooking, fault{Status: 404, Title: "We cannot find that", Text: "The booking does not exist, no longer exists, or belongs to another user. A booking that was not paid in time has ended.", Link: "/bookings", Next: "My bookings"}},
	{errSignedOut, fault{Status: 403, Title: "You are signed out", Text: "Nothing was changed. Please sign in and try again.", Link: "/sign-in", Next: "Sign in"}},
	{errNotBegun, fault{Status: 400, Title: "The sign-in has expired", Text: "It was started too long ago, or in another browser.", Link: "/sign-in", Next: "Sign in"}},
	{errNoPrice, fault{Status: 409, Title: "This cannot be paid here", Text: "The timetable has changed since you booked, so we do not know the price. Nothing was charged.", Link: "/bookings", Next: "My bookings"}},
	{errHalfBooked, fault{Status: 502, Title: "Not everything could be booked", Text: "Some of the seats may still be held for you. Check your bookings: pay for them, or cancel them. Nothing was charged.", Link: "/bookings", Next: "My bookings"}},
	{errOtherCharge, fault{Status: 409, Title: "What you pay for has changed", Text: "Nothing was charged. A booking was cancelled or not paid in time, or its price has changed. Check the list and pay if you agree."}},
	{errExpiry, fault{Status: 400, Title: "Please correct this", Fields: []string{"The expiry date cannot be read. Write the year as two or four digits, MM/YY, such as 12/40."}, inputs: []string{"expiry"}}},
	{errFormUsed, fault{Status: 409, Title: "This form has already been used", Text: "Its earlier bookings have ended. Nothing was charged. Please choose the trip again.", Link: "/bookings", Next: "My bookings"}},
	{errSignIn, fault{Status: 403, Title: "You are not signed in", Text: "The sign-in was not completed. Nothing was changed.", Link: "/sign-in", Next: "Try again"}},
}

// theirs says what problems of the API are to people, by their slugs. Others are shown
// in the API's own words.
var theirs = map[string]fault{
	"not-found":             {Title: "We cannot find that", Text: "It does not exist, no longer exists, or belongs to another user."},
	"sold-out":              {Title: "That train has just sold out", Text: "There are not enough seats left. Other trains on this day may have some."},
	"departed":              {Title: "That train has left", Text: "It can no longer be booked or cancelled."},
	"bicycles-not-allowed":  {Title: "No bicycles on this trip", Text: "This trip does not take bicycles. Book without yours, or search for trips that take them."},
	"no-bicycle-space":      {Title: "The bicycle spaces are taken", Text: "Book without your bicycle, or choose another train."},
	"dogs-not-allowed":      {Title: "No dogs on this trip", Text: "This trip does not take dogs. Book without yours, or search for trips that take them."},
	"hold-expired":          {Title: "Your seat was released", Text: "The booking was not paid in time. Nothing was charged. If there are seats left, you can book again."},
	"too-many-declines":     tooManyDeclines,
	"declines-limited":      {Title: "Too many payments were declined", Text: "Nothing was charged. Please use another card, or try again later."},
	"too-many-holds":        {Title: "You have too many unpaid bookings", Text: "Pay for one of your bookings, or cancel one, and try again.", Link: "/bookings", Next: "My bookings"},
	"paid-too-late":         {Title: "The payment came too late", Text: "The booking had already ended. We are refunding the payment.", Link: "/bookings", Next: "My bookings"},
	"already-paid":          {Title: "This is already paid", Text: "Nothing more was charged.", Link: "/bookings", Next: "My bookings"},
	"cancelled-by-operator": {Title: "The railway has cancelled this train", Text: "Your booking is cancelled too, and what you paid is refunded in full. The page of the booking shows the refund.", Link: "/bookings", Next: "My bookings"},
	"payment-in-progress":   {Title: "A payment is in progress", Text: "Please wait until the bank has answered.", Link: "/bookings", Next: "My bookings"},
	"payments-not-accepted": {Title: "Payments are not available", Text: "The railway does not accept payments at the moment."},
	"not-paid":              {Title: "The ticket is not available yet", Text: "You get it as soon as the booking is paid.", Link: "/bookings", Next: "My bookings"},
	"key-reused":            {Title: "This form was sent before with other entries", Text: "Check the entries, and send the form again if they are right."},
	"precondition-failed":   {Title: "The booking has changed", Text: "It changed after you opened the page. Please open the booking again."},
	"rate-limited":          {Title: "Too many requests", Text: "Please wait a moment and try again."},
	"unavailable":           {Title: "The railway is not available", Text: "Its service is not available at the moment. Please try again later."},
	"internal-error":        {Title: "Something went wrong at the railway", Text: "We do not know whether your request was carried out. Check your bookings before you try again.", Link: "/bookings", Next: "My bookings"},
	"forbidden":             {Title: "You are not allowed to do that", Text: "Sign out, sign in again, and allow the access that this site asks for."},
	"invalid-request":       {Title: "Please correct this"},
	"amount-mismatch":       {Title: "The price has changed"},
}

// fields are what the API calls by pointer or parameter: the name of a field of ours,
// and what people call that.
var fields = map[string]struct{ input, label string }{
	"/passenger_name": {"passenger", "The name"}, "/source/name": {"name", "The name on the card"}, "/source/number": {"number", "The card number"},
	"/source/cvc": {"cvc", "The security code"}, "/source/exp_month": {"expiry", "The expiry date"}, "/source/exp_year": {"expiry", "The expiry date"},
	"/source/address_country": {"country", "The country"}, "/amount": {"", "The amount"}, "/currency": {"", "The currency"},
	"date": {"date", "The day"}, "search": {"", "The station"}, "origin": {"from", "The start"}, "destination": {"to", "The destination"},
}

// unreachable is what people are told when the API does not answer the site.
var unreachable = fault{Status: http.StatusBadGateway, Title: "We cannot reach the railway",
	Text: "Its service does not answer at the moment. If you were booking or paying, check your bookings before you try again.",
	Link: "/bookings", Next: "My bookings"}

// Wrong says whether a field is to be corrected.
func (f *fault) Wrong(input string) bool { return f != nil && slices.Contains(f.inputs, input) }

// faultOf says what people are told of an error.
func faultOf(err error) fault {
	if paid, ok := errors.AsType[*paidError](err); ok {
		return paid.fault()
	}
	for _, o := range ours {
		if errors.Is(err, o.err) {
			return o.fault
		}
	}
	p, ok := errors.AsType[*problem](err)
	if !ok {
		return unreachable
	}
	f := theirs[p.slug()]
	f.Status, f.RetryAfter = p.Status, p.retryAfter
	f.Title, f.Text = cmp.Or(f.Title, p.Title, "That did not work"), cmp.Or(f.Text, p.Detail)
	for _, e := range p.Errors {
		name := cmp.Or(e.Pointer, e.Parameter)
		f.Fields = append(f.Fields, strings.TrimSuffix(cmp.Or(fields[name].label, name)+" "+e.Detail, ".")+".")
		f.inputs = append(f.inputs, fields[name].input)
	}
	if len(f.Fields) > 0 && theirs[p.slug()].Text == "" {
		f.Text = "" // the fields say it
	}
	return f
}

// faultFor is faultOf, but that the site's own tokens, which are used for nobody in
// particular, are not for people to renew.
func faultFor(user *session, err error) fault {
	if user == nil && tokensRefused(err) {
		return unreachable
	}
	return faultOf(err)
}

// correctable says whether people can do something about an error in the form that
// they sent.
func correctable(err error) bool {
	if errors.Is(err, errHalfBooked) {
		return false
	}
	p, ok := errors.AsType[*problem](err)
	return ok && (p.Status == http.StatusBadRequest || p.Status == http.StatusConflict || p.Status == http.StatusUnprocessableEntity)
}

// tokensRefused says whether an error is that the user's tokens are no good any more.
func tokensRefused(err error) bool {
	if p, ok := errors.AsType[*problem](err); ok {
		return p.Status == http.StatusUnauthorized
	}
	r, ok := errors.AsType[*oauth2.RetrieveError](err)
	return ok && r.Response.StatusCode < http.StatusInternalServerError && r.Response.StatusCode != http.StatusTooManyRequests
}

// justNow is how long after a sign-in tokens are not expected to be refused: whoever
// has new ones refused must not be sent in circles.
const justNow = 10 * time.Second

// fail answers with what went wrong: the one place that does.
func (s *site) fail(w http.ResponseWriter, r *http.Request, user *session, err error) {
	if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
		return // nobody waits for the answer
	}
	f := faultFor(user, err)
	if user != nil && tokensRefused(err) {
		s.endSession(w, user)
		again := r.Method == http.MethodGet && s.now().Sub(user.began) > justNow
		if again && s.beginSignIn(w, r, pathOf(r)) == nil {
			return
		}
		f, user = faultOf(errSignedOut), nil
	}
	if f.Status >= http.StatusInternalServerError {
		s.log.Error("a page failed", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	if f.RetryAfter != "" {
		w.Header().Set("Retry-After", f.RetryAfter)
	}
	if f.Link == "" {
		f.Link, f.Next = "/", "Search for a train"
	}
	if err := s.show(w, f.Status, "fault", user, page{Title: f.Title, Body: f}); err != nil {
		s.log.Error("a page was not made", "error", err)
		http.Error(w, f.Title+". "+f.Text, f.Status)
	}
}

// A paidError is that something failed after bookings were paid: people must know that
// before all else.
type paidError struct {
	paid []link // to the bookings
	of   int    // bookings
	err  error
}

func (e *paidError) Error() string {
	return fmt.Sprintf("%d of %d bookings are paid, but then: %v", len(e.paid), e.of, e.err)
}

func (e *paidError) Unwrap() error { return e.err }

// fault says what was paid, and then what failed.
func (e *paidError) fault() fault {
	f := faultOf(e.err)
	why := strings.TrimSuffix(f.Title, ".") + "."
	if len(e.paid) < e.of {
		f.Title = "Some of your bookings are paid"
		// What is true of the other bookings is not true of all.
		f.Text = fmt.Sprintf("%d of %d bookings are paid. The others: %s %s", len(e.paid), e.of, why, strings.ReplaceAll(f.Text, "Nothing was charged", "Nothing more was charged"))
	} else {
		f.Title = "Your payment went through"
		f.Text = "Everything is paid: please do not pay again. This page cannot be shown at the moment. " + why
	}
	f.Links = slices.Clone(e.paid)
	f.Link, f.Next = "/bookings", "My bookings"
	return f
}
