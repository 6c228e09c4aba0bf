package paymenttest

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/traintravel/traintravel"
)

// telling is what a gateway must not say.
var telling = []check{
	{"Secrets", secrets, nil},
}

// secrets provokes all that a gateway may say and looks for the source in it.
func secrets(ctx context.Context, g Gateway) error {
	over, end := context.WithCancel(ctx)
	end()
	for _, source := range []traintravel.Source{g.Succeeds, g.Declines, g.SettlesLater, g.FailsLater} {
		if none(source) {
			continue
		}
		c := g.ask(source)
		other, odd := c, c
		other.Amount.Amount++
		odd.ID[0] ^= 0xff
		odd.Amount.Currency = "q\x00"
		for _, try := range []struct {
			what string
			do   func() (traintravel.Outcome, error)
		}{
			{"Charge with a context that has ended", func() (traintravel.Outcome, error) { return g.Charge(over, c) }},
			{"Charge", func() (traintravel.Outcome, error) { return g.Charge(ctx, c) }},
			{"Charge with another amount", func() (traintravel.Outcome, error) { return g.Charge(ctx, other) }},
			{"Charge in an invalid currency", func() (traintravel.Outcome, error) { return g.Charge(ctx, odd) }},
			{"Lookup", func() (traintravel.Outcome, error) { return g.Lookup(ctx, c.ID) }},
			{"Refund", func() (traintravel.Outcome, error) { return g.Refund(ctx, back(c, 1)) }},
			{"Charge of which the answer was lost", func() (traintravel.Outcome, error) {
				if g.AnswersLost == nil {
					return traintravel.Outcome{}, nil
				}
				return g.AnswersLost.Charge(ctx, g.ask(source))
			}},
		} {
			out, err := try.do()
			said := fmt.Sprintf("%+v %#v", out, out)
			if err != nil {
				said += fmt.Sprintf(" %v %+v", err, err)
			}
			if what := shown(said, source); what != "" {
				return fmt.Errorf("%s: the outcome or the error shows the source's %s", try.what, what) // not the words themselves
			}
		}
	}
	return nil
}

// shown says which secret of a source a text has in it. Blanks and hyphens in
// between do not hide a number; a code must stand for itself, as its few digits
// are in many a number by chance.
func shown(text string, s traintravel.Source) string {
	var number, code string
	if s.Card != nil {
		number, code = string(s.Card.Number), string(s.Card.CVC)
	} else {
		number = string(s.Bank.Number)
	}
	plain := func(s string) string { return strings.ToUpper(strings.NewReplacer(" ", "", "-", "").Replace(s)) }
	if number != "" && strings.Contains(plain(text), plain(number)) {
		return "number"
	}
	if code != "" && regexp.MustCompile(`(^|[^0-9A-Za-z.])`+regexp.QuoteMeta(code)+`($|[^0-9A-Za-z.])`).MatchString(text) {
		return "code"
	}
	return ""
}
