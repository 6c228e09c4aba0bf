package main

import (
	"crypto/rand"
	"net/http"
	"strconv"
	"strings"
)

// A payForm is what can be shown again of a card. Its number and code go to the API and
// are forgotten: they are in no page, log or session.
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

// pay pays what the booking costs, whatever a form may say. The page that follows shows
// what became of it.
func (s *site) pay(w http.ResponseWriter, r *http.Request, user *session) error {
	b, err := user.load(r)
	if err != nil {
		return err
	}
	form := payForm{Name: r.PostFormValue("name"), Expiry: r.PostFormValue("expiry"), Country: r.PostFormValue("country")}
	if b.Journey.Price.Amount == "" && b.State == held {
		return errNoPrice
	}
	month, year := expiry(form.Expiry)
	_, err = user.api.pay(r.Context(), b.ID, newPayment{
		Amount: b.Journey.Price.Amount, Currency: b.Journey.Price.Currency,
		Source: card{
			Object: "card", Name: form.Name, Number: r.PostFormValue("number"), CVC: r.PostFormValue("cvc"),
			ExpMonth: month, ExpYear: year, Country: form.Country,
		},
	}, r.PostFormValue("key"))
	if correctable(err) {
		return s.showBooking(w, r, user, form, err)
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/bookings/"+b.ID, http.StatusSeeOther)
	return nil
}

// expiry reads a date as it is on cards, 04/30, or as some type it, 4 / 2030. What it
// cannot read is zero, which the API refuses.
func expiry(typed string) (month, year int) {
	m, y, _ := strings.Cut(typed, "/")
	month, _ = strconv.Atoi(strings.TrimSpace(m))
	year, _ = strconv.Atoi(strings.TrimSpace(y))
	if 0 <= year && year < 100 && strings.TrimSpace(y) != "" {
		year += 2000
	}
	return month, year
}
