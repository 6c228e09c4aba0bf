package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// What the API takes and gives, as far as it is used here. Amounts stay the decimal
// numbers that they are: a float would round them.
type (
	list[T any] struct {
		Data  []T `json:"data"`
		Links struct {
			Next string `json:"next"`
			Prev string `json:"prev"`
		} `json:"links"`
	}
	station struct {
		ID       string `json:"id"`
		Name     string `json:"name"`
		Address  string `json:"address"`
		Country  string `json:"country_code"`
		Timezone string `json:"timezone"`
	}
	// A ride goes from one station to another. Its times carry the offsets of the
	// stations' own clocks, so they are shown as they come.
	ride struct {
		Origin      string    `json:"origin"`
		Destination string    `json:"destination"`
		Departure   time.Time `json:"departure_time"`
		Arrival     time.Time `json:"arrival_time"`
		Operator    string    `json:"operator"`
	}
	// A calling is a stop of a train. Times are nil at the ends.
	calling struct {
		Name      string     `json:"name"`
		Arrival   *time.Time `json:"arrival_time"`
		Departure *time.Time `json:"departure_time"`
	}
	leg struct {
		ride
		Train           string    `json:"train"`
		Calls           []calling `json:"calls"`       // of one trip alone
		OriginName      string    `json:"origin_name"` // of what was sold alone
		DestinationName string    `json:"destination_name"`
		Coach           string    `json:"coach"` // this and what follows: in tickets alone
		Seat            int       `json:"seat"`
	}
	price struct {
		Amount   json.Number `json:"price"`
		Currency string      `json:"currency"`
	}
	trip struct {
		ride
		price
		ID       string `json:"id"`
		Bicycles *bool  `json:"bicycles_allowed"` // nil is not known
		Dogs     *bool  `json:"dogs_allowed"`
		Seats    *int   `json:"seats_available"` // nil is unreserved
		Legs     []leg  `json:"legs"`
		Terms    string `json:"refund_terms"` // of one trip alone
	}
	newBooking struct {
		TripID        string `json:"trip_id"`
		PassengerName string `json:"passenger_name"`
		HasBicycle    bool   `json:"has_bicycle"`
		HasDog        bool   `json:"has_dog"`
	}
	booking struct {
		newBooking
		ID        string `json:"id"`
		Reference string `json:"reference"`
		Over      *over  `json:"over"` // nil unless the booking is over
		Links     struct {
			Trip     string `json:"trip"`
			Payment  string `json:"payment"`
			Payments string `json:"payments"`
			Ticket   string `json:"ticket"`
		} `json:"links"`
		Until time.Time `json:"-"` // when the hold ends; zero if it does not
		ETag  string    `json:"-"`
	}
	// over is how a booking ended.
	over struct {
		Outcome string    `json:"outcome"`
		At      time.Time `json:"at"` // zero if not known
		By      string    `json:"cancelled_by"`
		Train   string    `json:"train"`
		Legs    []leg     `json:"legs"` // as sold
		Refunds []refund  `json:"refunds"`
	}
	refund struct {
		amount
		Status    string    `json:"status"`
		Requested time.Time `json:"requested_at"`
		Settled   time.Time `json:"settled_at"`
	}
	// An amount is what a payment or a refund moves. It has another name than in a price.
	amount struct {
		Amount   json.Number `json:"amount"`
		Currency string      `json:"currency"`
	}
	card struct {
		Object   string `json:"object"`
		Name     string `json:"name"`
		Number   string `json:"number"`
		CVC      string `json:"cvc"`
		ExpMonth int    `json:"exp_month"`
		ExpYear  int    `json:"exp_year"`
		Country  string `json:"address_country"`
	}
	newPayment struct {
		amount
		Source card `json:"source"`
	}
	payment struct {
		amount
		Status   string `json:"status"`
		RefundOf string `json:"refund_of"` // empty unless it is a refund
		Source   struct {
			Number string `json:"number"` // masked
		} `json:"source"`
		Failure struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"failure"`
	}
	ticket struct {
		price
		Reference string    `json:"reference"`
		PaidAt    time.Time `json:"paid_at"`
		Legs      []leg     `json:"legs"`
	}
)

// Money is the amount as pages show it.
func (a amount) Money() price { return price(a) }

// An api is the API in the name of one user: client adds the access token.
type api struct {
	base   string
	client *http.Client
}

// A call is one request.
type call struct {
	method, path string
	query        url.Values
	accept       string // empty is JSON
	key          string // Idempotency-Key
	ifMatch      string
	body         any // sent as JSON unless it is nil
}

func (a *api) stations(ctx context.Context, words string, limit int) (list[station], error) {
	q := url.Values{"search": {words}, "limit": {strconv.Itoa(limit)}}
	return get[list[station]](ctx, a, "/stations", q)
}

func (a *api) station(ctx context.Context, id string) (station, error) {
	return get[station](ctx, a, "/stations/"+url.PathEscape(id), nil)
}

func (a *api) trips(ctx context.Context, q url.Values) (list[trip], error) {
	return get[list[trip]](ctx, a, "/trips", q)
}

func (a *api) trip(ctx context.Context, id string) (trip, error) {
	return get[trip](ctx, a, "/trips/"+url.PathEscape(id), nil)
}

func (a *api) bookings(ctx context.Context, q url.Values) (list[booking], error) {
	return get[list[booking]](ctx, a, "/bookings", q)
}

// booking also says until when the places are held, and what to send in If-Match.
func (a *api) booking(ctx context.Context, id string) (b booking, err error) {
	header, err := a.call(ctx, call{method: http.MethodGet, path: bookingPath(id)}, &b)
	if missing(err) { // it may be over
		return a.pastBooking(ctx, id)
	}
	b.Until, _ = http.ParseTime(header.Get("Sunset"))
	b.ETag = header.Get("ETag")
	return b, err
}

// pastBooking is a booking that is over, and says how it ended.
func (a *api) pastBooking(ctx context.Context, id string) (booking, error) {
	return get[booking](ctx, a, bookingPath(id), url.Values{"over": {"true"}})
}

func (a *api) payment(ctx context.Context, id string) (payment, error) {
	return get[payment](ctx, a, bookingPath(id)+"/payment", nil)
}

// charges are the payments of a booking that went through. A booking has few.
func (a *api) charges(ctx context.Context, id string) (all []payment, err error) {
	return a.attempts(ctx, id, "succeeded")
}

// attempts are the payments of a booking that have this status, without refunds.
func (a *api) attempts(ctx context.Context, id, status string) (all []payment, err error) {
	found, err := get[list[payment]](ctx, a, bookingPath(id)+"/payments", url.Values{"limit": {"100"}})
	for _, p := range found.Data {
		if p.Status == status && p.RefundOf == "" {
			all = append(all, p)
		}
	}
	return all, err
}

func (a *api) ticket(ctx context.Context, id string) (ticket, error) {
	return get[ticket](ctx, a, bookingPath(id)+"/ticket", nil)
}

// book also says whether the API had made the booking before, for an earlier request with
// the same key.
func (a *api) book(ctx context.Context, b newBooking, key string) (made booking, before bool, err error) {
	header, err := a.call(ctx, call{method: http.MethodPost, path: "/bookings", key: key, body: b}, &made)
	return made, header.Get("Idempotency-Replayed") == "true", err
}

func (a *api) pay(ctx context.Context, id string, p newPayment, key string) (made payment, err error) {
	err = a.post(ctx, bookingPath(id)+"/payment", key, p, &made)
	return made, err
}

// cancel ends a booking if it still is as the tag says.
func (a *api) cancel(ctx context.Context, id, tag string) error {
	_, err := a.call(ctx, call{method: http.MethodDelete, path: bookingPath(id), ifMatch: tag}, nil)
	return err
}

// ticketFile is a ticket in some form.
func (a *api) ticketFile(ctx context.Context, id, accept, leg string) ([]byte, error) {
	c := call{method: http.MethodGet, path: bookingPath(id) + "/ticket", accept: accept}
	if leg != "" {
		c.query = url.Values{"leg": {leg}}
	}
	var file []byte
	_, err := a.call(ctx, c, &file)
	return file, err
}

func bookingPath(id string) string { return "/bookings/" + url.PathEscape(id) }

func get[T any](ctx context.Context, a *api, path string, query url.Values) (answer T, err error) {
	_, err = a.call(ctx, call{method: http.MethodGet, path: path, query: query}, &answer)
	return answer, err
}

// post does something once, however often it is asked for with the same key.
func (a *api) post(ctx context.Context, path, key string, body, answer any) error {
	_, err := a.call(ctx, call{method: http.MethodPost, path: path, key: key, body: body}, answer)
	return err
}

const maxAnswer = 4 << 20

// call sends a request and reads the answer: JSON, or all of it into a []byte.
// What is not a success is a *problem.
func (a *api) call(ctx context.Context, c call, answer any) (http.Header, error) {
	var send io.Reader
	if c.body != nil {
		text, err := json.Marshal(c.body)
		if err != nil {
			return nil, err
		}
		send = bytes.NewReader(text)
	}
	target := a.base + c.path
	if len(c.query) > 0 {
		target += "?" + c.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, c.method, target, send)
	if err != nil {
		return nil, err
	}
	accept := c.accept
	if accept == "" {
		accept = "application/json"
	}
	// Problems come in JSON, whatever else is asked for.
	for name, value := range map[string]string{"Accept": accept, "Idempotency-Key": c.key, "If-Match": c.ifMatch} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	if c.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return nil, err
	}
	return resp.Header, read(resp, answer)
}

// read reads an answer, and closes it.
func read(resp *http.Response, answer any) error {
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return err
	}
	where := resp.Request.Method + " " + resp.Request.URL.Path
	if resp.StatusCode >= 300 {
		p := &problem{Title: http.StatusText(resp.StatusCode)}
		_ = json.Unmarshal(text, p) // if it is one
		p.Status = resp.StatusCode
		p.retryAfter = resp.Header.Get("Retry-After")
		return fmt.Errorf("%s: %w", where, p)
	}
	switch answer := answer.(type) {
	case nil:
		return nil
	case *[]byte:
		*answer = text
		return nil
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return fmt.Errorf("%s: the answer is not what was expected: %w", where, err)
	}
	return nil
}

// A problem is how the API says what went wrong (RFC 9457).
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	Errors []struct {
		Pointer   string `json:"pointer"`
		Parameter string `json:"parameter"`
		Detail    string `json:"detail"`
	} `json:"errors"`
	retryAfter string
}

func (p *problem) Error() string {
	return strings.TrimSuffix(fmt.Sprintf("%d %s: %s", p.Status, p.Title, p.Detail), ": ")
}

// slug is the last part of the type: the name that the problem goes by.
func (p *problem) slug() string { return p.Type[strings.LastIndex(p.Type, "/")+1:] }

// missing says whether the API has not found what it was asked for.
func missing(err error) bool {
	p, ok := errors.AsType[*problem](err)
	return ok && p.Status == http.StatusNotFound
}
