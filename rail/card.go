package rail

import (
	"time"

	"github.com/traintravel/traintravel/internal/redact"
)

// A Card is a payment card. Required: Name, Number, CVC, ExpMonth, ExpYear,
// Country. No text has more than 200 characters.
type Card struct {
	Name     string
	Number   Secret // 12 to 19 digits with a valid check digit (ISO/IEC 7812); blanks and hyphens between them are dropped
	CVC      Secret // 3 or 4 digits, the first of which may be 0; never stored
	ExpMonth int    // 1 to 12
	ExpYear  int    // four digits, from 1970
	Address1 string
	Address2 string
	City     string
	Country  string // ISO 3166-1 alpha-2, in either case
	PostCode string
}

// Expired says whether the card's month is over, in UTC.
func (c Card) Expired(now time.Time) bool {
	return !now.Before(time.Date(c.ExpYear, time.Month(c.ExpMonth)+1, 1, 0, 0, 0, 0, time.UTC))
}

func (c Card) normalize() (Card, error) {
	var k sourceChecker
	c.Name = k.required("name", c.Name)

	number := k.secret("number", c.Number)
	k.check(redact.Digits(number, 12, 19), "number", "must have 12 to 19 digits")
	k.check(redact.Luhn(number), "number", "is not a valid card number: its check digit is wrong")
	c.Number = Secret(number)

	cvc := k.secret("cvc", c.CVC)
	k.check(redact.Digits(cvc, 3, 4), "cvc", "must have 3 or 4 digits")
	c.CVC = Secret(cvc)

	k.check(1 <= c.ExpMonth && c.ExpMonth <= 12, "exp_month", "must be a month from 1 to 12")
	k.check(1970 <= c.ExpYear && c.ExpYear <= 9999, "exp_year", "must be a year of four digits, from 1970")

	c.Address1 = k.text("address_line1", c.Address1)
	c.Address2 = k.text("address_line2", c.Address2)
	c.City = k.text("address_city", c.City)
	c.Country = k.country("address_country", c.Country)
	c.PostCode = k.text("address_post_code", c.PostCode)
	k.without(number, []memberText{
		{"name", c.Name}, {"address_line1", c.Address1}, {"address_line2", c.Address2}, {"address_city", c.City}, {"address_post_code", c.PostCode},
	})
	return c, k.err
}
