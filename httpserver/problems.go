package httpserver

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"slices"
	"sync"

	"github.com/traintravel/traintravel"
)

// pageFiles contains the HTML pages, their templates and styles.
//
//go:embed pages
var pageFiles embed.FS

// advice is the text on the page of a type of problem.
type advice struct {
	// next says what to do about it.
	next string
	// happened says what happened in general; empty if the details of the problems say so.
	happened string
}

// whatNext maps the slug of each problem to its advice.
var whatNext = map[string]advice{
	"already-paid": {next: "You need not do anything: the passenger can travel. If you meant to pay for another booking, check its ID."},
	"amount-mismatch": {happened: "The amount or the currency of the payment differs from the amount due for the booking. Nothing was charged.",
		next: "Pay exactly the amount due, which the problem document states. It is the price of the trip at the time of booking."},
	"bicycles-not-allowed":  {next: "Search again with bicycles=true to list only trips that allow bicycles, or book without the bicycle."},
	"body-too-slow":         {next: "Send the request again, with the body immediately after the header. If the network is slow, use a proxy near the server that buffers request bodies."},
	"cancelled-by-operator": {next: "You need not cancel anything. The member over of the booking lists the refunds, with their status. Search for another train and book that."},
	"content-too-large":     {next: "Send only the members that the operation defines. No operation needs a body of that size."},
	"departed":              {next: "Search for a later trip. A paid booking cannot be cancelled after departure."},
	"declines-limited":      {next: "Wait for the number of seconds in Retry-After. If the limit is that of the card, you can use another card now."},
	"delivered":             {next: "You need not do anything. If the receiver lost the event, read the booking that the event was about."},
	"dogs-not-allowed":      {next: "Search again with dogs=true to list only trips that allow dogs, or book without the dog."},
	"forbidden": {happened: "The token is valid, but it lacks a scope. Reading needs the scope read; changes need the scope write, which does not include read. Changing webhooks needs both scopes, because webhooks receive data.",
		next: "Request a token with the missing scope from the authorization server. The same token will be refused again."},
	"hold-expired":   {next: "Book the trip again, if it still has places, and pay before the time in the header Sunset."},
	"internal-error": {next: "Retry once. If it fails again, send the operator the problem's instance. The request may or may not have taken effect: check before you repeat it, or repeat it with the same Idempotency-Key."},
	"invalid-request": {happened: "A parameter, a header or the body of the request is invalid. Nothing was changed.",
		next: "Correct each entry of errors, which names a parameter or points to a member of the body. The same request will be refused again."},
	"key-reused":            {next: "Use a new key for each new request. Use an old key only to repeat exactly the request that you sent with it."},
	"method-not-allowed":    {next: "Use a method that the header Allow lists."},
	"no-bicycle-space":      {next: "Choose another trip, or book without the bicycle. A space may become available when somebody cancels."},
	"not-acceptable":        {next: "Send an Accept header that allows one of them, or no Accept header."},
	"not-paid":              {next: "Pay for the booking before the time in the header Sunset. Then its links include the ticket."},
	"not-found":             {next: "Compare the URL, character by character, with the link that you followed; URLs do not end with a slash. Bookings that were cancelled or not paid in time are no longer available. If the timetable has changed and the trip no longer exists, search again."},
	"paid-too-late":         {next: "Book the trip again, or a later one, if it still has places. The booking's payments show the refund."},
	"payment-in-progress":   {next: "Do not pay again. Poll the booking's latest payment, waiting the number of seconds in Retry-After each time, until its status is succeeded or failed. This can take a day."},
	"payments-not-accepted": {next: "Ask the operator. The server accepts payments only if it is connected to a payment provider."},
	"precondition-failed":   {next: "Get the current version. If you still want to make the request, send it with the new ETag, unchanged, in If-Match. A weak ETag, which begins with W/, never matches."},
	"rate-limited":          {next: "Wait for the number of seconds in Retry-After. The header RateLimit of every response shows the remaining quota, so that you can slow down before it runs out."},
	"sold-out":              {next: "Search again: the results have free places. A place on this trip becomes free when somebody cancels or does not pay in time."},
	"overloaded":            {next: "Wait for the number of seconds in Retry-After, then send the request again. The request had no effect."},
	"too-many-declines":     {next: "Book the trip again, if it still has places, and pay with another card or account."},
	"too-many-holds": {happened: "The number of unpaid bookings that a user may hold is limited, in total and for each train, so that nobody can block a train. You have reached a limit. A booking whose payment is pending counts as unpaid.",
		next: "Pay for one of your bookings, or cancel one; then you can book again immediately. GET /bookings lists them."},
	"too-many-webhooks": {next: "Delete a webhook that you no longer use, or change the URL of an existing one."},
	"too-many-webhooks-to-host": {happened: "You have reached the limit of webhooks to one host. Webhooks made through all of your programs count.",
		next: "Delete a webhook that you no longer use, or subscribe an existing one to more types of events: it receives the events of all your bookings, and each event has its type."},
	"unauthorized": {happened: "The request has no access token, or the token is malformed, forged, expired, or for another service.",
		next: "Get a new access token from the authorization server and send it in a single Authorization: Bearer header, and nowhere else."},
	"unavailable":            {next: "Wait for the number of seconds in Retry-After, then send the request again. If this continues, ask the operator: the server may have no timetable yet, or the database may be unavailable."},
	"unsupported-media-type": {next: "Send uncompressed JSON with Content-Type: application/json. Bookings can also be XML; send a ticket to verify as application/octet-stream."},
	"webhook-unverified":     {next: "Make the receiver respond to pings with 200, then send a ping with POST /webhooks/{webhookId}/ping. When verified is true, retry the deliveries that you want."},
	"webhook-disabled": {happened: "You disabled the webhook, or its receiver did by responding with 410. Nothing was posted.",
		next: "Enable the webhook by setting disabled to false, then retry the deliveries that you want."},
}

// problems returns all types of problems, by slug.
func problems() map[string][]*problem {
	all := []*problem{problemNoPath, problemMethod, problemNotAcceptable, problemNoTicketForm, problemMediaType, problemMediaTypes, problemMediaPatch, problemMediaBytes,
		problemTooLarge, problemInternal, problemUnavailable, problemOverloaded, problemInvalid, problemNoToken, problemBadToken, problemPrecondition}
	for _, r := range refusals {
		all = append(all, &r.problem)
	}
	// Other code makes these when they occur.
	busy := &exchange{s: &Server{limits: newLimiter(1)}, route: &route{scope: counted}}
	for _, err := range []error{busy.take(0), busy.take(0), read.allowedBy(Identity{}), &traintravel.AmountError{}, &traintravel.HostLimitError{}, &traintravel.DeclinesError{}, &traintravel.DeclinesError{Card: true}, &traintravel.HoldsError{}} {
		if err != nil {
			all = append(all, busy.problemOf(err))
		}
	}
	all = append(all, problemManyAtATime, problemUnread, problemUnfinished, problemSlow)
	bySlug := map[string][]*problem{}
	for _, p := range all {
		bySlug[p.slug] = append(bySlug[p.slug], p)
	}
	return bySlug
}

// A problemPage is the data of the page about a type of problem.
type problemPage struct {
	Slug, Title, Name, Next string
	Status                  int
	Happened                []string
	Style                   template.CSS
}

// oneProblem serves the page at the URL that is a problem's type.
func (s *Server) oneProblem(x *exchange) error {
	pages, err := problemPages()
	if err != nil {
		return err
	}
	page := pages[x.params.ByName("slug")]
	if page == nil {
		return problemNoPath
	}
	return x.sendText(page)
}

// problemPages returns the pages about all types of problems, by slug. The first call
// renders them.
var problemPages = sync.OnceValues(func() (map[string]*text, error) {
	t, err := template.ParseFS(pageFiles, "pages/problem.html")
	if err != nil {
		return nil, err
	}
	style, err := pageFiles.ReadFile("pages/problem.css")
	if err != nil {
		return nil, err
	}
	policy := styledPolicy(style)
	pages := map[string]*text{}
	for slug, found := range problems() {
		page := pageOf(slug, found)
		page.Style = template.CSS(style)
		var b bytes.Buffer
		if err := t.Execute(&b, page); err != nil {
			return nil, err
		}
		pages[slug] = textOf(html, policy, b.Bytes())
	}
	return pages, nil
})

// pageOf returns the data of the page about a type of problem, given all problems of the type.
func pageOf(slug string, found []*problem) problemPage {
	p := found[0]
	page := problemPage{
		Slug: slug, Title: p.title, Status: p.status, Name: http.StatusText(p.status), Next: whatNext[slug].next,
	}
	if h := whatNext[slug].happened; h != "" {
		page.Happened = []string{h}
		return page
	}
	for _, p := range found { // a type may have several details
		if !slices.Contains(page.Happened, p.detail) {
			page.Happened = append(page.Happened, p.detail)
		}
	}
	return page
}

var html = []string{"text/html; charset=utf-8"}
