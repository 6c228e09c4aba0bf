package records_test

import (
	"bytes"
	"encoding/hex"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/seats"
)

// The records in testdata/records that hold what later versions of their kinds
// have more than the samples: when a booking's status changed, when it was confirmed
// and that the operator cancelled it, which of its legs have a hook and what it gave back,
// its reference, the leg that was cancelled and that money went back,
// when a payment was settled, how a refund was resolved, what operators and the gateway
// said of it, what was told of a subscription, since when it is unverified, and a run that is cancelled and has a place that is blocked.
func TestRecordsOfTheDesk(t *testing.T) {
	t.Parallel()
	changed, confirmed := sampleBooking(), sampleBooking()
	changed.Changed = sampleTime(4)
	changed.Confirmed = changed.Changed // a confirmed booking's are the same
	confirmed.Status, confirmed.Changed, confirmed.Confirmed, confirmed.ByOperator = traintravel.Cancelled, sampleTime(5), sampleTime(4), true
	refunded := *confirmed
	refunded.Hooks, refunded.Refund = []bool{true}, traintravel.Money{Amount: 4990, Currency: "eur"}
	referred := refunded
	referred.Reference, referred.CancelledLeg, referred.GivenBack = "K7M4QX", 1, true
	paid := samplePayment()
	paid.Settled = sampleTime(6)
	resolved := samplePayment()
	resolved.Settled, resolved.Resolution, resolved.LastError = sampleTime(6), traintravel.RefundImpossible, "502"
	resolved.Settlements = []traintravel.Settlement{
		{As: traintravel.AsImpossible, By: "söl", Reason: "the account is closed", At: sampleTime(7)},
		{As: traintravel.AsMadeElsewhere, By: "b", Reason: "in cash", At: sampleTime(8)},
	}
	told := sampleRemembered()
	told.Sealed = "\x00sealed"
	stopped, dead := sampleSubscription(), sampleDelivery()
	stopped.Disabling = traintravel.Disabling{By: traintravel.DisabledByReceiver, At: sampleTime(9)}
	dead.Status, dead.Next, dead.Ended, dead.Dead = traintravel.DeliveryDead, time.Time{}, sampleTime(9), traintravel.DeadByReceiver
	unverified, overflow := sampleSubscription(), sampleDelivery()
	unverified.Unverified = sampleTime(10)
	overflow.Status, overflow.Next, overflow.Ended, overflow.Dead = traintravel.DeliveryDead, time.Time{}, sampleTime(9), traintravel.DeadByBacklog
	v := sampleInventory()
	v.Cancelled = true
	v.Taken = append(v.Taken, seats.Taken{Booking: seats.Blocked(), Place: 3, From: 0, To: 2, Until: seats.ForGood, Sold: v.List})
	for _, g := range []struct {
		kind, file string
		want       []byte
	}{
		{"booking", "changed.2.hex", records.EncodeBooking(changed)}, {"booking", "confirmed.3.hex", records.EncodeBooking(confirmed)},
		{"booking", "refunded.4.hex", records.EncodeBooking(&refunded)}, {"booking", "referred.5.hex", records.EncodeBooking(&referred)},
		{"payment", "settled.2.hex", paid.Encode()}, {"payment", "resolved.3.hex", resolved.Encode()}, {"inventory", "cancelled.3.hex", v.Encode()},
		{"idempotency", "told.2.hex", told.Encode()},
		{"subscription", "stopped.2.hex", stopped.Encode()}, {"delivery", "dead.2.hex", dead.Encode()},
		{"subscription", "unverified.3.hex", unverified.Encode()}, {"delivery", "overflow.3.hex", overflow.Encode()},
	} {
		text, err := os.ReadFile("testdata/records/" + g.file)
		if err != nil {
			t.Errorf("%v; it would hold\n%x", err, g.want)
			continue
		}
		golden, err := hex.DecodeString(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(g.file, err)
		}
		for _, k := range recordKinds {
			if k.name != g.kind {
				continue
			}
			if again, err := k.rewrite(golden); err != nil || !bytes.Equal(again, g.want) {
				t.Errorf("%s: %v: is read as\n%x, want\n%x", g.file, err, again, g.want)
			}
		}
	}
	again, err := seats.DecodeInventory(v.Encode())
	if err != nil || !again.Cancelled || len(again.Blocks()) != 1 {
		t.Errorf("%+v, %v", again, err)
	}
}
