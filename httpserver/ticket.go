package httpserver

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/traintravel/traintravel/ticket"
)

var ticketParams = []string{"leg"}

func (s *Server) oneTicket(x *exchange) error {
	q := x.query(ticketParams)
	leg := q.count("leg", 0)
	id, err := x.id("bookingId")
	if err = errors.Join(err, q.problem()); err != nil {
		return err
	}
	t, err := s.service.Ticket(x.ctx(), x.by, id)
	if err != nil {
		return err
	}
	name := "ticket-" + ticket.ReferenceOf(t.Booking)
	var legs []int
	if leg > 0 {
		if leg > len(t.Booking.Legs) {
			q.wrong("leg", "is greater than the number of legs of the ticket")
			return q.problem()
		}
		legs = []int{leg - 1}
		name += "-leg-" + strconv.Itoa(leg) // as it may be sent with zeros before it
	}
	b, err := s.ticketsMade.get(x.ctx(), x.who, ticketFile{id, x.ticket.mediaType, leg, x.base}, t, func() ([]byte, error) {
		return x.ticket.render(s.tickets, t, legs, x.base)
	})
	if err != nil {
		return err
	}
	x.set("Content-Disposition", `inline; filename="`+name+"."+x.ticket.ending+`"`)
	x.shared, x.own = b, true
	x.write(http.StatusOK, x.ticket.sent, x.route.cache)
	return nil
}
