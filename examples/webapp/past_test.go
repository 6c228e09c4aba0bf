package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// withdraw has the operator cancel the train of one of anna's bookings.
func (rw *railway) withdraw(t *testing.T, booking string) {
	t.Helper()
	id := uuid.MustParse(strings.TrimPrefix(booking, "/bookings/"))
	b, err := rw.service.Booking(t.Context(), traintravel.Caller{Subject: traintravel.Subject{Issuer: rw.URL, ID: "anna"}}, id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rw.service.CancelRun(t.Context(), b.Legs[0].Run, traintravel.CancelRunOptions{}); err != nil {
		t.Fatal(err)
	}
}

// refund has the railway make the refunds that are due.
func (rw *railway) refund(t *testing.T) {
	t.Helper()
	if err := rw.service.RunDue(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A booking whose train the operator has cancelled says so, and what comes back and when, on its
// page and on its receipt. Forms that were opened before say so too, and charge nothing.
func TestCancelledByOperator(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	v, bob := newVisitor(t, site), newVisitor(t, site)
	v.signIn("anna", "/bookings")
	bob.signIn("bob", "/bookings")
	paid := v.book(rw, "Anna Example").booking()
	v.pay(v.get(paid), "4242 4242 4242 4242").want(t, 200, "Your ticket")
	held := v.book(rw, "Bert Example")
	cancel := v.get(paid + "/cancel")
	rw.withdraw(t, paid)

	on := day(rw.now().UTC())
	page := v.get(paid)
	page.want(t, 200, "This booking is cancelled", "Berlin Hauptbahnhof to Paris Gare du Nord", "Paid</dt>", "The railway cancelled train LA 21 on "+on+", and your booking with it.", "We sent €113.58 back to you on "+on+"; it has not arrived yet.")
	receipt := v.get(page.link(t, "Receipt"))
	receipt.want(t, 200, "Cancelled on "+on, "€113.58 paid with the card ************4242", "We sent €113.58 back to you", "Total paid", "Refunded, or being refunded")
	rw.refund(t)
	v.get(paid).want(t, 200, "€113.58 was refunded on "+on)
	v.get(receipt.at.RequestURI()).want(t, 200, "€113.58 was refunded on "+on)
	list := v.get("/bookings")
	list.want(t, 200, "Anna Example, Berlin Hauptbahnhof to Paris Gare du Nord", ">cancelled<", "View<span class=\"unseen\"> booking of Anna Example")
	v.get("/bookings?over=true").want(t, 200, "Anna Example", ">cancelled<")

	v.fill(cancel, "/cancel").want(t, 200, "This booking is cancelled", "The railway cancelled train LA 21")
	for _, path := range []string{paid, receiptPath(strings.TrimPrefix(paid, "/bookings/"))} {
		bob.get(path).want(t, 404, "We cannot find that")
	}
	if n := len(rw.payments()); n != 1 {
		t.Fatalf("%d payments were tried", n)
	}
	v.pay(held, "4242 4242 4242 4242").want(t, 200, "This booking is cancelled", "The railway cancelled train LA 21", "Nothing was charged")
	if n := len(rw.payments()); n != 1 {
		t.Errorf("a booking that was cancelled was tried to be paid")
	}
	unpaid := v.get(held.booking())
	if strings.Contains(unpaid.text, "Receipt") {
		t.Error("a booking that was never paid has a receipt")
	}
	v.get(receiptPath(held.at.Query()["booking"]...)).want(t, 200, "This booking is cancelled")
	v.get(receiptPath(append(held.at.Query()["booking"], strings.TrimPrefix(paid, "/bookings/"))...)).want(t, 200, "One booking has ended", "Anna Example", "was refunded")
}

// The receipt of several bookings shows what was cancelled since, and what came back of it.
func TestReceiptAfterCancellation(t *testing.T) {
	t.Parallel()
	rw, v, to, form := newGroup(t, "2")
	receipt := v.pay(v.post(to, names(form, "Ann", "Bob")), "4242 4242 4242 4242")
	receipt.want(t, 200, "Your tickets and receipt", "€227.16")
	v.fill(v.get(v.get(receipt.link(t, "Ticket")).at.Path+"/cancel"), "/cancel").want(t, 200, "The booking is cancelled")
	rw.refund(t)
	on := day(rw.now().UTC())
	v.get(receipt.at.RequestURI()).want(t, 200, "Ann", "Bob", "Cancelled on "+on, "€113.58 was refunded on "+on, "€227.16", "<span>Refunded</span>")

	again := v.get(v.chooseTrip(v.get(tripsTomorrow(rw))).at.Path + "?passengers=2")
	_, form = v.form(again, "/bookings")
	pay := v.post(to, names(form, "Cid", "Dan")) // who never pay have no receipt
	for _, id := range pay.at.Query()["booking"] {
		v.fill(v.get("/bookings/"+id+"/cancel"), "/cancel")
	}
	v.get(pay.at.RequestURI()).want(t, 200, "Past trips and cancellations", "Cid", "Dan")
}

// A trip that has been made is said to be past: it cannot be cancelled, and has a receipt.
func TestPastTrip(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	v := newVisitor(t, site)
	v.signIn("anna", "/bookings")
	booking := v.book(rw, "Anna Example").booking()
	v.pay(v.get(booking), "4242 4242 4242 4242").want(t, 200, "Your ticket", "Cancel this booking")
	rw.ahead.Store(int64(72 * time.Hour))
	v = newVisitor(t, site) // the session has ended
	v.signIn("anna", "/bookings?over=true").want(t, 200, "Anna Example", ">travelled<")
	page := v.get(booking)
	page.want(t, 200, "Your past trip", "Anna Example", "€113.58", "Reference")
	if strings.Contains(page.text, "Cancel this booking") {
		t.Error("a trip that was made can be cancelled")
	}
	v.get(page.link(t, "Receipt")).want(t, 200, "Anna Example", "Paid on", "************4242")
	v.get(booking+"/cancel").want(t, 200, "Your past trip")
}
