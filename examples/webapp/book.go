package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// orderTime is how long it may take to book for all, or to undo that, however soon the
// browser gives up: an order is never left half done.
const orderTime = 50 * time.Second

func (s *site) book(w http.ResponseWriter, r *http.Request, user *session) error {
	ids, all := postedOrder(r)
	if len(ids) == 0 || len(ids) > 2 || len(all)*len(ids) > mostTogether {
		return errForged // no form of ours
	}
	o := order{Passengers: all}
	switch r.PostFormValue("do") {
	case "add":
		o.Passengers = append(all, passenger{N: len(all) + 1})
		return s.showTrip(w, r, user, ids, o, nil)
	case "remove":
		o.Passengers = all[:max(1, len(all)-1)]
		return s.showTrip(w, r, user, ids, o, nil)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), orderTime)
	defer cancel()
	made, failed, err := user.bookAll(ctx, ids, all, r.PostFormValue("key"))
	if !correctable(err) {
		if err == nil {
			http.Redirect(w, r, payPath(made...), http.StatusSeeOther)
		}
		return err
	}
	f := faultOf(err)
	all[failed].Wrong = f.Wrong("passenger")
	if len(all)*len(ids) > 1 {
		f.Text += " Nothing was booked for anybody."
	}
	err2 := s.showTrip(w, r, user, ids, o, &f)
	if err2 != nil {
		return err
	}
	return nil
}

// postedOrder reads the form that books.
func postedOrder(r *http.Request) (ids []string, all []passenger) {
	_ = r.PostFormValue("") // parses the form
	for i, name := range r.PostForm["passenger"] {
		n := strconv.Itoa(i + 1)
		all = append(all, passenger{
			N: i + 1, Name: name, Bicycle: slices.Contains(r.PostForm["bicycle"], n), Dog: slices.Contains(r.PostForm["dog"], n),
		})
	}
	return r.PostForm["trip"], all
}

// bookAll books trips for passengers, each by itself, and cancels those that it has made
// if one is refused: then it says for which passenger.
func (s *session) bookAll(ctx context.Context, trips []string, all []passenger, key string) (made []string, failed int, err error) {
	for _, trip := range trips {
		for i, p := range all {
			b, err := s.api.book(ctx, newBooking{TripID: trip, PassengerName: p.Name, HasBicycle: p.Bicycle, HasDog: p.Dog}, key+"-"+strconv.Itoa(len(made)))
			if err != nil {
				return nil, i, cmp.Or(s.undo(ctx, made, err), err)
			}
			made = append(made, b.ID)
		}
	}
	return made, 0, nil
}

// undo cancels bookings because of an error. It returns another one if that did not work.
func (s *session) undo(ctx context.Context, made []string, because error) error {
	for _, id := range made {
		if err := s.api.cancel(ctx, id, ""); err != nil {
			return fmt.Errorf("%w: %w, and a booking was not cancelled: %w", errHalfBooked, because, err)
		}
	}
	return nil
}
