package rail

import (
	"strings"

	"github.com/traintravel/traintravel/internal/redact"
)

// Texts of clients that contain the number of a card or an account are refused; in texts of
// gateways such numbers are masked.

// CardInText is the reason for refusing a client's text that contains such a number: the text
// would be stored, shown and passed on.
const CardInText = "must not contain the number of a card or an account"

// Hide masks the source's number and code, and the numbers of other cards, in a gateway's
// text about a charge.
func (s Source) Hide(text string) string {
	switch {
	case s.Card != nil:
		return redact.HideWord(redact.HideNumbers(text, string(s.Card.Number)), string(s.Card.CVC))
	case s.Bank != nil:
		text = redact.HideWord(text, string(s.Bank.Number))
	}
	return redact.HideNumbers(text, "")
}

// A Source is a card or a bank account that pays: exactly one of its members is set.
type Source struct {
	Card *Card
	Bank *BankAccount
}

// Validate returns nil, or an [*InvalidError] that names the invalid member
// (source.exp_month) and never quotes its value. It does not check whether there
// is money behind the source, or whether a card has expired: these make an attempt
// fail, see [Card.Expired].
func (s Source) Validate() error {
	_, err := s.Normalize()
	return err
}

// Masked returns a copy that may be stored and shown: all characters of the
// number but the last four are asterisks, or all if it has at most four; a
// card's security code and address lines are removed. Masking a masked source
// changes nothing.
func (s Source) Masked() Source {
	if s.Card != nil {
		c := *s.Card
		c.Number, c.CVC = Secret(c.Number.masked()), ""
		c.Address1, c.Address2 = "", ""
		s.Card = &c
	}
	if s.Bank != nil {
		b := *s.Bank
		b.Number = Secret(b.Number.masked())
		s.Bank = &b
	}
	return s
}

// Normalize returns a copy of a valid source in the form that gateways receive: texts
// trimmed, numbers and codes without separators, country and IBAN in upper case.
func (s Source) Normalize() (Source, error) {
	switch {
	case s.Card != nil && s.Bank == nil:
		c, err := s.Card.normalize()
		return Source{Card: &c}, err
	case s.Bank != nil && s.Card == nil:
		b, err := s.Bank.normalize()
		return Source{Bank: &b}, err
	}
	return Source{}, Invalid("source", "must be either a card or a bank account")
}

// CheckNew returns nil, or an [*InvalidError] that names what a normalised source of a new
// request must not have: a text of a card or an account which [BadName] refuses, such as one
// with invisible characters, or a country code that ISO 3166-1 has not assigned. XK (Kosovo)
// is accepted. Validate does not check this because earlier versions accepted such sources.
func (s Source) CheckNew() error {
	var texts []memberText
	var country memberText
	if c := s.Card; c != nil {
		country = memberText{"address_country", c.Country}
		texts = append(texts, memberText{"name", c.Name}, memberText{"address_line1", c.Address1}, memberText{"address_line2", c.Address2},
			memberText{"address_city", c.City}, memberText{"address_post_code", c.PostCode})
	}
	if b := s.Bank; b != nil {
		country = memberText{"country", b.Country}
		texts = append(texts, memberText{"name", b.Name}, memberText{"bank_name", b.BankName})
	}
	for _, t := range texts {
		if reason := BadName(t.text); reason != "" {
			return Invalid("source."+t.member, "%s", reason)
		}
	}
	if !isCountry(country.text) {
		return Invalid("source."+country.member, "must be a country code that ISO 3166-1 has assigned, such as GB")
	}
	return nil
}

// TrimNames returns a copy whose texts are without direction marks at their ends, as
// [TrimName] has them. Normalize keeps the marks because earlier versions kept them: a
// repeated request has to be known again.
func (s Source) TrimNames() Source {
	if s.Card != nil {
		c := *s.Card
		for _, text := range []*string{&c.Name, &c.Address1, &c.Address2, &c.City, &c.PostCode} {
			*text = TrimName(*text)
		}
		s.Card = &c
	}
	if s.Bank != nil {
		b := *s.Bank
		b.Name, b.BankName = TrimName(b.Name), TrimName(b.BankName)
		s.Bank = &b
	}
	return s
}

// A sourceChecker normalises the members of a source one after another and
// keeps the first error.
type sourceChecker struct{ err error }

// check reports the member unless ok, or unless another was reported before.
func (c *sourceChecker) check(ok bool, member, reason string) {
	if !ok && c.err == nil {
		c.err = Invalid("source."+member, "%s", reason)
	}
}

// text trims an optional text.
func (c *sourceChecker) text(member, s string) string { return c.line(member, s, false) }

// required trims a text that must not be empty.
func (c *sourceChecker) required(member, s string) string { return c.line(member, s, true) }

func (c *sourceChecker) line(member, s string, required bool) string {
	s = strings.TrimSpace(s)
	c.check(s != "" || !required, member, "is required")
	reason := BadText(s, required)
	c.check(reason == "", member, reason)
	return s
}

// A memberText is a member of a source, with its text.
type memberText struct{ member, text string }

// without refuses texts that contain the number of the source or of any card.
func (c *sourceChecker) without(number string, texts []memberText) {
	for _, t := range texts {
		c.check(!redact.NumberIn(t.text, number), t.member, CardInText)
	}
}

// secret removes the separators of a number, which must not be empty.
func (c *sourceChecker) secret(member string, s Secret) string {
	n := redact.Compact(string(s))
	c.check(n != "", member, "is required")
	return n
}

// country converts an ISO 3166-1 alpha-2 code to upper case.
func (c *sourceChecker) country(member, s string) string {
	s = c.required(member, s)
	c.check(len(s) == 2 && redact.IsLetter(s[0]) && redact.IsLetter(s[1]), member, "must be a country code of two letters, such as GB (ISO 3166-1)")
	return strings.ToUpper(s)
}
