package rail

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/text/language"
)

// New sources have a country code that ISO 3166-1 has assigned, or XK. The list is compared
// with that of Unicode, which also keeps withdrawn and reserved codes.
func TestCountriesOfSources(t *testing.T) {
	t.Parallel()
	accepted := 0
	for first := 'A'; first <= 'Z'; first++ {
		for second := 'A'; second <= 'Z'; second++ {
			code := string([]rune{first, second})
			card, bank := goodCard(), goodBank()
			card.Country, bank.Country = code, code
			ofCard, ofBank := Source{Card: card}.CheckNew(), Source{Bank: bank}.CheckNew()
			if (ofCard == nil) != (ofBank == nil) {
				t.Errorf("%s: %v for a card, %v for an account", code, ofCard, ofBank)
			}
			if ofCard != nil {
				continue
			}
			accepted++
			if region, err := language.ParseRegion(code); err != nil || !region.IsCountry() || region.Canonicalize() != region {
				t.Errorf("%s is accepted, but is not a country", code)
			}
		}
	}
	if accepted != 249+1 {
		t.Errorf("%d codes are accepted, want the 249 that are assigned, and XK", accepted)
	}
	for _, code := range []string{"DE", "GB", "XK", "UA", "AX"} {
		if !isCountry(code) {
			t.Errorf("%s is refused", code)
		}
	}
	for code, why := range map[string]string{
		"XX": "for users", "ZZ": "for users", "QM": "for users", "AA": "for users", "EU": "reserved", "UK": "reserved", "SU": "withdrawn", "YU": "withdrawn", "AN": "withdrawn",
	} {
		card := goodCard()
		card.Country = code
		err := Source{Card: card}.CheckNew()
		if invalid, ok := errors.AsType[*InvalidError](err); !ok || invalid.Field != "source.address_country" || !strings.Contains(invalid.Reason, "such as GB") {
			t.Errorf("%s, a code %s: %v", code, why, err)
		}
		if err := (Source{Card: card}).Validate(); err != nil {
			t.Errorf("%s of an earlier version: %v", code, err)
		}
	}
}
