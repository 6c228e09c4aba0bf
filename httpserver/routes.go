package httpserver

import (
	"net/http"
	"strings"

	"github.com/julienschmidt/httprouter"
)

// A route is one operation: where it is, who may use it, and what answers it.
type route struct {
	method, path string
	scope        scope
	cache        []string // the Cache-Control of its successes
	handle       func(*exchange) error
	body         body
	tagged       bool // a success has an ETag
}

// A body is what an operation reads of a request.
type body uint8

const (
	noBody body = iota
	jsonBody
	anyBody   // JSON or XML
	patchBody // JSON, to be merged
	bytesBody // as they are
)

// A scope is what a token must allow.
type scope uint8

const (
	public  scope = iota // no token is asked for, and the quota does not count
	counted              // no token is asked for, and the quota of the address counts
	read
	write
	readWrite // both
	nowhere   // the request fits no route: no token is asked for
	beside    // the request is another handler's, which has counted it
)

// ticketPath is where a ticket is, which comes in other forms than documents.
const ticketPath = "/bookings/:bookingId/ticket"

// resourcePath is where the API says who gives tokens for it (RFC 9728): below the
// base URL, which works wherever the API does, and, if that has a path, also with
// the path at the end, which is where RFC 9728 has it at the root of the host.
const resourcePath = "/.well-known/oauth-protected-resource"

// ticket says whether a success of the operation is a ticket.
func (rt *route) ticket() bool { return rt.path == ticketPath }

// bare says whether a success of the operation has no body, whose form a client could
// wish for.
func (rt *route) bare() bool { return rt.method == http.MethodDelete }

// table is all routes there are. A parameter of a path has one name wherever it
// stands.
func (s *Server) table() []*route {
	const (
		get, post, patch, del = http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete
		tagged                = true

		stations = "/stations"
		trips    = "/trips"
		bookings = "/bookings"
		booking  = bookings + "/:bookingId"
		webhooks = "/webhooks"
		webhook  = webhooks + "/:webhookId"
	)
	f := &s.fixed
	return []*route{
		{get, stations, read, f.hour, s.listStations, noBody, tagged},
		{get, stations + "/:stationId", read, f.hour, s.oneStation, noBody, tagged},
		{get, trips, read, f.noCache, s.searchTrips, noBody, false},
		{get, trips + "/:tripId", read, f.noCache, s.oneTrip, noBody, false},
		{get, bookings, read, f.noStore, s.listBookings, noBody, tagged},
		{post, bookings, write, f.noStore, s.createBooking, anyBody, false},
		{get, booking, read, f.noStore, s.oneBooking, noBody, tagged},
		{del, booking, write, f.noStore, s.cancelBooking, noBody, false},
		{post, booking + "/payment", write, f.noStore, s.payBooking, jsonBody, false},
		{get, booking + "/payment", read, f.noStore, s.latestPayment, noBody, false},
		{get, booking + "/payments", read, f.noStore, s.listPayments, noBody, false},
		{get, ticketPath, read, f.noStore, s.oneTicket, noBody, false},
		{get, webhooks, read, f.noStore, s.listWebhooks, noBody, false},
		{post, webhooks, readWrite, f.noStore, s.createWebhook, jsonBody, false},
		{get, webhook, read, f.noStore, s.oneWebhook, noBody, false},
		{patch, webhook, readWrite, f.noStore, s.changeWebhook, patchBody, false},
		{del, webhook, readWrite, f.noStore, s.deleteWebhook, noBody, false},
		{post, webhook + "/secret", readWrite, f.noStore, s.newWebhookSecret, noBody, false},
		{post, webhook + "/ping", readWrite, f.noStore, s.pingWebhook, noBody, false},
		{get, webhook + "/deliveries", read, f.noStore, s.listDeliveries, noBody, false},
		{post, webhook + "/deliveries/:deliveryId/retry", readWrite, f.noStore, s.retryDelivery, noBody, false},
		{post, "/tickets/verify", counted, f.noStore, s.verifyTicket, bytesBody, false},
		{get, "/.well-known/ticket-keys", public, f.shared, s.ticketKeys, noBody, tagged},
		{get, resourcePath, public, f.shared, s.resource, noBody, tagged},
		{get, resourcePath + "/*path", public, f.shared, s.resource, noBody, tagged},
		{get, "/", public, f.shared, s.front, noBody, false},
		{get, "/healthz", public, f.noStore, s.healthy, noBody, false},
		{get, "/readyz", public, f.noStore, s.ready, noBody, false},
		{get, "/openapi.yaml", public, f.shared, s.openAPIYAML, noBody, false},
		{get, "/openapi.json", public, f.shared, s.openAPIJSON, noBody, false},
		{get, "/docs", public, f.shared, s.docs, noBody, false},
		{get, "/docs/*file", public, f.shared, s.docs, noBody, false},
		{get, "/problems/:slug", public, f.shared, s.oneProblem, noBody, false},
	}
}

// routes registers those that the server has.
func (s *Server) routes() *httprouter.Router {
	router := httprouter.New()
	for _, rt := range s.table() {
		if rt.ticket() && s.tickets == nil || strings.HasPrefix(rt.path, webhooksPath) && !s.service.HasWebhooks() {
			continue
		}
		handle := s.answering(rt)
		router.Handle(rt.method, rt.path, handle)
		if rt.method == http.MethodGet {
			router.Handle(http.MethodHead, rt.path, handle)
		}
	}

	// An address is what a link says, to the letter: none is guessed.
	router.RedirectTrailingSlash, router.RedirectFixedPath = false, false
	router.NotFound = s.notFound()
	router.MethodNotAllowed = s.refusing(problemMethod) // Allow is set
	router.GlobalOPTIONS = s.optionsHandler()
	return router
}

// notFound answers what has no address here. Browsers are not told before they
// call for a page: what they then call for is told, and the page with it.
func (s *Server) notFound() http.Handler {
	return s.elsewhere(func(x *exchange) error {
		if x.asksToCall() {
			return x.empty(http.StatusNoContent)
		}
		return problemNoPath
	})
}

// refusing answers what fits no route.
func (s *Server) refusing(p *problem) http.Handler {
	return s.elsewhere(func(*exchange) error { return p })
}

// optionsHandler answers OPTIONS, for which the router has set Allow.
func (s *Server) optionsHandler() http.Handler {
	return s.elsewhere(func(x *exchange) error { return x.empty(http.StatusNoContent) })
}

func (s *Server) elsewhere(handle func(*exchange) error) http.Handler {
	answer := s.answering(&route{scope: nowhere, cache: s.fixed.noStore, handle: handle})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(w, r, nil) })
}

// Refuse answers a request that came to another handler, such as an authorization
// server beside this one, and fits nothing there: with the problem 405 if Allow is
// set in the header of the answer, and else with 404. It counts nothing and asks
// for no token.
func (s *Server) Refuse(w http.ResponseWriter, r *http.Request) {
	p := problemNoPath
	if w.Header()["Allow"] != nil {
		p = problemMethod
	}
	s.answering(&route{scope: beside, cache: s.fixed.noStore, handle: func(*exchange) error { return p }})(w, r, nil)
}
