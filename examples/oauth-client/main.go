// Command oauth-client is an application that books for its user. The user signs in by
// the authorization code flow with PKCE; then the program searches, books, pays and
// cancels over HTTP. It needs a server:
//
//	go run ./cmd/traintravel serve
//	go run ./examples/oauth-client
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/traintravel/traintravel/httpserver/authserver"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "oauth-client:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("oauth-client", flag.ContinueOnError)
	server := flags.String("server", "http://127.0.0.1:8080", "`URL` of the server")
	client := flags.String("client", authserver.DemoClient, "`ID` of this application at the authorization server")
	date := flags.String("date", time.Now().AddDate(0, 0, 1).Format(time.DateOnly), "`day` to travel")
	if err := flags.Parse(args); err != nil {
		return err
	}

	plain := &http.Client{
		Timeout: 30 * time.Second,
		// Do not follow redirects: the token is only for this server.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	ctx = context.WithValue(ctx, oauth2.HTTPClient, plain)
	tokens, err := signIn(ctx, plain, *server, *client, out)
	if err != nil {
		return fmt.Errorf("signing in: %w", err)
	}
	// The token source refreshes the access token when it is about to expire.
	signedIn := *plain
	signedIn.Transport = &oauth2.Transport{Source: tokens}
	return travel(ctx, &api{*server, &signedIn}, *date, out)
}

// travel uses the API in the user's name.
func travel(ctx context.Context, api *api, date string, out io.Writer) error {
	origin, err := api.station(ctx, "berlin")
	if err != nil {
		return err
	}
	destination, err := api.station(ctx, "paris gare du nord")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s to %s on %s\n", origin.Name, destination.Name, date)

	var trips collection[trip]
	query := url.Values{"origin": {origin.ID}, "destination": {destination.ID}, "date": {date}}
	if err := api.call(ctx, http.MethodGet, "/trips?"+query.Encode(), nil, &trips); err != nil {
		return err
	}
	if len(trips.Data) == 0 {
		return errors.New("no trips found: choose another date")
	}
	for _, t := range trips.Data {
		fmt.Fprintf(out, "  %s  %s %s  %s\n", t.Departure.Format("15:04"), t.Price, t.Currency, t.Operator)
	}

	first := trips.Data[0]
	var made booking
	err = api.call(ctx, http.MethodPost, "/bookings", newBooking{TripID: first.ID, PassengerName: "Anna Example"}, &made)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "booked for %s\n", made.PassengerName)

	var paid payment
	err = api.call(ctx, http.MethodPost, "/bookings/"+made.ID+"/payment", newPayment{
		Amount: first.Price, Currency: first.Currency,
		Source: card{
			Object: "card", Name: "Anna Example", Number: "4242424242424242", CVC: "123", // a test card
			ExpMonth: 12, ExpYear: 2099, AddressCountry: "DE",
		},
	}, &paid)
	if err != nil {
		return err
	}
	if paid.Status != "succeeded" { // a declined card is an answer, not an error
		return fmt.Errorf("the payment is %s: %s", paid.Status, strings.TrimSpace(paid.Failure.Message))
	}
	fmt.Fprintf(out, "paid %s %s\n", paid.Amount, paid.Currency)

	if err := api.call(ctx, http.MethodDelete, "/bookings/"+made.ID, nil, nil); err != nil {
		return err
	}
	fmt.Fprintln(out, "cancelled; the money is refunded")
	return nil
}
