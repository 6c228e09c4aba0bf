// Package paymenttest is the contract of [traintravel.PaymentGateway] as a test
// suite, for authors of gateways.
//
// # What to implement
//
// A type with the methods of [traintravel.PaymentGateway], whose comments are
// the contract, and that of [traintravel.Canceller] if the provider can refuse
// an ID for good. Package sandbox is a whole one that moves no money.
//
// # How to call the suite
//
// In your package's tests, against the provider's test mode or a stand-in of
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
// Every member of [Gateway] but the first two may be left out. The checks that
// need it are skipped then, and say what they lack. Moved is worth some work: a
// gateway that charges twice and answers well is found by nothing else.
//
// Each check runs in parallel with the others; run them with -race. All IDs are
// new, so that checks may share a provider, and leave their charges there.
// Nothing is timed but how long a pending payment may take.
//
// # What the checks prove
//
//   - Charge, Apart, Amounts: what was asked is moved, to the minor unit, in
//     currencies with no decimals and with three or four, and charges at the
//     same time do not mix.
//   - Again, AtOnce, OtherAmount: an ID acts once, however often and at however
//     many places at once it comes, and never for another amount.
//   - Declined, DeclinedForGood: a decline is an outcome with a code and words
//     for the payer, and stays one.
//   - Lookup, Unknown: every charge and refund is found by its ID; another is
//     [traintravel.ErrNotFound], and looking it up does not bring it into being.
//   - LostAnswer, LostRefund, LostCancel: what was done is found although
//     nobody heard the answer, and asking again does not do it twice.
//   - CutShort, CutShortRefund: the same at whichever moment a context ends,
//     and the end is not a decline. Ended: a context that has ended before the
//     call does nothing.
//   - Fence, FenceRace, CancelDone, CancelPending, CancelAgain, CancelUnderWay: after
//     a Cancel that answered Failed, no charge with this ID succeeds, and one that has
//     an outcome keeps it, however often it is cancelled, and be it under way.
//   - Refund, RefundParts, RefundAtOnce, RefundOtherAmount, RefundTooMuch,
//     RefundTooMuchAtOnce, RefundNothing: money goes back once for each ID, and
//     never more than was taken. RefundUnknown, RefundDeclined, RefundPending:
//     nor for a charge that did not succeed. RefundedElsewhere, RefundImpossible: one
//     that the provider will not make any more ends, and says how.
//   - SettlesLater, FailsLater: pending is told as long as it is not known, and
//     ends.
//   - Secrets: neither outcomes nor errors show a number or a code.
//
// They cannot prove how long a provider remembers an ID, nor that a gateway logs
// no numbers.
//
// # Common mistakes
//
//   - A time limit, a broken connection or an answer such as 502 made Failed.
//     The money may have moved: return the error.
//   - An ID made by the gateway for each request, and not the service's sent on
//     as the provider's idempotency key.
//   - A provider's "this key is in use" made Failed: it is an error, or Pending.
//   - A provider's "no such payment" for any reason, such as a wrong account or
//     path, made ErrNotFound: that tells the service that nothing was charged.
//   - An error of the provider's made Failed by Cancel: the service then tells the
//     payer that nothing was charged.
//   - Amounts through a float, or two decimals for every currency.
//   - A provider's error handed on with the request in it.
//   - A provider's "already refunded" or "charged back" made an error or Failed: the
//     refund is asked for again for ever. It is [traintravel.RefundedElsewhere].
//   - Refunds keyed by their charge: the second part is taken for a repetition.
package paymenttest
