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
	errSignedOut   = errors.New("nobody is signed in")
	errSignIn      = errors.New("signing in did not work")
	errNoPrice     = errors.New("the timetable does not know the trip any more")
	errHalfBooked  = errors.New("an order was made in part")
	errSentOften   = errors.New("the form was sent too often")
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

// ours says what errors of the site itself are to people.
var ours = []struct {
	err error
	fault
}{
	{errNoPage, fault{Status: 404, Title: "Page not found", Text: "The address may be mistyped, or the page is gone."}},
	{errForged, fault{Status: 403, Title: "That form was not ours", Text: "It was sent from somewhere else, or it is from before you signed in. Nothing was done. Please open the page again."}},
	{errSignedOut, fault{Status: 403, Title: "You are signed out", Text: "Nothing was done. Please sign in and try again.", Link: "/sign-in", Next: "Sign in"}},
	{errNotBegun, fault{Status: 400, Title: "That sign-in is over", Text: "It was begun too long ago, or in another browser.", Link: "/sign-in", Next: "Sign in"}},
	{errNoPrice, fault{Status: 409, Title: "This cannot be paid here", Text: "The timetable has changed since you booked, so we do not know the price. Nothing was charged.", Link: "/bookings", Next: "My bookings"}},
	{errHalfBooked, fault{Status: 502, Title: "Not everything could be booked", Text: "Some of the seats may still be held for you. Look at your bookings: pay for them, or cancel them. Nothing was charged.", Link: "/bookings", Next: "My bookings"}},
	{errOtherCharge, fault{Status: 409, Title: "What you pay for has changed", Text: "Nothing was charged. A booking is gone, because it was cancelled or not paid in time, or its price has changed. Do you want to pay for what is listed now?"}},
	{errExpiry, fault{Status: 400, Title: "Please look at this again", Fields: []string{"The expiry date cannot be read. Write the year as two or four digits, MM/YY, such as 12/40."}, inputs: []string{"expiry"}}},
	{errSentOften, fault{Status: 409, Title: "This form was sent too often", Text: "What it booked before is over. Nothing was charged. Please choose the trip again.", Link: "/bookings", Next: "My bookings"}},
	{errSignIn, fault{Status: 403, Title: "You are not signed in", Text: "The sign-in was not finished. Nothing has changed.", Link: "/sign-in", Next: "Try again"}},
}

// theirs says what problems of the API are to people, by their slugs. Others are shown
// in the API's own words.
var theirs = map[string]fault{
	"not-found":             {Title: "We cannot find that", Text: "It does not exist, no longer exists, or belongs to somebody else. A booking that was not paid in time is gone.", Link: "/bookings", Next: "My bookings"},
	"sold-out":              {Title: "That train has just sold out", Text: "There are not seats enough left. Other trains of the day may have some."},
	"departed":              {Title: "That train has left", Text: "It cannot be booked or cancelled any more."},
	"bicycles-not-allowed":  {Title: "No bicycles on this trip", Text: "It is not known to take bicycles. Book without yours, or search for trips that take them."},
	"no-bicycle-space":      {Title: "The bicycle spaces are taken", Text: "Book without your bicycle, or choose another train."},
	"dogs-not-allowed":      {Title: "No dogs on this trip", Text: "It is not known to take dogs. Book without yours, or search for trips that take them."},
	"hold-expired":          {Title: "Your seat is free again", Text: "The booking was not paid in time. Nothing was charged. If there are seats left, you can book once more."},
	"too-many-declines":     {Title: "Your seat is free again", Text: "Too many payments for the booking were declined. Nothing was charged. If there are seats left, you can book once more and pay with another card."},
	"declines-limited":      {Title: "Too many payments were declined", Text: "Nothing was charged. Please use another card, or try again later."},
	"too-many-holds":        {Title: "You hold seats that are not paid", Text: "There may be only so many at a time. Pay for one of your bookings, or cancel one, and try again.", Link: "/bookings", Next: "My bookings"},
	"paid-too-late":         {Title: "The payment came too late", Text: "The seat was gone when it went through. The money is on its way back to you.", Link: "/bookings", Next: "My bookings"},
	"already-paid":          {Title: "This is paid already", Text: "Nothing was charged again.", Link: "/bookings", Next: "My bookings"},
	"cancelled-by-operator": {Title: "The railway has cancelled this train", Text: "The booking is cancelled with it. What you paid for it is given back in full. The booking says how much, and when.", Link: "/bookings", Next: "My bookings"},
	"payment-in-progress":   {Title: "A payment is under way", Text: "Its outcome is not known yet. Please wait for it.", Link: "/bookings", Next: "My bookings"},
	"payments-not-accepted": {Title: "Payments are not taken", Text: "The railway is not set up to take payments at the moment."},
	"not-paid":              {Title: "There is no ticket yet", Text: "It comes as soon as the booking is paid.", Link: "/bookings", Next: "My bookings"},
	"key-reused":            {Title: "This form was sent before", Text: "It said something else then. Look at what it says now, and send it once more if that is what you want."},
	"precondition-failed":   {Title: "The booking has changed", Text: "It is not as it was when you opened the page. Please look at it again."},
	"rate-limited":          {Title: "One moment, please", Text: "There were too many requests. Please try again in a little while."},
	"unavailable":           {Title: "The railway takes a break", Text: "Its service is not available at the moment. Please try again in a little while."},
	"internal-error":        {Title: "Something went wrong at the railway", Text: "It may or may not have been done. Look at your bookings before you try again.", Link: "/bookings", Next: "My bookings"},
	"forbidden":             {Title: "You are not allowed to do that", Text: "Sign out and in again, and allow what this site asks for."},
	"invalid-request":       {Title: "Please look at this again"},
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
	Text: "Its service does not answer at the moment. If you were booking or paying, look at your bookings before you try again.",
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
		f.Title = "A part of your payment went through"
		// What is said of the others is not so of all.
		f.Text = fmt.Sprintf("%d of %d bookings are paid. The others: %s %s", len(e.paid), e.of, why, strings.ReplaceAll(f.Text, "Nothing was charged", "Nothing more was charged"))
	} else {
		f.Title = "Your payment went through"
		f.Text = "Everything is paid: please do not pay again. Only this page cannot be shown at the moment. " + why
	}
	f.Links = slices.Clone(e.paid)
	f.Link, f.Next = "/bookings", "My bookings"
	return f
}
