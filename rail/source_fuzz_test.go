package rail

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func FuzzSourceCard(f *testing.F) {
	f.Add("J. Doe", "4242 4242 4242 4242", "123", 12, 2030, "1 Street", "GB")
	f.Add("\xff", "************4242", "***", 0, -1, "\x00", "é")
	f.Fuzz(func(t *testing.T, name, number, cvc string, month, year int, address, country string) {
		checkSource(t, Source{Card: &Card{
			Name: name, Number: Secret(number), CVC: Secret(cvc), ExpMonth: month, ExpYear: year,
			Address1: address, Address2: address, City: address, Country: country, PostCode: address,
		}})
	})
}

func FuzzSourceBank(f *testing.F) {
	f.Add("J. Doe", "GB33 BUKB 2020 1555 5555 55", "20-20-15", "individual", "Barclays", "gb")
	f.Add("J. Doe", "SA0380000000608010167519", "", "company", "-", "SA")
	f.Add("", "12ſ", "-", "", "", "")
	f.Fuzz(func(t *testing.T, name, number, sortCode, accountType, bankName, country string) {
		checkSource(t, Source{Bank: &BankAccount{
			Name: name, Number: Secret(number), SortCode: sortCode,
			AccountType: AccountType(accountType), BankName: bankName, Country: country,
		}})
	})
}

// checkSource checks what holds of every source, good or bad.
func checkSource(t *testing.T, s Source) {
	masked := s.Masked()
	if diff := cmp.Diff(masked, masked.Masked()); diff != "" {
		t.Error("masking is not idempotent:", diff)
	}
	normal, err := s.Normalize()
	if err != nil {
		return
	}
	again, err := normal.Normalize()
	if err != nil {
		t.Fatal("the normal form is refused:", err)
	}
	if diff := cmp.Diff(normal, again); diff != "" {
		t.Error("normalising is not idempotent:", diff)
	}
	full, shown := secrets(normal)[0], secrets(normal.Masked())[0]
	if len(shown) != len(full) || shown == full || strings.Trim(shown[:len(shown)-4], "*") != "" {
		t.Errorf("%q is masked as %q", full, shown)
	}
	if err := normal.Masked().Validate(); err == nil {
		t.Error("the masked form is taken for a valid source")
	}
}
