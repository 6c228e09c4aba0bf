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

// pageFiles are the pages for people and what they are made with.
//
//go:embed pages
var pageFiles embed.FS

// advice is what people are told about a type of problem beside its title.
type advice struct {
	// next is what to do about it.
	next string
	// happened is what is always true of it, where the detail is not.
	happened string
}

// whatNext has advice for the slug of each problem.
var whatNext = map[string]advice{
	"already-paid": {next: "Nothing: the passenger can travel. If you paid for another booking, look at its ID again."},
	"amount-mismatch": {happened: "The payment offered another amount, or another currency, than what is due for the booking. Nothing was charged.",
		next: "Pay exactly what the problem document says is due. It is the price of the trip as it was when it was booked."},
	"bicycles-not-allowed": {next: "Search again with bicycles=true: that lists the trips which are known to take them. Or book without the bicycle."},
	"body-too-slow":        {next: "Send the request again, its body at once. If the network between is slow, have a proxy near the server take the body first."},
	"content-too-large":    {next: "Send only the members that the operation knows. None of them needs a body of that size."},
	"departed":             {next: "Search for a later trip. After departure a paid booking cannot be cancelled any more."},
	"declines-limited":     {next: "Wait for as many seconds as Retry-After says. If it was because of the card, another one may be used now."},
	"delivered":            {next: "Nothing. If the receiver has lost the event, read the booking that it was about."},
	"dogs-not-allowed":     {next: "Search again with dogs=true: that lists the trips which are known to take them. Or book without the dog."},
	"forbidden": {happened: "The token is good, but it was not made for this: reading needs the scope read, and whatever changes something needs write. Neither includes the other. Who changes webhooks needs both: what they are sent is read.",
		next: "Ask the authorization server for a token with the scope that is missing. Sending the same token again does not help."},
	"hold-expired":   {next: "Book the trip again, if it still has places, and pay before the instant that the header Sunset tells."},
	"internal-error": {next: "Try once more. If it happens again, tell the operator the problem's instance. What you were doing may or may not have been done: look before you repeat it, or send it with the same Idempotency-Key."},
	"invalid-request": {happened: "A parameter, a header or the body of the request is not of the form that the operation takes. Nothing was changed.",
		next: "Correct what errors lists: each entry names a parameter, or points at a member of the body. Sending the same request again does not help."},
	"key-reused":            {next: "Use a new key for each new request, and the old one only to repeat exactly what you sent before."},
	"method-not-allowed":    {next: "Use one of the methods in the header Allow."},
	"no-bicycle-space":      {next: "Choose another trip, or book without the bicycle. A space may come back when somebody cancels."},
	"not-acceptable":        {next: "Send an Accept header that allows one of them, or none at all."},
	"not-paid":              {next: "Pay for the booking before the instant that the header Sunset tells. Then its links lead to the ticket."},
	"not-found":             {next: "Compare the address, letter by letter, with the link that led to it; addresses have no slash at their end. A booking that was cancelled, or not paid in time, is gone. A trip goes when the timetable changes: search again."},
	"paid-too-late":         {next: "Book the trip again, or a later one, if it still has places. The booking's payments show the refund."},
	"payment-in-progress":   {next: "Do not pay again. Look at the booking's latest payment, each time after as many seconds as Retry-After says, until its status is succeeded or failed. That can take a day."},
	"payments-not-accepted": {next: "Ask the operator. A server takes payments only once it has been connected to a payment provider."},
	"precondition-failed":   {next: "Get it again. If you still want what you asked for, send the request with the ETag of that answer in If-Match, as it is: a weak one, which begins with W/, is equal to none."},
	"rate-limited":          {next: "Wait for as many seconds as Retry-After says. The header RateLimit of every answer shows what is left, so that you can slow down before."},
	"sold-out":              {next: "Search again: what is listed has places. On this trip one comes back when somebody cancels, or does not pay in time."},
	"overloaded":            {next: "Wait for as many seconds as Retry-After says, then send the request again. Nothing of it was done."},
	"too-many-declines":     {next: "Book the trip again, if it still has places, and pay with another card or account."},
	"too-many-holds": {happened: "A user may hold some bookings, and some for one train, without having paid for them, so that nobody takes a train from sale. You hold as many as that. A booking whose payment is pending is not paid.",
		next: "Pay for one of your bookings, or cancel one: that makes room at once. GET /bookings lists them."},
	"too-many-webhooks": {next: "Delete one of your webhooks that is not used any more, or change one to another address."},
	"too-many-webhooks-to-host": {happened: "You have as many webhooks to one host as there may be, through all programs that you use.",
		next: "Delete one that is not used any more. Or have one get more types of events: it gets those of all your bookings, and tells them apart by their type."},
	"unauthorized": {happened: "The request came without an access token, or with one that is malformed, forged, expired, or meant for another service.",
		next: "Get a new access token from the authorization server and send it in one header, Authorization: Bearer, and nowhere else."},
	"unavailable":            {next: "Wait for as many seconds as Retry-After says, then send the request again. If it goes on, ask the operator: there may be no timetable yet, or the database is away."},
	"unsupported-media-type": {next: "Send JSON with Content-Type: application/json, not compressed. Bookings are read in XML too, and tickets to be verified as application/octet-stream."},
	"webhook-unverified":     {next: "Have the receiver answer pings with 200, then post one with POST /webhooks/{webhookId}/ping. When verified is true, retry what you want."},
	"webhook-disabled": {happened: "You, or the receiver by the answer 410, have disabled the webhook. Nothing was posted.",
		next: "Enable it with disabled set to false, then retry what you want."},
}

// problems are all types of problem there are, by slug.
func problems() map[string][]*problem {
	all := []*problem{problemNoPath, problemMethod, problemNotAcceptable, problemNoTicketForm, problemMediaType, problemMediaTypes, problemMediaPatch, problemMediaBytes,
		problemTooLarge, problemInternal, problemUnavailable, problemOverloaded, problemInvalid, problemNoToken, problemBadToken, problemPrecondition}
	for _, r := range refusals {
		all = append(all, &r.problem)
	}
	// Some are made where they arise.
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

// A problemPage is what a page about a type of problem shows.
type problemPage struct {
	Slug, Title, Name, Next string
	Status                  int
	Happened                []string
	Style                   template.CSS
}

// oneProblem answers with the page to which the type of a problem leads.
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

// problemPages are the pages about all types of problem, by slug. They are made when the
// first is asked for.
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

// pageOf is what the page about a type of problem shows, of which there are these.
func pageOf(slug string, found []*problem) problemPage {
	p := found[0]
	page := problemPage{
		Slug: slug, Title: p.title, Status: p.status, Name: http.StatusText(p.status), Next: whatNext[slug].next,
	}
	if h := whatNext[slug].happened; h != "" {
		page.Happened = []string{h}
		return page
	}
	for _, p := range found { // some have several details
		if !slices.Contains(page.Happened, p.detail) {
			page.Happened = append(page.Happened, p.detail)
		}
	}
	return page
}

var html = []string{"text/html; charset=utf-8"}
