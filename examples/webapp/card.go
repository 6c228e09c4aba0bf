package main

import (
	"crypto/rand"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// A payForm is what can be shown again of a card. Its number and code go to the API and
// are forgotten: they are in no page, log or session. A script keeps them in the browser.
type payForm struct {
	Name, Expiry, Country string
	Key                   string // of this form: sent twice, it pays once
}

// with completes a form to be shown: the country is first that of where the trip begins.
func (f payForm) with(country string) payForm {
	if f.Country == "" {
		f.Country = country
	}
	f.Key = rand.Text()
	return f
}

// postedCard reads a card as it was typed.
func postedCard(r *http.Request) (payForm, card) {
	form := payForm{Name: r.PostFormValue("name"), Expiry: r.PostFormValue("expiry"), Country: r.PostFormValue("country")}
	month, year := expiry(form.Expiry)
	return form, card{
		Object: "card", Name: strings.TrimSpace(form.Name), Number: digits(r.PostFormValue("number")), CVC: digits(r.PostFormValue("cvc")),
		ExpMonth: month, ExpYear: year, Country: form.Country,
	}
}

// digits leaves out what people put between the digits of a card: blanks of any kind,
// hyphens and dots. Everything else stays, for the API to refuse.
func digits(typed string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.Is(unicode.Pd, r) || r == '.' {
			return -1
		}
		return r
	}, typed)
}

// expiry reads a date as it is on cards, 04/30, or as people type it: 4/2030, 04-30,
// 04 30, 0430, 042030, 2030-04, Apr 2030. What it cannot read is zero.
func expiry(typed string) (month, year int) {
	for _, form := range []string{"Jan 2006", "January 2006", "Jan 06", "January 06"} {
		if t, err := time.Parse(form, strings.TrimSpace(typed)); err == nil {
			return int(t.Month()), t.Year()
		}
	}
	parts := strings.FieldsFunc(typed, func(r rune) bool { return !unicode.IsDigit(r) })
	if len(parts) == 1 && (len(parts[0]) == 4 || len(parts[0]) == 6) { // 0430, 042030
		parts = []string{parts[0][:2], parts[0][2:]}
	}
	if len(parts) != 2 || strings.ContainsFunc(typed, unicode.IsLetter) {
		return 0, 0
	}
	if len(parts[0]) == 4 { // 2030-04
		parts[0], parts[1] = parts[1], parts[0]
	}
	if len(parts[1]) != 2 && len(parts[1]) != 4 {
		return 0, 0
	}
	month, _ = strconv.Atoi(parts[0])
	year, _ = strconv.Atoi(parts[1])
	if len(parts[1]) == 2 {
		year += 2000
	}
	return month, year
}

type country struct{ Code, Name string }

// Countries are those that a card may be from, here: where trains go in Europe.
func (payForm) Countries() []country { return countries }

var countries = []country{
	{"AL", "Albania"}, {"AT", "Austria"}, {"BE", "Belgium"}, {"BA", "Bosnia and Herzegovina"}, {"BG", "Bulgaria"}, {"HR", "Croatia"},
	{"CY", "Cyprus"}, {"CZ", "Czechia"}, {"DK", "Denmark"}, {"EE", "Estonia"}, {"FI", "Finland"}, {"FR", "France"}, {"DE", "Germany"},
	{"GR", "Greece"}, {"HU", "Hungary"}, {"IE", "Ireland"}, {"IT", "Italy"}, {"LV", "Latvia"}, {"LI", "Liechtenstein"}, {"LT", "Lithuania"},
	{"LU", "Luxembourg"}, {"MT", "Malta"}, {"MD", "Moldova"}, {"ME", "Montenegro"}, {"NL", "Netherlands"}, {"MK", "North Macedonia"},
	{"NO", "Norway"}, {"PL", "Poland"}, {"PT", "Portugal"}, {"RO", "Romania"}, {"RS", "Serbia"}, {"SK", "Slovakia"}, {"SI", "Slovenia"},
	{"ES", "Spain"}, {"SE", "Sweden"}, {"CH", "Switzerland"}, {"TR", "Türkiye"}, {"UA", "Ukraine"}, {"GB", "United Kingdom"}, {"US", "United States"},
}
