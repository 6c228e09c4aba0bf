package httpserver

import "net/http"

// A route is one operation: where it is, who may use it, and what answers it.
type route struct {
	method, path string
	scope        scope
	cache        []string // the Cache-Control of its successes
	handle       func(*exchange) error
	body         body
	tagged       bool // a success has an ETag
	work         work
	cost         int64 // of the work, compared with that of other routes whose work is of the kind; one at least
	tokens       int64 // how many requests it counts as in quotas; zero is one
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
	free    scope = iota // no token is asked for, and no quota counts
	public               // no token is asked for, and the quota of the address counts
	counted              // likewise, and the answer is a document of the API
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
