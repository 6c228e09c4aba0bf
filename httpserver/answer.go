package httpserver

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
)

// An Answer describes a completed request, for metrics, traces and the access log. It
// contains no text that a client can choose freely: no path, query, header or body, and so
// no token, card or name.
type Answer struct {
	// Request names the request in all that is logged of it. It is the instance of the
	// problem that was answered.
	Request uuid.UUID
	// Method is the method of the request, or "OTHER" if it is not an HTTP method.
	Method string
	// Route is the path of the operation with the names of its parameters in braces,
	// such as /bookings/{bookingId}. It is empty if the request fits none.
	Route string
	// Status is what was answered, zero if the connection was cut off before, by the
	// server or, while its request was worked on or waited, by the client.
	Status int
	// Bytes is the length of the body that was sent.
	Bytes int
	// Took is how long it took, until the answer was handed to the connection.
	Took time.Duration
	// Problem is the last segment of the type of the problem that was answered, such as
	// sold-out. It is empty if none was.
	Problem string
	// Client is the program that the request's token was issued to, if the token was valid.
	Client string
}

// requestKey is the key of the request's name in its context.
type requestKey struct{}

// RequestID is the Answer.Request of the request that a context belongs to, in all that
// is done for it: it is there, and true, if Options.Answered or Options.AccessLog are set.
func RequestID(ctx context.Context) (uuid.UUID, bool) {
	id, ok := ctx.Value(requestKey{}).(uuid.UUID)
	return id, ok
}

// knownMethod is a method, unless it is some client's own.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions,
		http.MethodConnect, http.MethodTrace:
		return method
	}
	return "OTHER"
}

// pattern is a route's path as [http.Request.Pattern] and the description have it.
func pattern(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		switch {
		case strings.HasPrefix(part, ":"):
			parts[i] = "{" + part[1:] + "}"
		case strings.HasPrefix(part, "*"):
			parts[i] = "{" + part[1:] + "...}"
		}
	}
	return strings.Join(parts, "/")
}
