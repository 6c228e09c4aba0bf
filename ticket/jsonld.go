package ticket

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/traintravel/traintravel"
)

// JSONLD returns a TrainReservation of schema.org for each given leg, counted from zero, or
// for all legs if none is given: an object for one leg, an array for several. Times have the
// UTC offset of the station. The first leg has the price of the whole booking. The token is
// the container, in the form in which KDE Itinerary writes binary Aztec codes.
func (i *Issuer) JSONLD(t traintravel.Ticket, legs ...int) ([]byte, error) {
	legs, err := chosen(t, legs)
	if err != nil {
		return nil, err
	}
	var all []reservation
	for _, leg := range legs {
		r, err := i.reservation(t, leg)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	if len(all) == 1 {
		return json.Marshal(all[0])
	}
	return json.Marshal(all)
}

// The types of schema.org that are written.
type (
	reservation struct {
		Context  string     `json:"@context"`
		Type     string     `json:"@type"`
		Number   string     `json:"reservationNumber"`
		ID       string     `json:"reservationId"`
		Status   string     `json:"reservationStatus"`
		Booked   string     `json:"bookingTime"`
		Under    thing      `json:"underName"`
		For      trainTrip  `json:"reservationFor"`
		Ticket   ticketItem `json:"reservedTicket"`
		Price    string     `json:"totalPrice,omitempty"`
		Currency string     `json:"priceCurrency,omitempty"`
		Notes    string     `json:"description,omitempty"`
	}
	thing struct {
		Type string `json:"@type"`
		Name string `json:"name"`
	}
	trainTrip struct {
		Type        string  `json:"@type"`
		Number      string  `json:"trainNumber,omitempty"`
		Provider    thing   `json:"provider"`
		Origin      station `json:"departureStation"`
		Departs     string  `json:"departureTime"`
		Destination station `json:"arrivalStation"`
		Arrives     string  `json:"arrivalTime"`
	}
	station struct {
		thing
		Identifier string   `json:"identifier"`
		Address    *address `json:"address,omitempty"`
		Geo        *geo     `json:"geo,omitempty"`
	}
	address struct {
		Type    string `json:"@type"`
		Street  string `json:"streetAddress,omitempty"`
		Country string `json:"addressCountry,omitempty"`
	}
	geo struct {
		Type      string  `json:"@type"`
		Latitude  float64 `json:"latitude"`
		Longitude float64 `json:"longitude"`
	}
	ticketItem struct {
		thing
		Token string `json:"ticketToken"`
		Seat  *seat  `json:"ticketedSeat,omitempty"`
	}
	seat struct {
		Type   string `json:"@type"`
		Number string `json:"seatNumber"`
		Coach  string `json:"seatSection"`
	}
)

func (i *Issuer) reservation(t traintravel.Ticket, leg int) (reservation, error) {
	container, err := i.Container(t, leg)
	if err != nil {
		return reservation{}, err
	}
	b, ride := &t.Booking, t.Booking.Legs[leg]
	r := reservation{
		Context: "http://schema.org", Type: "TrainReservation",
		Number: ReferenceOf(*b), ID: b.ID.String(), Status: "http://schema.org/ReservationConfirmed",
		Booked: t.Paid.UTC().Format(time.RFC3339),
		Under:  thing{"Person", b.PassengerName},
		For: trainTrip{
			Type: "TrainTrip", Number: ride.Number, Provider: thing{"Organization", ride.Operator},
			Origin: stationLD(t, ride.Origin), Departs: ride.Origin.Time.Format(time.RFC3339),
			Destination: stationLD(t, ride.Destination), Arrives: ride.Destination.Time.Format(time.RFC3339),
		},
		Ticket: ticketItem{
			thing: thing{"Ticket", trainName(ride)},
			Token: "aztecbin:" + base64.StdEncoding.EncodeToString(container),
		},
	}
	if ride.Seat > 0 {
		r.Ticket.Seat = &seat{"Seat", strconv.Itoa(ride.Seat), ride.Coach}
	}
	if leg == 0 {
		r.Price, r.Currency = b.Price.Decimal(), strings.ToUpper(b.Price.Currency)
	}
	if with := extras(*b); with != "" {
		r.Notes = "With: " + with
	}
	return r, nil
}

// stationLD is a station as the leg has it, with what the timetable knows of it.
func stationLD(t traintravel.Ticket, stop traintravel.Stop) station {
	s := station{thing: thing{"TrainStation", stop.Name}, Identifier: stop.Station.URN()}
	if known, ok := t.Stations[stop.Station]; ok {
		s.Identifier = known.ID.URN()
		s.Geo = &geo{"GeoCoordinates", known.Latitude, known.Longitude}
		if known.Country == traintravel.UnknownCountry {
			known.Country = ""
		}
		if known.Address != "" || known.Country != "" {
			s.Address = &address{"PostalAddress", known.Address, known.Country}
		}
	}
	return s
}
