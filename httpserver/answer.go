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
	// Request identifies the request in all log messages about it. It is the instance of the
	// problem in the response.
	Request uuid.UUID
	// Method is the method of the request, or "OTHER" if it is not an HTTP method.
	Method string
	// Route is the path of the operation with the names of its parameters in braces,
	// such as /bookings/{bookingId}. It is empty if the request fits none.
	Route string
	// Status is the status of the response, zero if the server closed the connection before,
	// or the client did while the request waited or was processed.
	Status int
	// Bytes is the length of the response body.
	Bytes int
	// Took is the time until the response was written to the connection.
	Took time.Duration
	// Problem is the last segment of the type of the problem in the response, such as
	// sold-out. It is empty for other responses.
	Problem string
	// Client is the program that the request's token was issued to, if the token was valid.
	Client string
}

// requestKey is the key of the request's name in its context.
type requestKey struct{}

// RequestID returns the Answer.Request of the request that a context belongs to. It returns
// false unless Options.Answered or Options.AccessLog is set.
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
