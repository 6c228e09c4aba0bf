package traintravel

import (
	"bytes"
	"encoding/hex"
	"os"
	"strings"
	"testing"
	"time"
)

// The records in testdata/records that hold what later versions of their kinds
// have more than the samples: when a booking's status changed, when it was confirmed
// and that the operator cancelled it, which of its legs have a hook and what it gave back,
// when a payment was settled, how a refund was resolved, what operators and the gateway
// said of it, what was told of a subscription, since when it is unverified, and a run that is cancelled and has a place that is blocked.
func TestRecordsOfTheDesk(t *testing.T) {
	t.Parallel()
	changed, confirmed := sampleBooking(), sampleBooking()
	changed.Changed = sampleTime(4)
	changed.Confirmed = changed.Changed // a confirmed booking's are the same
	confirmed.Status, confirmed.Changed, confirmed.Confirmed, confirmed.ByOperator = Cancelled, sampleTime(5), sampleTime(4), true
	refunded := *confirmed
	refunded.Hooks, refunded.Refund = []bool{true}, Money{4990, "eur"}
	paid := samplePayment()
	paid.Settled = sampleTime(6)
	resolved := samplePayment()
	resolved.Settled, resolved.Resolution, resolved.LastError = sampleTime(6), RefundImpossible, "502"
	resolved.Settlements = []Settlement{
		{As: AsImpossible, By: "söl", Reason: "the account is closed", At: sampleTime(7)},
		{As: AsMadeElsewhere, By: "b", Reason: "in cash", At: sampleTime(8)},
	}
	told := sampleRemembered()
	told.sealed = "\x00sealed"
	stopped, dead := sampleSubscription(), sampleDelivery()
	stopped.Disabling = Disabling{DisabledByReceiver, sampleTime(9)}
	dead.Status, dead.Next, dead.Ended, dead.Dead = DeliveryDead, time.Time{}, sampleTime(9), DeadByReceiver
	unverified, overflow := sampleSubscription(), sampleDelivery()
	unverified.Unverified = sampleTime(10)
	overflow.Status, overflow.Next, overflow.Ended, overflow.Dead = DeliveryDead, time.Time{}, sampleTime(9), DeadByBacklog
	v := sampleInventory()
	v.cancelled = true
	v.taken = append(v.taken, taken{booking: blocked, place: 3, from: 0, to: 2, until: forGood, sold: v.list})
	for _, g := range []struct {
		kind, file string
		want       []byte
	}{
		{"booking", "changed.2.hex", encodeBooking(changed)}, {"booking", "confirmed.3.hex", encodeBooking(confirmed)},
		{"booking", "refunded.4.hex", encodeBooking(&refunded)},
		{"payment", "settled.2.hex", paid.encode()}, {"payment", "resolved.3.hex", resolved.encode()}, {"inventory", "cancelled.3.hex", v.encode()},
		{"idempotency", "told.2.hex", told.encode()},
		{"subscription", "stopped.2.hex", stopped.encode()}, {"delivery", "dead.2.hex", dead.encode()},
		{"subscription", "unverified.3.hex", unverified.encode()}, {"delivery", "overflow.3.hex", overflow.encode()},
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
	again, err := decodeInventory(v.encode())
	if err != nil || !again.cancelled || len(again.blocks()) != 1 {
		t.Errorf("%+v, %v", again, err)
	}
}
