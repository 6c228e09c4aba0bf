package main

// A mutant is the service with one fault put into it: a text in one of its files, which occurs
// there once, replaced by another.
type mutant struct {
	name string
	what string // what is wrong then, in the words of somebody who notices
	file string // from the module's root
	old  string
	new  string
	// equivalent says why the text changes nothing that anybody could notice, or nothing that a
	// history can. Such a mutant is not run.
	equivalent string
}

// mutants are all of them.
func mutants() []mutant {
	var all []mutant
	for _, some := range [][]mutant{ofPayments, ofPlaces, ofBookings, ofRequests, ofEvents} {
		all = append(all, some...)
	}
	return all
}

const (
	rules        = "internal/ledger/rules.go"
	paymentRules = "internal/ledger/payment_rules.go"
	watch        = "internal/ledger/watch.go"
	attempt      = "internal/payments/attempt.go"
	follow       = "internal/payments/follow.go"
	places       = "internal/seats/places.go"
	notices      = "internal/webhooks/notices.go"
	events       = "internal/ledger/events.go"
	idempotency  = "internal/ledger/idempotency.go"
)

var ofPayments = []mutant{
	{
		name: "watch", what: "the watch over a given-up charge ends although the bank has not answered",
		file: watch,
		old:  "if f.final() || f.Lost(p) && p.TooLate(b, f.Asked) {",
		new:  "if f.final() || p.Status == rail.Failed && p.TooLate(b, f.Asked) {",
	},
	{
		name: "fence", what: "a charge counts as lost although the bank has not answered its cancellation",
		file: follow,
		old:  "\t\tout = rail.Outcome{Status: rail.Pending}\n\tcase out.Status == rail.Failed && found.Unheard:",
		new:  "\t\treturn found\n\tcase out.Status == rail.Failed && found.Unheard:",
	},
	{
		name: "kept-money", what: "money that comes too late to confirm a booking is not refunded",
		file: paymentRules,
		old:  "\t\tl.refund(b, p.ID, p.Amount, records.ForPayingTooLate)\n",
		new:  "",
	},
	{
		name: "failed-for-good", what: "money of a charge that was said to have failed is kept",
		file: paymentRules,
		old:  "if p.Status == rail.Succeeded || p.RefundOf != uuid.Nil {\n\t\treturn nil",
		new:  "if p.Status == rail.Succeeded || p.Status == rail.Failed || p.RefundOf != uuid.Nil {\n\t\treturn nil",
	},
	{
		name: "new-refund", what: "each try of a refund has a new ID, so the bank makes it again",
		file: follow,
		old:  "rail.Refund{ID: p.ID, Charge",
		new:  "rail.Refund{ID: f.NewID(), Charge",
	},
	{
		name: "new-charge", what: "a charge without an answer is made again under a new ID",
		file: attempt,
		old:  "\t\treturn valid(out, err)\n\t})\n\tif err != nil {\n\t\tf.Books.Log.WarnContext(ctx, \"the outcome of a charge is unknown",
		new: "\t\tif err = valid(out, err); err != nil && ctx.Err() == nil {\n" +
			"\t\t\tout, err = f.Gateway.Charge(ctx, rail.Charge{ID: f.NewID(), Booking: a.Booking, Amount: a.Amount, Source: a.source})\n\t\t}\n" +
			"\t\treturn valid(out, err)\n\t})\n\tif err != nil {\n\t\tf.Books.Log.WarnContext(ctx, \"the outcome of a charge is unknown",
	},
	{
		name: "unrecorded", what: "nobody looks up a charge whose outcome could not be recorded",
		file: attempt,
		old:  "a.Next = a.Deadline.Add(time.Second)",
		new:  "_ = a.Deadline",
	},
	{
		name: "error-is-failure", what: "a charge without an answer counts as failed",
		file: attempt,
		old:  "\t\treturn rail.Outcome{Status: rail.Pending}\n\t}\n\tout.Failure",
		new:  "\t\treturn rail.Outcome{Status: rail.Failed, Failure: rail.NeverArrived()}\n\t}\n\tout.Failure",
	},
	{
		name: "unheard-is-failure", what: "a charge counts as lost before it can have reached the bank",
		file: watch,
		old:  "return f.Unheard && !f.Asked.Before(p.Arrives())",
		new:  "return f.Unheard",
	},
	{
		name: "two-at-once", what: "a booking can be paid while a payment of it is in progress",
		file: paymentRules,
		old:  "case b.OpenPayment != uuid.Nil && !b.Lapsed(l.Now):",
		new:  "case false:",
	},
	{
		name: "cancel-while-paying", what: "a booking can be cancelled while a payment of it is in progress",
		file: rules,
		old:  "\tcase b.OpenPayment != uuid.Nil:\n\t\treturn rail.ErrPaymentInProgress\n\tcase b.Status == rail.Confirmed && !l",
		new:  "\tcase b.Status == rail.Confirmed && !l",
	},
	{
		name: "whole-refund", what: "a cancelled booking gets its whole price back, whatever the terms say",
		file: rules,
		old:  "l.refund(b, b.PaidBy, refund, why)",
		new:  "l.refund(b, b.PaidBy, b.Price, why)",
	},
	{
		name: "forgotten-refund", what: "a refund is recorded and never made",
		file: paymentRules,
		old:  "\t\tNext:   l.Now,\n",
		new:  "",
	},
	{
		name: "hopeless-refund", what: "a refund that failed is not tried again",
		file: watch,
		old:  "\t\tr.Next = l.Now.Add(lookAfter(r.Tries))\n\t\tr.LastError",
		new:  "\t\tif r.Next = l.Now.Add(lookAfter(r.Tries)); out.Status == rail.Failed {\n\t\t\tr.Next = time.Time{}\n\t\t}\n\t\tr.LastError",
	},
	{
		name: "honoured-for-ever", what: "money that comes more than a day too late confirms a booking",
		file: paymentRules,
		old:  "late := p.TooLate(b, l.Now)",
		new:  "late := false",
	},
	{
		name: "paid-after-departure", what: "money that comes after the departure confirms a booking",
		file: rules,
		old:  "if l.Now.Before(b.Departs()) {\n\t\tif b.Status == rail.Held {",
		new:  "if true {\n\t\tif b.Status == rail.Held {",
	},
	{
		name: "other-price", what: "any amount pays for a booking",
		file: paymentRules,
		old:  "case p.Amount != b.Price && !l.books.Terms.AnyAmount:",
		new:  "case false:",
	},
	{
		name: "paid-twice", what: "a confirmed booking can be paid again",
		file: paymentRules,
		old:  "case b.Status == rail.Confirmed:\n\t\treturn rail.ErrAlreadyPaid\n\tcase b.Status != rail.Held:",
		new:  "case b.Status != rail.Held && b.Status != rail.Confirmed:",
	},
}

var ofPlaces = []mutant{
	{
		name: "pin-ignored", what: "a held booking is confirmed whether it has its places or not",
		file: rules,
		old:  "err != nil || owns {\n\t\t\t\treturn owns, err",
		new:  "err != nil || owns || true {\n\t\t\t\treturn owns || true, err",
		equivalent: "the update that takes a place of a held booking ends that booking, " +
			"so a held one lacks a place only if its inventory is damaged",
	},
	{
		name: "confirmed-without-seat", what: "a late payment confirms a booking although the train is full",
		file: rules,
		old:  "err != nil || again {\n\t\t\treturn again, err",
		new:  "err != nil || again || true {\n\t\t\treturn again || true, err",
	},
	{
		name: "same-seat-again", what: "a booking that is paid late gets its seat again although it has been sold",
		file: rules,
		old:  "if !inv.IsFree(t.Place, r.Board, r.Alight, l.Now) {",
		new:  "if t.Place == seats.NoPlace {",
	},
	{
		name: "late-seat-lapses", what: "the seat of a booking that is paid late can be sold again",
		file: rules,
		old:  "l.seat(sn, b, rides, seats.ForGood)",
		new:  "l.seat(sn, b, rides, codec.Nanos(b.Expires))",
	},
	{
		name: "paid-seat-lapses", what: "the seat of a paid booking can be sold again when its hold would have ended",
		file: rules,
		old:  "l.pin(b, seats.ForGood)",
		new:  "l.pin(b, codec.Nanos(b.Expires))",
	},
	{
		name: "still-pinned", what: "a hold keeps its place beyond its end after a payment that failed",
		file: paymentRules,
		old:  "\t_, err = l.pin(b, codec.Nanos(b.Expires))\n\treturn err",
		new:  "\treturn nil",
	},
	{
		name: "never-released", what: "the places of a cancelled booking are not sold again",
		file: rules,
		old:  "refund rail.Money) error {\n\tif err := l.release(b); err != nil {\n\t\treturn err\n\t}\n",
		new:  "refund rail.Money) error {\n",
	},
	{
		name: "gap-after", what: "the free gap before a ride is taken to begin a call later",
		file: places,
		old:  "case int(t.To) <= from:",
		new:  "case int(t.To) <= from+1:",
		equivalent: "what ends after the ride begins overlaps it and has been seen to before, " +
			"so no place comes here of which the two differ",
	},
	{
		name: "overlap-short", what: "a seat is sold twice on the last section of a ride",
		file: places,
		old:  "return int(t.From) < to && from < int(t.To)",
		new:  "return int(t.From) < to && from+1 < int(t.To)",
	},
	{
		name: "overlap-long", what: "a seat is not sold from the call at which it becomes free",
		file: places,
		old:  "return int(t.From) < to && from < int(t.To)",
		new:  "return int(t.From) < to && from <= int(t.To)",
	},
	{
		name: "one-hook-more", what: "one bicycle more is taken than the train has places for",
		file: places,
		old:  "if used >= hooks {",
		new:  "if used > hooks {",
	},
	{
		name: "one-hook-less", what: "one bicycle less is taken than the train has places for",
		file: places,
		old:  "if used >= hooks {",
		new:  "if used+1 >= hooks {",
	},
	{
		name: "lapsed-left", what: "a lapsed hold loses its place and is not ended",
		file: rules,
		old:  "if err := l.Expire(lapsed); records.Unreadable(err) {",
		new:  "if err := error(nil); records.Unreadable(err) {",
	},
	{
		name: "old-timetable", what: "a server sells by the timetable before the one in force",
		file: "internal/ledger/ledger.go",
		old:  "if c.Generation != sn.Generation {",
		new:  "if c.Generation != sn.Generation && false {",
	},
	{
		name: "free-at-end-late", what: "the place of a hold is free a minute after the hold has ended",
		file: places,
		old:  "return t.Until <= now.UnixNano() && !t.kept",
		new:  "return t.Until <= now.Add(-time.Minute).UnixNano() && !t.kept",
	},
}

var ofBookings = []mutant{
	{
		name: "pin-after-departure", what: "a payment in progress keeps a hold beyond the departure",
		file: paymentRules,
		old:  "departs.Before(pinned) {",
		new:  "departs.Before(pinned) && false {",
	},
	{
		name: "sold-after-departure", what: "a train is sold for a minute after its departure",
		file: "booking.go",
		old:  "case !departs.After(now):",
		new:  "case !departs.After(now.Add(-time.Minute)):",
	},
	{
		name: "long-hold", what: "a hold ends an hour late",
		file: "rail/booking.go",
		old:  "\treturn b.Expires\n",
		new:  "\treturn b.Expires.Add(time.Hour)\n",
	},
	{
		name: "cancelled-after-departure", what: "a paid booking can be cancelled after its departure",
		file: rules,
		old:  "case b.Status == rail.Confirmed && !l.Now.Before(b.Departs()):",
		new:  "case false:",
	},
	{
		name: "lapsed-paid", what: "a hold can be paid after its end until somebody ends it",
		file: paymentRules,
		old:  "\tcase b.Lapsed(l.Now):\n\t\treturn rail.ErrHoldExpired\n\tcase p.Amount",
		new:  "\tcase p.Amount",
	},
	{
		name: "unlisted", what: "a booking is missing in its owner's list",
		file: "internal/ledger/ledger.go",
		old:  "l.moveItem(records.OwnedKey(before), records.OwnedKey(after), []byte{})",
		new:  "if before.Status == 0 {\n\t\tl.moveItem(records.OwnedKey(before), records.OwnedKey(after), []byte{})\n\t} else if before.Status != after.Status {\n\t\tl.moveItem(records.OwnedKey(before), store.Key{}, nil)\n\t}",
	},
	{
		name: "second-run", what: "an update whose closure runs twice starts from what the first run made",
		file: "internal/ledger/update.go",
		old:  "l = &Ledger{Ctx: ctx, books: b, Tx: tx, Now: now, subscribed: subscribed}",
		new:  "if l == nil {\n\t\t\tl = &Ledger{Ctx: ctx, books: b, Now: now, subscribed: subscribed}\n\t\t}\n\t\tl.Tx = tx",
	},
	{
		name: "never-ended", what: "a hold whose time is over stays, if nobody wants its place",
		file: "internal/ledger/expiry.go",
		old:  "if !held.Lapsed(l.Now) {",
		new:  "if true {",
	},
}

var ofRequests = []mutant{
	{
		name: "no-recall", what: "a repeated request makes a second booking",
		file: rules,
		old:  "case first != nil:\n\t\treturn l.firstAnswer(first.About)",
		new:  "case first != nil && false:\n\t\treturn l.firstAnswer(first.About)",
	},
	{
		name: "no-recall-of-payments", what: "a repeated request makes a second payment",
		file: paymentRules,
		old:  "first, err = l.Recall(idem); first != nil || err != nil {",
		new:  "first, err = l.Recall(idem); err != nil {",
	},
	{
		name: "key-lapses", what: "a key is forgotten an hour early",
		file: "internal/records/idempotency.go",
		old:  "const KeyLife = 24 * time.Hour",
		new:  "const KeyLife = 23 * time.Hour",
	},
	{
		name: "key-forgotten", what: "a key that is used anew is forgotten when its first use is",
		file: "internal/ledger/expiry.go",
		old:  "if r.Expired(l.Now) { // else",
		new:  "if true || r.Expired(l.Now) { // else",
	},
	{
		name: "key-of-anybody", what: "a key gives a user the booking that another made with it",
		file: idempotency,
		old:  "by.Issuer, by.ID, by.Client, resource, key}",
		new:  "by.Issuer, by.Client, resource, key}",
	},
	{
		name: "key-of-anything", what: "a key that paid for one booking is refused for another",
		file: idempotency,
		old:  "by.Issuer, by.ID, by.Client, resource, key}",
		new:  "by.Issuer, by.ID, by.Client, resource[:7], key}",
	},
	{
		name: "reused-key", what: "a key gives the first answer to another request",
		file: idempotency,
		old:  "case r.Mark != idem.Mark:",
		new:  "case false:",
	},
	{
		name: "others-booking", what: "a user can read another's booking",
		file: "internal/ledger/books.go",
		old:  "if err == nil && !is.OwnedBy(by) {",
		new:  "if false {",
	},
	{
		name: "others-payment", what: "a user can pay for another's booking",
		file: paymentRules,
		old:  "if !b.OwnedBy(by) {",
		new:  "if false {",
	},
}

var ofEvents = []mutant{
	{
		name: "no-expired", what: "nobody is told that a hold has ended",
		file: rules,
		old:  "\t\tl.event(rail.BookingExpired, b.ID, uuid.Nil)\n",
		new:  "",
	},
	{
		name: "no-payment-failed", what: "nobody is told that a payment has failed",
		file: paymentRules,
		old:  "\tl.paymentFailed(b, p)\n",
		new:  "",
	},
	{
		name: "told-once", what: "an event that was not delivered is not tried again",
		file: notices,
		old:  "l.Put(records.AgendaKey(records.EventDue, due, it.ID), again.Encode())",
		new:  "_, _ = due, again",
	},
	{
		name: "new-event", what: "an event that is delivered again has another ID",
		file: notices,
		old:  "n.Books.EventOf(it.ID, q, v[1:])",
		new:  "n.Books.EventOf(func() [16]byte { id := it.ID; id[0] ^= byte(q.Failures); return id }(), q, v[1:])",
	},
	{
		name: "event-as-of-now", what: "an event shows its booking as it is when it is delivered",
		file: events,
		old:  "\t\trestore(&e, rail.Confirmed)\n",
		new:  "",
	},
	{
		name: "created-as-of-now", what: "the event of a new booking shows it as it is when it is delivered",
		file: events,
		old:  "\t\te.Booking = atCreation(&e.Booking)\n",
		new:  "",
	},
	{
		name: "lost-when-stopped", what: "an event is lost if the update after its delivery fails",
		file: notices,
		old:  "\tfailed := n.notify(ctx, e)\n",
		new: "\t_ = n.Books.Update(ctx, n.Books.Now(), func(l *ledger.Ledger) error { l.Delete(it.Key); return nil })\n" +
			"\tfailed := n.notify(ctx, e)\n",
	},
}
