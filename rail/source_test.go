package rail

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func goodCard() *Card {
	return &Card{
		Name: "J. Doe", Number: "4242424242424242", CVC: "123", ExpMonth: 12, ExpYear: 2030,
		Address1: "123 Fake Street", Address2: "Flat 2", City: "London", Country: "GB", PostCode: "N12 9XX",
	}
}

func goodBank() *BankAccount {
	return &BankAccount{
		Name: "J. Doe", Number: "00012345", SortCode: "000123",
		AccountType: Individual, BankName: "Starling Bank", Country: "GB",
	}
}

func TestSourceNormalizeCard(t *testing.T) {
	t.Parallel()
	given := &Card{
		Name: "  J. Doe\t", Number: " 4242-4242 4242\u00a04242 ", CVC: " 1 23", ExpMonth: 1, ExpYear: 1970,
		Address1: " 123 Fake Street ", City: " Zürich", Country: " ch ", PostCode: " 8001 ",
	}
	before := *given
	got, err := Source{Card: given}.Normalize()
	if err != nil {
		t.Fatal(err)
	}
	want := Source{Card: &Card{
		Name: "J. Doe", Number: "4242424242424242", CVC: "123", ExpMonth: 1, ExpYear: 1970,
		Address1: "123 Fake Street", City: "Zürich", Country: "CH", PostCode: "8001",
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if *given != before {
		t.Error("the caller's card was changed")
	}
}

func TestSourceNormalizeBank(t *testing.T) {
	t.Parallel()
	got, err := Source{Bank: &BankAccount{
		Name: " J. Doe", Number: "gb33 bukb 2020-1555 5555 55", SortCode: "20-20 15",
		AccountType: Company, BankName: "Barclays ", Country: "gb",
	}}.Normalize()
	if err != nil {
		t.Fatal(err)
	}
	want := Source{Bank: &BankAccount{
		Name: "J. Doe", Number: "GB33BUKB20201555555555", SortCode: "202015",
		AccountType: Company, BankName: "Barclays", Country: "GB",
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSourceIsExactlyOneKind(t *testing.T) {
	t.Parallel()
	for _, s := range []Source{{}, {Card: goodCard(), Bank: goodBank()}} {
		checkInvalid(t, s, "source")
	}
	for _, s := range []Source{{Card: goodCard()}, {Bank: goodBank()}} {
		if err := s.Validate(); err != nil {
			t.Error(err)
		}
	}
}

func TestSourceInvalidCard(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 201)
	for _, c := range []struct {
		field string
		spoil func(*Card)
	}{
		{"name", func(c *Card) { c.Name = " " }},
		{"name", func(c *Card) { c.Name = long }},
		{"name", func(c *Card) { c.Name = "J.\x00Doe" }},
		{"name", func(c *Card) { c.Name = "J.\nDoe" }},
		{"name", func(c *Card) { c.Name = "\xff" }},
		{"name", func(c *Card) { c.Name = "J. Doe\ufffe" }},
		{"name", func(c *Card) { c.Name = "\u202eeoD" }},
		{"name", func(c *Card) { c.Name = "\u200b" }},
		{"number", func(c *Card) { c.Number = "" }},
		{"number", func(c *Card) { c.Number = " - " }},
		{"number", func(c *Card) { c.Number = "4242424242424241" }},
		{"number", func(c *Card) { c.Number = "00000000000" }},          // 11
		{"number", func(c *Card) { c.Number = "00000000000000000000" }}, // 20
		{"number", func(c *Card) { c.Number = "424242424242424x" }},
		{"number", func(c *Card) { c.Number = "424242424242424\uff12" }}, // a full-width 2
		{"number", func(c *Card) { c.Number = "************4242" }},
		{"number", func(c *Card) { c.Number = "+424242424242424" }},
		{"cvc", func(c *Card) { c.CVC = "" }},
		{"cvc", func(c *Card) { c.CVC = "98" }},
		{"cvc", func(c *Card) { c.CVC = "98765" }},
		{"cvc", func(c *Card) { c.CVC = "98x" }},
		{"exp_month", func(c *Card) { c.ExpMonth = 0 }},
		{"exp_month", func(c *Card) { c.ExpMonth = 13 }},
		{"exp_month", func(c *Card) { c.ExpMonth = -1 }},
		{"exp_year", func(c *Card) { c.ExpYear = 0 }},
		{"exp_year", func(c *Card) { c.ExpYear = 30 }},
		{"exp_year", func(c *Card) { c.ExpYear = 1969 }},
		{"exp_year", func(c *Card) { c.ExpYear = 10000 }},
		{"address_line1", func(c *Card) { c.Address1 = long }},
		{"address_line2", func(c *Card) { c.Address2 = long }},
		{"address_city", func(c *Card) { c.City = "\xc3\x28" }},
		{"address_city", func(c *Card) { c.City = "\uffff" }},
		{"address_country", func(c *Card) { c.Country = "" }},
		{"address_country", func(c *Card) { c.Country = "GBR" }},
		{"address_country", func(c *Card) { c.Country = "G1" }},
		{"address_country", func(c *Card) { c.Country = "é" }},
		{"address_post_code", func(c *Card) { c.PostCode = long }},
	} {
		card := goodCard()
		c.spoil(card)
		checkInvalid(t, Source{Card: card}, "source."+c.field)
	}
}

func TestSourceInvalidBank(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		field string
		spoil func(*BankAccount)
	}{
		{"name", func(b *BankAccount) { b.Name = "" }},
		{"number", func(b *BankAccount) { b.Number = "" }},
		{"number", func(b *BankAccount) { b.Number = "123" }},
		{"number", func(b *BankAccount) { b.Number = Secret(strings.Repeat("1", 35)) }},
		{"number", func(b *BankAccount) { b.Number = "12345_78" }},
		{"number", func(b *BankAccount) { b.Number = "1234567ſ" }}, // whose upper case is S
		{"number", func(b *BankAccount) { b.Number = "****2345" }},
		{"number", func(b *BankAccount) { b.Number = "GB34BUKB20201555555555" }},
		{"number", func(b *BankAccount) { b.Number = "GB33BUKB2020155555555" }},
		{"sort_code", func(b *BankAccount) { b.SortCode = "12345" }},
		{"sort_code", func(b *BankAccount) { b.SortCode = "1234567" }},
		{"sort_code", func(b *BankAccount) { b.SortCode = "12_34_56" }},
		{"account_type", func(b *BankAccount) { b.AccountType = "" }},
		{"account_type", func(b *BankAccount) { b.AccountType = "Company" }},
		{"bank_name", func(b *BankAccount) { b.BankName = "" }},
		{"bank_name", func(b *BankAccount) { b.BankName = "\u2060" }},
		{"bank_name", func(b *BankAccount) { b.BankName = strings.Repeat("x", 201) }},
		{"country", func(b *BankAccount) { b.Country = "Britain" }},
	} {
		bank := goodBank()
		c.spoil(bank)
		checkInvalid(t, Source{Bank: bank}, "source."+c.field)
	}
}

// checkInvalid wants an InvalidError about the field that quotes no number or
// code.
func checkInvalid(t *testing.T, s Source, field string) {
	t.Helper()
	err := s.Validate()
	var invalid *InvalidError
	if !errors.As(err, &invalid) || invalid.Field != field {
		t.Errorf("got %v, want an error about %s", err, field)
		return
	}
	for _, secret := range secrets(s) {
		if len(secret) >= 3 && strings.Contains(err.Error(), secret) {
			t.Errorf("the error shows %q: %v", secret, err)
		}
	}
}

func secrets(s Source) (all []string) {
	if s.Card != nil {
		all = append(all, string(s.Card.Number), string(s.Card.CVC))
	}
	if s.Bank != nil {
		all = append(all, string(s.Bank.Number))
	}
	return all
}

func TestSourceCardNumbers(t *testing.T) {
	t.Parallel()
	for _, n := range []Secret{
		"4242424242424242", "4000056655665556", "5555555555554444", "2223003122003222", "378282246310005",
		"6011111111111117", "3056930009020004", "36227206271667", "3566002020360505", "6200000000000005",
		"6205500000000000004", "676770000005", "4000000000000002",
	} {
		card := goodCard()
		card.Number = n
		if err := (Source{Card: card}).Validate(); err != nil {
			t.Errorf("%s: %v", string(n), err)
		}
	}
}

// A card that has expired is well-formed: the attempt fails, the request does not.
func TestSourceExpiredCardIsValid(t *testing.T) {
	t.Parallel()
	card := goodCard()
	card.ExpMonth, card.ExpYear = 2, 2024
	if err := (Source{Card: card}).Validate(); err != nil {
		t.Error(err)
	}
}

func TestCardExpired(t *testing.T) {
	t.Parallel()
	at := func(s string) time.Time {
		v, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct {
		year, month int
		now         string
		want        bool
	}{
		{2024, 2, "2024-02-29T23:59:59.999999999Z", false},
		{2024, 2, "2024-03-01T00:00:00Z", true},
		{2024, 2, "2024-03-01T00:30:00+01:00", false},
		{2024, 2, "2024-02-29T23:30:00-01:00", true},
		{2024, 12, "2024-12-31T23:59:59Z", false},
		{2024, 12, "2025-01-01T00:00:00Z", true},
		{2030, 1, "2024-12-31T23:59:59Z", false},
		{1970, 1, "2024-12-31T23:59:59Z", true},
	} {
		card := Card{ExpYear: c.year, ExpMonth: c.month}
		if got := card.Expired(at(c.now)); got != c.want {
			t.Errorf("%d-%02d at %s: %v", c.year, c.month, c.now, got)
		}
	}
}

func TestSourceMasked(t *testing.T) {
	t.Parallel()
	card := goodCard()
	got := Source{Card: card}.Masked()
	want := *goodCard()
	want.Number, want.CVC, want.Address1, want.Address2 = "************4242", "", "", ""
	if diff := cmp.Diff(Source{Card: &want}, got); diff != "" {
		t.Error(diff)
	}
	if *card != *goodCard() {
		t.Error("the caller's card was changed")
	}

	bank := goodBank()
	got = Source{Bank: bank}.Masked()
	wantBank := *goodBank()
	wantBank.Number = "****2345"
	if diff := cmp.Diff(Source{Bank: &wantBank}, got); diff != "" {
		t.Error(diff)
	}
	if *bank != *goodBank() {
		t.Error("the caller's account was changed")
	}
	if diff := cmp.Diff(got, got.Masked()); diff != "" {
		t.Error("masking twice:", diff)
	}
	if diff := cmp.Diff(Source{}, Source{}.Masked()); diff != "" {
		t.Error(diff)
	}
}
