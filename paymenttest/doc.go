// Package paymenttest is the contract of [traintravel.PaymentGateway] as a test
// suite, for authors of gateways.
//
// # What to implement
//
// Implement [traintravel.PaymentGateway], whose comments are the contract, and
// [traintravel.Canceller] if the provider can refuse an ID for good. Package sandbox
// is a complete gateway that moves no money.
//
// # How to call the suite
//
// In the tests of your package, with the provider's test mode or a stand-in of
// your own:
//
//	func TestGateway(t *testing.T) {
//		paymenttest.Run(t, func(t testing.TB) paymenttest.Gateway {
//			provider := newStandIn(t)
//			return paymenttest.Gateway{
//				PaymentGateway: mygateway.New(provider.URL),
//				Succeeds:       card("4242424242424242"),
//				Declines:       card("4000000000000002"),
//				AnswersLost:    mygateway.New(provider.URLWithoutAnswers),
//				Moved:          provider.Moved,
//			}
//		})
//	}
//
// All fields of [Gateway] except the first two are optional. Checks that need a missing
// one are skipped, and say which. Moved is worth some work: no other check finds a gateway
// that charges twice and returns the right outcome.
//
// The checks run in parallel; run them with -race. All IDs are new, so checks may share a
// provider, and leave their charges there. The only time limit is that of a pending payment.
//
// [Simulate] takes the same function. It runs whole histories of a railway that takes its
// money through the gateway, on a way on which requests and answers are lost, late or doubled.
//
// # What the checks prove
//
//   - Charge, Apart, Amounts: the gateway moves the requested amount exactly, also in
//     currencies without decimals and with three or four, and does not mix up
//     charges made at the same time.
//   - Again, AtOnce, OtherAmount: an ID acts once, however often it arrives, also
//     concurrently, and never for another amount.
//   - Declined, DeclinedForGood: a decline is an outcome with a code and a message
//     for the payer, and does not change.
//   - Lookup, Unknown: Lookup finds every charge and refund by its ID. Any other ID is
//     [traintravel.ErrNotFound], and looking it up does not create it.
//   - LostAnswer, LostRefund, LostCancel: if a response is lost, Lookup finds what was
//     done, and a repeated call does not do it twice.
//   - CutShort, CutShortRefund: the same if a context ends at any moment, and the end
//     is not a decline. Ended: a call whose context has already ended does nothing.
//   - Fence, FenceRace, CancelDone, CancelPending, CancelAgain, CancelUnderWay: after
//     Cancel has returned Failed, no charge with this ID succeeds. A charge with an
//     outcome keeps it, however often it is cancelled, even while it is in progress.
//   - Refund, RefundParts, RefundAtOnce, RefundOtherAmount, RefundTooMuch,
//     RefundTooMuchAtOnce, RefundNothing: each ID refunds once, and never more than was
//     charged. RefundUnknown, RefundDeclined, RefundPending: only charges that have
//     succeeded are refunded. RefundedElsewhere, RefundImpossible: a refund that the
//     provider will never make ends with a resolution.
//   - SettlesLater, FailsLater: a charge is pending until its outcome is known, and
//     then ends.
//   - Secrets: outcomes and errors contain no numbers and no security codes.
//
// The checks cannot prove how long a provider remembers an ID, nor that a gateway logs
// no numbers.
//
// # Common mistakes
//
//   - Returning Failed after a timeout, a broken connection or a response such as 502.
//     The money may have moved: return the error.
//   - Making a new ID for each request. Send the service's ID as the provider's
//     idempotency key.
//   - Returning Failed for a provider's "this key is in use": return an error, or Pending.
//   - Returning ErrNotFound for every "no such payment" of a provider, also for a wrong
//     account or path: it tells the service that nothing was charged.
//   - Returning Failed from Cancel after an error of the provider: the service then tells
//     the payer that nothing was charged.
//   - Computing amounts with floats, or assuming two decimals for every currency.
//   - Returning a provider's error that contains the request.
//   - Returning an error or Failed for a provider's "already refunded" or "charged back":
//     the service would request the refund for ever. Return [traintravel.RefundedElsewhere].
//   - Identifying refunds by their charge: the second partial refund then counts as a
//     repetition of the first.
package paymenttest
