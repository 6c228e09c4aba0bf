package ticket_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/store/memstore"
	"github.com/traintravel/traintravel/ticket"
)

// A service that is told so books under no name that its tickets cannot show, and says
// which character that is.
func TestCheckName(t *testing.T) {
	t.Parallel()
	service, err := traintravel.New(memstore.New(), traintravel.Options{CheckName: ticket.CheckName})
	if err != nil {
		t.Fatal(err)
	}
	anna := traintravel.Caller{Subject: traintravel.Subject{Issuer: "i", ID: "anna"}}
	for name, refused := range map[string]bool{"Anna 🚆": true, "Anna": false, "李": false, "Ζωή": false} {
		_, err := service.CreateBooking(t.Context(), anna, traintravel.NewBooking{TripID: uuid.New(), PassengerName: name})
		invalid, ok := errors.AsType[*traintravel.InvalidError](err)
		if ok != refused || refused && (invalid.Field != "passenger_name" || !strings.Contains(err.Error(), "U+1F686")) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
