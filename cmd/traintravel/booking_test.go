package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// The history of a booking is in order of time, and entries of the same instant are in order of
// cause and effect.
func TestHistoryOfBookings(t *testing.T) {
	t.Parallel()
	at := func(minute int) time.Time { return time.Date(2026, 5, 4, 8, minute, 0, 0, time.UTC) }
	id := func(n byte) uuid.UUID { return uuid.UUID{15: n} }
	price, back := traintravel.Money{Amount: 4990, Currency: "eur"}, traintravel.Money{Amount: -4990, Currency: "eur"}
	declined := traintravel.Payment{
		ID: id(1), Amount: price, Status: traintravel.Failed, Created: at(1), Settled: at(2),
		Failure: traintravel.Failure{Code: traintravel.CardDeclined},
	}
	paid := traintravel.Payment{ID: id(2), Amount: price, Status: traintravel.Succeeded, Created: at(3), Settled: at(5)}
	refund := traintravel.Payment{ID: id(3), Amount: back, Status: traintravel.Succeeded, Created: at(6), Settled: at(7), RefundOf: id(2)}
	pending := refund
	pending.Status, pending.Settled = traintravel.Pending, time.Time{}
	unsettled := func(p traintravel.Payment) traintravel.Payment {
		p.Settled = time.Time{}
		return p
	}
	resolved, tried := refund, pending
	resolved.Resolution = traintravel.RefundedElsewhere
	resolved.Settlements = []traintravel.Settlement{{As: traintravel.AsMadeElsewhere, By: "carla", Reason: "in cash", At: at(7)}}
	tried.LastError = "no funds"
	const made = "08:00 created, held until 2026-05-04 08:59:00 UTC"
	for name, c := range map[string]struct {
		booking  traintravel.Booking
		payments []traintravel.Payment
		want     []string
	}{
		"held": {traintravel.Booking{Status: traintravel.Held, Changed: at(0)}, nil, []string{made}},
		"expired": {traintravel.Booking{Status: traintravel.Expired, Changed: at(59)}, []traintravel.Payment{declined}, []string{
			made, "08:01 payment of 49.90 eur (1)", "08:02 payment (1) failed: card_declined", "08:59 expired",
		}},
		"paid, and cancelled by the operator": {
			traintravel.Booking{Status: traintravel.Cancelled, Changed: at(6), Confirmed: at(5), PaidBy: id(2), ByOperator: true},
			[]traintravel.Payment{declined, paid, refund},
			[]string{
				made, "08:01 payment of 49.90 eur (1)", "08:02 payment (1) failed: card_declined", "08:03 payment of 49.90 eur (2)", "08:05 payment (2) succeeded",
				"08:05 confirmed", "08:06 cancelled with its train by the operator", "08:06 refund of -49.90 eur (3)", "08:07 refund (3) succeeded",
			},
		},
		"paid too late": {traintravel.Booking{Status: traintravel.Cancelled, Changed: at(4)}, []traintravel.Payment{paid, pending}, []string{
			made, "08:03 payment of 49.90 eur (2)", "08:04 cancelled", "08:05 payment (2) succeeded", "08:06 refund of -49.90 eur (3) pending",
		}},
		"refunded by hand": {traintravel.Booking{Status: traintravel.Cancelled, Changed: at(6), Confirmed: at(5), PaidBy: id(2)}, []traintravel.Payment{paid, resolved}, []string{
			made, "08:03 payment of 49.90 eur (2)", "08:05 payment (2) succeeded", "08:05 confirmed", "08:06 cancelled", "08:06 refund of -49.90 eur (3)",
			"08:07 refund (3) succeeded, made elsewhere", `08:07 refund (3) settled as made elsewhere by "carla": "in cash"`,
		}},
		"to be refunded": {traintravel.Booking{Status: traintravel.Cancelled, Changed: at(6), Confirmed: at(5), PaidBy: id(2)}, []traintravel.Payment{paid, tried}, []string{
			made, "08:03 payment of 49.90 eur (2)", "08:05 payment (2) succeeded", "08:05 confirmed", "08:06 cancelled", "08:06 refund of -49.90 eur (3) pending; gateway: no funds",
		}},
		"of which the times are not known": {
			traintravel.Booking{Status: traintravel.Cancelled, PaidBy: id(2)}, []traintravel.Payment{unsettled(declined), unsettled(paid), unsettled(refund)},
			[]string{
				made, "08:01 payment of 49.90 eur (1) failed: card_declined", "08:03 payment of 49.90 eur (2) succeeded", "? confirmed", "? cancelled",
				"08:06 refund of -49.90 eur (3) succeeded",
			},
		},
	} {
		c.booking.Created, c.booking.Expires = at(0), at(59)
		var got []string
		for _, s := range entriesOf(traintravel.BookingHistory{Booking: c.booking, Payments: c.payments}) {
			clock := "?"
			if !s.unknown {
				clock = s.at.Format("15:04")
			}
			got = append(got, clock+" "+strings.ReplaceAll(s.text, "00000000-0000-0000-0000-00000000000", ""))
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: -want +got\n%s", name, d)
		}
	}
}
