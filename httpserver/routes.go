package httpserver

import (
	"net/http"
	"strings"

	"github.com/julienschmidt/httprouter"
)

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
		{get, stations, read, f.hour, s.listStations, noBody, tagged, reading, 4, 1},
		{get, stations + "/:stationId", read, f.hour, s.oneStation, noBody, tagged, reading, 1, 1},
		{get, trips, read, f.noCache, s.searchTrips, noBody, false, searching, 4, 2},
		{get, trips + "/:tripId", read, f.noCache, s.oneTrip, noBody, false, searching, 1, 1},
		{get, bookings, read, f.noStore, s.listBookings, noBody, tagged, reading, 4, 1},
		{post, bookings, write, f.noStore, s.createBooking, anyBody, false, writing, 1, 1},
		{get, booking, read, f.noStore, s.oneBooking, noBody, tagged, reading, 1, 1},
		{del, booking, write, f.noStore, s.cancelBooking, noBody, false, writing, 1, 1},
		{post, booking + "/payment", write, f.noStore, s.payBooking, jsonBody, false, paying, 1, 1},
		{get, booking + "/payment", read, f.noStore, s.latestPayment, noBody, false, reading, 1, 1},
		{get, booking + "/payments", read, f.noStore, s.listPayments, noBody, false, reading, 2, 1},
		{get, ticketPath, read, f.noStore, s.oneTicket, noBody, false, ticketing, 1, 10},
		{get, webhooks, read, f.noStore, s.listWebhooks, noBody, false, reading, 4, 1},
		{post, webhooks, readWrite, f.noStore, s.createWebhook, jsonBody, false, writing, 1, 1},
		{get, webhook, read, f.noStore, s.oneWebhook, noBody, false, reading, 1, 1},
		{patch, webhook, readWrite, f.noStore, s.changeWebhook, patchBody, false, writing, 1, 1},
		{del, webhook, readWrite, f.noStore, s.deleteWebhook, noBody, false, writing, 1, 1},
		{post, webhook + "/secret", readWrite, f.noStore, s.newWebhookSecret, noBody, false, writing, 1, 1},
		{post, webhook + "/ping", readWrite, f.noStore, s.pingWebhook, noBody, false, writing, 1, 1},
		{get, webhook + "/deliveries", read, f.noStore, s.listDeliveries, noBody, false, reading, 4, 1},
		{post, webhook + "/deliveries/:deliveryId/retry", readWrite, f.noStore, s.retryDelivery, noBody, false, writing, 1, 1},
		{post, "/tickets/verify", counted, f.noStore, s.verifyTicket, bytesBody, false, reading, 4, 1},
		{get, "/.well-known/ticket-keys", public, f.shared, s.ticketKeys, noBody, tagged, light, 1, 1},
		{get, resourcePath, public, f.shared, s.resource, noBody, tagged, light, 1, 1},
		{get, resourcePath + "/*path", public, f.shared, s.resource, noBody, tagged, light, 1, 1},
		{get, "/", public, f.shared, s.front, noBody, false, reading, 1, 1},
		{get, "/healthz", free, f.noStore, s.healthy, noBody, false, light, 1, 1},
		{get, "/readyz", free, f.noStore, s.ready, noBody, false, light, 1, 1},
		{get, "/openapi.yaml", public, f.shared, s.openAPIYAML, noBody, tagged, searching, 1, 1},
		{get, "/openapi.json", public, f.shared, s.openAPIJSON, noBody, tagged, searching, 1, 1},
		{get, "/docs", public, f.shared, s.docs, noBody, tagged, light, 1, 1},
		{get, "/docs/*file", public, f.shared, s.docs, noBody, tagged, light, 1, 1},
		{get, "/problems/:slug", public, f.shared, s.oneProblem, noBody, tagged, light, 1, 1},
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
		switch {
		case x.asksToCall():
			return x.empty(http.StatusNoContent)
		case x.r.URL.Path == "" && (x.r.Method == http.MethodGet || x.r.Method == http.MethodHead):
			return x.toSlash()
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
