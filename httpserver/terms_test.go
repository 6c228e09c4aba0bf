package httpserver_test

import (
	"strings"
	"testing"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/store/memstore"
)

// The refund terms are the operator's text, or describe the default; if the operator has a rule
// but no text, they are empty.
func TestRefundTerms(t *testing.T) {
	t.Parallel()
	half := func(b traintravel.Booking, _ time.Time) (traintravel.Money, error) { return b.Price, nil }
	for name, c := range map[string]struct {
		options traintravel.Options
		want    string
	}{
		"nothing said": {traintravel.Options{}, "You can cancel until departure and get the whole price back."},
		"a rule":       {traintravel.Options{Cancel: half}, ""},
		"terms":        {traintravel.Options{Cancel: half, RefundTerms: "Half the price."}, "Half the price."},
	} {
		s, err := traintravel.New(memstore.New(), c.options)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.RefundTerms(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	for _, terms := range []string{"two\nlines", "\xff", strings.Repeat("x", 501)} {
		if _, err := traintravel.New(memstore.New(), traintravel.Options{RefundTerms: terms}); err == nil {
			t.Errorf("terms of %.20q are taken", terms)
		}
	}
}
