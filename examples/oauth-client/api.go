package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// The types of the API that this program uses. Amounts stay decimal numbers.
type (
	collection[T any] struct {
		Data []T `json:"data"`
	}
	station struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}
	trip struct {
		ID        string      `json:"id"`
		Departure time.Time   `json:"departure_time"`
		Operator  string      `json:"operator"`
		Price     json.Number `json:"price"`
		Currency  string      `json:"currency"`
	}
	newBooking struct {
		TripID        string `json:"trip_id"`
		PassengerName string `json:"passenger_name"`
	}
	booking struct {
		ID            string `json:"id"`
		PassengerName string `json:"passenger_name"`
	}
	newPayment struct {
		Amount   json.Number `json:"amount"`
		Currency string      `json:"currency"`
		Source   card        `json:"source"`
	}
	card struct {
		Object         string `json:"object"`
		Name           string `json:"name"`
		Number         string `json:"number"`
		CVC            string `json:"cvc"`
		ExpMonth       int    `json:"exp_month"`
		ExpYear        int    `json:"exp_year"`
		AddressCountry string `json:"address_country"`
	}
	payment struct {
		Amount   json.Number `json:"amount"`
		Currency string      `json:"currency"`
		Status   string      `json:"status"`
		Failure  struct {
			Message string `json:"message"`
		} `json:"failure"`
	}
)

// A problem is an error of the API (RFC 9457).
type problem struct {
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
}

func (p *problem) Error() string { return fmt.Sprintf("%d %s: %s", p.Status, p.Title, p.Detail) }

// api is the server with a user's tokens.
type api struct {
	server string
	client *http.Client
}

// call sends a request, with a body unless that is nil, and reads the answer
// unless nobody wants it.
func (a *api) call(ctx context.Context, method, path string, body, answer any) error {
	var send io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		send = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, a.server+path, send)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return do(a.client, req, answer)
}

const maxAnswer = 1 << 20

func do(client *http.Client, req *http.Request, answer any) error {
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return err
	}
	if resp.StatusCode >= 300 {
		p := &problem{Title: http.StatusText(resp.StatusCode)}
		_ = json.Unmarshal(text, p) // if it is one
		p.Status = resp.StatusCode
		return fmt.Errorf("%s %s: %w", req.Method, req.URL.Path, p)
	}
	if answer == nil {
		return nil
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return fmt.Errorf("%s %s: %w", req.Method, req.URL.Path, err)
	}
	return nil
}

// station finds a station by words of its name.
func (a *api) station(ctx context.Context, name string) (station, error) {
	var found collection[station]
	if err := a.call(ctx, http.MethodGet, "/stations?"+url.Values{"search": {name}}.Encode(), nil, &found); err != nil {
		return station{}, err
	}
	if len(found.Data) == 0 {
		return station{}, fmt.Errorf("station %q not found", name)
	}
	return found.Data[0], nil
}
