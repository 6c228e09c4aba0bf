package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// orderTime limits how long booking for all passengers, or undoing it, may take. It also
// continues if the browser disconnects, so that an order is not left half done.
const orderTime = 50 * time.Second

func (s *site) book(w http.ResponseWriter, r *http.Request, user *session) error {
	ids, all := postedOrder(r)
	if len(ids) == 0 || len(ids) > 2 {
		return errIncomplete
	}
	o := order{Passengers: all}
	do := r.PostFormValue("do")
	asked := len(all)
	if do == "add" {
		asked++
	}
	if text := tooMany(asked, len(ids)); text != "" {
		o.Passengers = all[:min(len(all), mostTogether/len(ids))]
		return s.showTrip(w, r, user, ids, o, &fault{Status: http.StatusBadRequest, Title: "Too many passengers", Text: text + " Nothing was booked."})
	}
	if len(all) == 0 {
		o.Passengers = party(1, false, false)
		o.Passengers[0].Wrong = true
		return s.showTrip(w, r, user, ids, o, &fault{Status: http.StatusBadRequest, Title: "No passenger", Text: "Enter the name of at least one passenger. Nothing was booked.", inputs: []string{"passenger"}})
	}
	switch do {
	case "add":
		o.Passengers = append(all, passenger{N: len(all) + 1})
		return s.showTrip(w, r, user, ids, o, nil)
	case "remove":
		o.Passengers = all[:max(1, len(all)-1)]
		return s.showTrip(w, r, user, ids, o, nil)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), orderTime)
	defer cancel()
	made, failed, kept, err := user.bookAll(ctx, ids, all, r.PostFormValue("key"))
	if !correctable(err) {
		if err == nil {
			s.tellOthers(user, r.PostFormValue("key"), made)
			s.redirect(w, r, payPath(made...))
		}
		return err
	}
	f := faultOf(err)
	all[failed].Wrong = f.Wrong("passenger")
	switch {
	case kept:
		f.Text += " Nothing new was booked. What you booked with this form before stays as it is: see My bookings."
	case len(all)*len(ids) > 1:
		f.Text += " Nothing was booked for anybody."
	}
	err2 := s.showTrip(w, r, user, ids, o, &f)
	if err2 != nil {
		return err
	}
	return nil
}

// tellOthers has the next page say so if a form that was sent before booked something else
// then: those bookings stay, and are not on the page that follows.
func (s *site) tellOthers(user *session, form string, ids []string) {
	sum := sha256.Sum256([]byte(user.name + form))
	name := hex.EncodeToString(sum[:])
	earlier, _ := s.orders.get(name, s.now())
	all := slices.Clone(ids)
	for _, id := range earlier {
		if !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	if len(all) > len(ids) {
		user.tell("You sent this form before. Bookings that it made then are not on this page: see My bookings.")
	}
	s.orders.put(name, all[:min(len(all), 4*mostTogether)], s.now())
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

// bookAll books trips for passengers, each by itself. If one is refused it cancels what this
// request has made, and nothing else, and says for which passenger; kept says whether
// bookings of an earlier request with the same form stay.
func (s *session) bookAll(ctx context.Context, trips []string, all []passenger, form string) (ids []string, failed int, kept bool, err error) {
	var made []string
	same := map[newBooking]int{}
	for _, trip := range trips {
		for i, p := range all {
			ask := newBooking{TripID: trip, PassengerName: p.Name, HasBicycle: p.Bicycle, HasDog: p.Dog}
			same[ask]++
			b, before, err := s.bookOne(ctx, ask, form, same[ask])
			if err != nil {
				return nil, i, len(made) < len(ids), cmp.Or(s.undo(ctx, made, err), err)
			}
			if ids = append(ids, b.ID); !before {
				made = append(made, b.ID)
			}
		}
	}
	return ids, 0, false, nil
}

// mostAttempts bounds how often one form books the same again after the booking ended.
const mostAttempts = 10

// bookOne books for one passenger: once, however often the same form is sent, but anew if
// what the form booked earlier is over. The key is that of the form, what is asked for, the
// how manieth of the same passengers it is, and the attempt: it never stands for two
// different things.
func (s *session) bookOne(ctx context.Context, ask newBooking, form string, nth int) (b booking, before bool, err error) {
	for attempt := range mostAttempts {
		key := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %t %t %d %d", form, ask.TripID, ask.PassengerName, ask.HasBicycle, ask.HasDog, nth, attempt))
		if b, before, err = s.api.book(ctx, ask, hex.EncodeToString(key[:])); err != nil || !before {
			return b, before, err
		}
		now, err := s.api.booking(ctx, b.ID)
		if err != nil && !missing(err) {
			return b, before, err
		}
		if err == nil && now.Over == nil {
			return b, before, nil
		}
	}
	return b, false, errFormUsed
}

// undo cancels bookings because of an error, unless they are paid or under payment by now.
// It returns another error if that did not work.
func (s *session) undo(ctx context.Context, made []string, because error) error {
	for _, id := range made {
		b, err := s.api.booking(ctx, id)
		if missing(err) || err == nil && b.Over != nil {
			continue
		}
		if err == nil && b.State() != held {
			err = errors.New("it is not only held any more")
		}
		if err == nil {
			err = s.api.cancel(ctx, id, b.ETag)
		}
		if err != nil && !missing(err) {
			return fmt.Errorf("%w: %w, and a booking was not cancelled: %w", errHalfBooked, because, err)
		}
	}
	return nil
}
