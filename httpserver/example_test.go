package httpserver_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/httpserver"
	"github.com/traintravel/traintravel/store/memstore"
)

// sessions knows the tokens that your program has given out.
type sessions map[string]string

// Authenticate returns the user that a token stands for.
func (s sessions) Authenticate(_ context.Context, token string) (httpserver.Identity, error) {
	user, ok := s[token]
	if !ok {
		return httpserver.Identity{}, httpserver.ErrInvalidToken
	}
	caller := traintravel.Caller{Subject: traintravel.Subject{Issuer: "my shop", ID: user}, Client: "my shop"}
	return httpserver.Identity{Caller: caller, Read: true, Write: true}, nil
}

// A program with tokens of its own serves the API of its service below a path of its mux. Package
// trainserver wires the rest too: keys, tickets, webhooks and tokens.
func ExampleNew() {
	service, err := traintravel.New(memstore.New(), traintravel.Options{})
	if err != nil {
		log.Fatal(err)
	}
	api, err := httpserver.New(service, httpserver.Options{
		BaseURL: "https://shop.example/trains", Auth: sessions{"secret-of-anna": "anna"},
	})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/trains/", api)

	r := httptest.NewRequest("GET", "/trains/bookings", nil)
	r.Header.Set("Authorization", "Bearer secret-of-anna")
	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, r)
	fmt.Println(answer.Code, answer.Body)
	// Output: 200 {"data":[],"links":{"self":"https://shop.example/trains/bookings"}}
}
