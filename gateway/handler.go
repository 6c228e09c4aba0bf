package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/traintravel/traintravel"
)

// HandlerOptions configures NewHandler. The zero value works.
type HandlerOptions struct {
	// Logger logs requests that are refused for their signature, and errors of the
	// gateway, which responses do not contain. Nil logs nothing.
	Logger *slog.Logger

	// Timeout is how long the gateway may take. Zero means a minute. If the client
	// closes the connection, the gateway still gets that time to finish.
	Timeout time.Duration
}

type handler struct {
	gateway traintravel.PaymentGateway
	secrets ring
	log     *slog.Logger
	timeout time.Duration
}

// NewHandler returns a handler that serves a gateway to a [Client] with the same
// secret, at the root; for another path, wrap it in [http.StripPrefix]. It refuses
// requests without a valid signature, and calls the gateway only with valid sources and
// with amounts above zero. Any error of the gateway except [traintravel.ErrNotFound] means
// that the outcome is unknown, and so does a panic.
//
// The handler has no state. A request that arrives again, even if somebody recorded and
// replays it, does no harm, because a gateway acts once for each ID.
func NewHandler(gw traintravel.PaymentGateway, secret string, opts HandlerOptions) (http.Handler, error) {
	secrets, err := parseSecrets(secret)
	switch {
	case err != nil:
		return nil, &traintravel.InvalidError{Field: "secret", Reason: err.Error()}
	case gw == nil:
		return nil, &traintravel.InvalidError{Field: "gateway", Reason: "is missing"}
	case opts.Timeout < 0:
		return nil, &traintravel.InvalidError{Field: "HandlerOptions.Timeout", Reason: "is negative: want 0 or more"}
	}
	h := &handler{gw, secrets, opts.Logger, opts.Timeout}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	if h.timeout == 0 {
		h.timeout = time.Minute
	}
	return h, nil
}

// ServeHTTP answers a request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		p := invalid("the body cannot be read to its end")
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			p = tooLarge()
		}
		answer(w, p.status, problemMediaType, p.encode()) // unsigned: who asks is not known
		return
	}
	defer clear(body)
	id, err := h.secrets.verify(r.Header, time.Now(), r.Method+" "+r.URL.EscapedPath(), body)
	if err != nil {
		h.log.Warn("a request was refused", "reason", err, "from", r.RemoteAddr)
		p := badSignature(err.Error())
		answer(w, p.status, problemMediaType, p.encode())
		return
	}
	status, mediaType := http.StatusOK, "application/json"
	out, p := h.do(r, body)
	if p != nil {
		status, mediaType, out = p.status, problemMediaType, p.encode()
		if status == http.StatusMethodNotAllowed {
			w.Header().Set("Allow", p.detail)
		}
	}
	h.secrets.sign(w.Header(), id, time.Now(), strconv.Itoa(status), out)
	answer(w, status, mediaType, out)
}

func answer(w http.ResponseWriter, status int, mediaType string, body []byte) {
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // who does not hear it asks again
}

// methods are those of the operations: what is before an ID, and after it.
var methods = map[string]string{
	"charges/": http.MethodPut, "charges/cancel": http.MethodPost, "refunds/": http.MethodPut, "outcomes/": http.MethodGet,
}

// do does what a signed request asks for, and returns the outcome's body.
func (h *handler) do(r *http.Request, body []byte) ([]byte, *problem) {
	kind, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	text, action, _ := strings.Cut(rest, "/")
	operation := kind + "/" + action
	method, known := methods[operation]
	switch {
	case !known || strings.HasSuffix(rest, "/"):
		return nil, noOperation()
	case r.Method != method:
		return nil, badMethod(method)
	case r.URL.RawQuery != "":
		return nil, invalid("the query is missing")
	}
	id, err := parseID("the ID in the path", text)
	if err != nil {
		return nil, invalid(err.Error())
	}
	if method != http.MethodPut && len(body) > 0 {
		return nil, invalid("the body is missing")
	}
	if mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); method == http.MethodPut && (err != nil || mediaType != "application/json") {
		return nil, badMediaType()
	}
	var ask func(context.Context) (traintravel.Outcome, error)
	switch operation {
	case "charges/":
		c, err := decodeCharge(id, body)
		if err != nil {
			return nil, invalid(err.Error())
		}
		ask = func(ctx context.Context) (traintravel.Outcome, error) { return h.gateway.Charge(ctx, c) }
	case "refunds/":
		f, err := decodeRefund(id, body)
		if err != nil {
			return nil, invalid(err.Error())
		}
		ask = func(ctx context.Context) (traintravel.Outcome, error) { return h.gateway.Refund(ctx, f) }
	case "outcomes/":
		ask = func(ctx context.Context) (traintravel.Outcome, error) { return h.gateway.Lookup(ctx, id) }
	case "charges/cancel":
		c, ok := h.gateway.(traintravel.Canceller)
		if !ok {
			return nil, noCancel()
		}
		ask = func(ctx context.Context) (traintravel.Outcome, error) { return c.Cancel(ctx, id) }
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(r.Context()), h.timeout)
	defer stop()
	out, err := call(ctx, ask)
	if errors.Is(err, traintravel.ErrNotFound) && kind != "charges" {
		return nil, unknownID()
	}
	if errors.Is(err, errors.ErrUnsupported) && operation == "charges/cancel" {
		return nil, noCancel()
	}
	var b []byte
	if err == nil && kind == "charges" && out.Resolution != "" {
		err = fmt.Errorf("the gateway answered a charge with the resolution %.40q", out.Resolution)
	}
	if err == nil {
		b, err = encodeOutcome(id, out)
	}
	if err != nil {
		h.log.Error("the gateway returned no valid outcome", "operation", r.Method+" "+operation, "id", id, "error", err)
		return nil, unknownOutcome()
	}
	return b, nil
}

// call survives the gateway's panics.
func call(ctx context.Context, ask func(context.Context) (traintravel.Outcome, error)) (out traintravel.Outcome, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return ask(ctx)
}
