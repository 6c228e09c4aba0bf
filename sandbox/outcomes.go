package sandbox

import (
	"strings"
	"unicode"

	"github.com/traintravel/traintravel"
)

// debitNotAuthorized is the code of a bank's refusal.
const debitNotAuthorized = "debit_not_authorized"

// cards are the test numbers that do not succeed.
var cards = map[string]traintravel.Outcome{
	"4000000000000002": failed(traintravel.CardDeclined, "The card was declined."),
	"4000000000009995": failed(traintravel.InsufficientFunds, "The card has insufficient funds."),
	"4000000000000069": failed(traintravel.ExpiredCard, "The card has expired."),
	"4000000000000127": failed(traintravel.IncorrectCVC, "The card's security code is incorrect."),
	"4000000000000119": failed(traintravel.ProcessingError, "An error occurred while processing the card. Try again in a little while."),
}

// accounts are the test IBANs that do not succeed at once.
var accounts = map[string]struct {
	outcome traintravel.Outcome
	later   bool
}{
	"AT321904300235473204": {succeeded, true},
	"AT861904300235473202": {failed(debitNotAuthorized, "The bank did not authorise the debit."), false},
	"AT051904300235473205": {failed(debitNotAuthorized, "The bank did not authorise the debit."), true},
}

// Cards with which a charge succeeds, and its refund does not.
const (
	chargedBack   = "4000000000000259" // the payer's bank takes the money back at once
	notRefundable = "4000000000005126"
)

var (
	refundedElsewhere = traintravel.Outcome{Status: traintravel.Succeeded, Resolution: traintravel.RefundedElsewhere}
	refundImpossible  = traintravel.Outcome{
		Status: traintravel.Failed, Resolution: traintravel.RefundImpossible,
		Failure: traintravel.Failure{Code: "card_closed", Message: "The card was closed and cannot receive the refund."},
	}
)

var succeeded = traintravel.Outcome{Status: traintravel.Succeeded}

func failed(code, message string) traintravel.Outcome {
	return traintravel.Outcome{
		Status:  traintravel.Failed,
		Failure: traintravel.Failure{Code: code, Message: message},
	}
}

// decide tells what comes of taking money from a source, and whether it is
// known only later.
func decide(s traintravel.Source) (outcome traintravel.Outcome, later bool) {
	if err := s.Validate(); err != nil {
		return failed("invalid_source", err.Error()), false
	}
	if s.Card != nil {
		if outcome, ok := cards[plain(s.Card.Number)]; ok {
			return outcome, false
		}
		return succeeded, false
	}
	if a, ok := accounts[plain(s.Bank.Number)]; ok {
		return a.outcome, a.later
	}
	return succeeded, false
}

// plain returns a number in upper case without blanks and hyphens.
func plain(number traintravel.Secret) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || unicode.IsSpace(r) {
			return -1
		}
		return unicode.ToUpper(r)
	}, string(number))
}
