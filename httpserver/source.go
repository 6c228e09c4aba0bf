package httpserver

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/traintravel/traintravel"
)

// The members that the two kinds of source may have, and must.
var (
	cardMembers = []string{"object", "name", "number", "cvc", "exp_month", "exp_year",
		"address_line1", "address_line2", "address_city", "address_country", "address_post_code"}
	bankMembers = []string{"object", "name", "number", "sort_code", "account_type", "bank_name", "country"}

	cardRequired = []string{"name", "number", "cvc", "exp_month", "exp_year", "address_country"}
	bankRequired = []string{"name", "number", "account_type", "bank_name", "country"}
)

// A sourceReader holds the members of a source until it is clear what kind it is.
type sourceReader struct {
	*decoder
	at      jsontext.Pointer
	names   []string // in the order sent
	members map[string]scalar
}

type scalar struct {
	kind jsontext.Kind
	text string
}

// source reads what a payment is taken from. Unlike elsewhere, members that
// are not known are refused: a mistyped one would be missed only later, by a
// gateway.
func (d *decoder) source() traintravel.Source {
	r := sourceReader{decoder: d, at: d.dec.StackPointer(), members: map[string]scalar{}}
	before, null := len(d.faults), d.dec.PeekKind() == 'n'
	d.object(nil, func(name string) bool {
		kind := d.dec.PeekKind()
		text := d.scalar("is neither a string nor a number", '"', '0')
		r.names = append(r.names, name)
		if kind != 'n' {
			r.members[name] = scalar{kind, text}
		}
		return true
	})
	if d.broken || len(d.faults) > before || null {
		return traintravel.Source{}
	}
	switch r.kind() {
	case "card":
		return traintravel.Source{Card: r.card()}
	case "bank_account":
		return traintravel.Source{Bank: r.bank()}
	}
	return traintravel.Source{}
}

// kind returns the value of object or, without it, the only kind that has all the members
// that were sent. It refuses members that the kind does not have, and reports required
// members that are missing.
func (r *sourceReader) kind() string {
	kind := r.members["object"].text
	if _, said := r.members["object"]; !said {
		card, bank := within(r.names, cardMembers), within(r.names, bankMembers)
		switch {
		case card && !bank:
			kind = "card"
		case bank && !card:
			kind = "bank_account"
		default:
			r.wrong(r.at, `may be a card or a bank account: set "object" to "card" or "bank_account"`)
			return ""
		}
	}
	known := cardMembers
	switch kind {
	case "card":
	case "bank_account":
		known = bankMembers
	default:
		r.wrong(r.at.AppendToken("object"), `must be "card" or "bank_account"`)
		return ""
	}
	for _, name := range r.names {
		if !slices.Contains(known, name) {
			r.wrong(r.at.AppendToken(name), "is not a member of a "+kind)
		}
	}
	required := cardRequired
	if kind == "bank_account" {
		required = bankRequired
	}
	for _, name := range required {
		if s := r.members[name]; s.kind != '0' && strings.TrimSpace(s.text) == "" {
			r.wrong(r.at.AppendToken(name), "is required")
		}
	}
	return kind
}

func within(names, known []string) bool {
	return !slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(known, n) })
}

func (r *sourceReader) card() *traintravel.Card {
	return &traintravel.Card{
		Name: r.text("name"), Number: traintravel.Secret(r.text("number")), CVC: traintravel.Secret(r.code("cvc")),
		ExpMonth: r.whole("exp_month"), ExpYear: r.whole("exp_year"),
		Address1: r.text("address_line1"), Address2: r.text("address_line2"), City: r.text("address_city"),
		Country: r.text("address_country"), PostCode: r.text("address_post_code"),
	}
}

func (r *sourceReader) bank() *traintravel.BankAccount {
	return &traintravel.BankAccount{
		Name: r.text("name"), Number: traintravel.Secret(r.text("number")), SortCode: r.text("sort_code"),
		AccountType: traintravel.AccountType(r.text("account_type")), BankName: r.text("bank_name"), Country: r.text("country"),
	}
}

// text returns a member that is a string, empty if it is missing.
func (r *sourceReader) text(name string) string {
	s := r.members[name]
	if s.kind == '0' {
		r.wrong(r.at.AppendToken(name), "is not a string")
	}
	return s.text
}

// code returns a member that consists of digits: a string or, as some clients send it, a
// number. It is not a quantity, and leading zeros count, so that a number must be written as
// digits only: 123.0, 1.23e2 and -123 are refused.
func (r *sourceReader) code(name string) string {
	s := r.members[name]
	if s.kind == '0' && strings.Trim(s.text, "0123456789") != "" {
		r.wrong(r.at.AppendToken(name), "must be a string, or a number written as digits only")
	}
	return s.text
}

// whole returns a member that is a whole number, zero if it is missing. As in JSON Schema,
// 12.0 and 1.2e1 are 12. Numbers are doubles, by RFC 7493.
func (r *sourceReader) whole(name string) int {
	s := r.members[name]
	if s.text == "" {
		return 0
	}
	f, err := strconv.ParseFloat(s.text, 64)
	if s.kind != '0' || err != nil || f != math.Trunc(f) || math.Abs(f) > math.MaxInt32 {
		r.wrong(r.at.AppendToken(name), "is not a whole number")
		return 0
	}
	return int(f)
}
