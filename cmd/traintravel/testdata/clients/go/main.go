// Searches, books, pays and cancels with the client that oapi-codegen has made.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"slices"

	"github.com/google/uuid"

	"traintravel.example/client/api"
)

func main() {
	log.SetFlags(0)
	base, day := os.Args[1], os.Args[2]
	client, err := api.NewClientWithResponses(base, api.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+os.Getenv("TOKEN"))
		return nil
	}))
	if err != nil {
		log.Fatal(err)
	}
	if err := travel(context.Background(), client, day); err != nil {
		log.Fatal(err)
	}
}

func station(ctx context.Context, client *api.ClientWithResponses, search string) (api.Id, error) {
	found, err := client.GetStationsWithResponse(ctx, &api.GetStationsParams{Search: &search})
	if err != nil {
		return api.Id{}, err
	}
	if found.JSON200 == nil || len(found.JSON200.Data) == 0 {
		return api.Id{}, fmt.Errorf("no station %q: %s", search, found.Status())
	}
	return found.JSON200.Data[0].Id, nil
}

func travel(ctx context.Context, client *api.ClientWithResponses, day string) error {
	berlin, err := station(ctx, client, "berlin hbf")
	if err != nil {
		return err
	}
	paris, err := station(ctx, client, "paris gare du nord")
	if err != nil {
		return err
	}
	trips, err := client.GetTripsWithResponse(ctx, &api.GetTripsParams{Origin: berlin, Destination: paris, Date: day})
	if err != nil {
		return err
	}
	if trips.JSON200 == nil || len(trips.JSON200.Data) == 0 {
		return fmt.Errorf("no trips: %s", trips.Status())
	}
	trip := trips.JSON200.Data[0]

	key := uuid.NewString()
	var booking *api.Booking
	for range 2 { // the same booking, with the same key
		made, err := client.CreateBookingWithResponse(ctx, &api.CreateBookingParams{IdempotencyKey: &key},
			api.NewBooking{TripId: trip.Id, PassengerName: "Anna Example"})
		if err != nil {
			return err
		}
		if made.JSON201 == nil || booking != nil && booking.Id != made.JSON201.Id {
			return fmt.Errorf("not booked, or twice: %s", made.Status())
		}
		booking = made.JSON201
	}
	payment, err := pay(ctx, client, trip, booking)
	if err != nil {
		return err
	}
	if err := cancel(ctx, client, booking, payment); err != nil {
		return err
	}
	fmt.Println(booking.Id)
	return nil
}

func pay(ctx context.Context, client *api.ClientWithResponses, trip api.Trip, booking *api.Booking) (*api.Payment, error) {
	object := api.CardObjectCard
	var source api.PaymentSource
	if err := source.FromCard(api.Card{Object: &object, Name: "Anna Example", Number: "4242424242424242", Cvc: "123",
		ExpMonth: 12, ExpYear: 2040, AddressCountry: "DE"}); err != nil {
		return nil, err
	}
	paid, err := client.CreateBookingPaymentWithResponse(ctx, booking.Id, nil,
		api.NewPayment{Amount: trip.Price, Currency: trip.Currency, Source: source})
	if err != nil {
		return nil, err
	}
	if paid.JSON200 == nil || paid.JSON200.Status != api.PaymentStatusSucceeded {
		return nil, fmt.Errorf("not paid: %s %s", paid.Status(), paid.Body)
	}
	if card, err := paid.JSON200.Source.AsMaskedCard(); err != nil || card.ExpYear != 2040 {
		return nil, fmt.Errorf("paid with %+v: %v", card, err)
	}
	now, err := client.GetBookingWithResponse(ctx, booking.Id, nil)
	if err != nil {
		return nil, err
	}
	if now.JSON200 == nil || now.JSON200.Links.Ticket == nil {
		return nil, fmt.Errorf("no ticket: %s %s", now.Status(), now.Body)
	}
	return paid.JSON200, nil
}

func cancel(ctx context.Context, client *api.ClientWithResponses, booking *api.Booking, payment *api.Payment) error {
	cancelled, err := client.DeleteBookingWithResponse(ctx, booking.Id, nil)
	if err != nil {
		return err
	}
	if cancelled.StatusCode() != http.StatusNoContent {
		return fmt.Errorf("not cancelled: %s %s", cancelled.Status(), cancelled.Body)
	}
	payments, err := client.GetBookingPaymentsWithResponse(ctx, booking.Id, nil)
	if err != nil {
		return err
	}
	if payments.JSON200 == nil || !slices.ContainsFunc(payments.JSON200.Data, func(p api.PaymentOrRefund) bool {
		refund, err := p.AsRefund()
		return err == nil && refund.RefundOf == payment.Id
	}) {
		return fmt.Errorf("no refund: %s %s", payments.Status(), payments.Body)
	}
	gone, err := client.GetBookingWithResponse(ctx, booking.Id, nil)
	if err != nil {
		return err
	}
	if gone.ApplicationproblemJSON404 == nil {
		return fmt.Errorf("still there: %s", gone.Status())
	}
	return nil
}
