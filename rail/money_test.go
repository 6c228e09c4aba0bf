package rail

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

// 19.99 was billed as 19.98 and 4.56 became 455: every cent must come in and
// go out exactly.
func TestMoneyEveryCent(t *testing.T) {
	t.Parallel()
	for cents := int64(1); cents <= 1000_00; cents++ {
		fixed := fmt.Sprintf("%d.%02d", cents/100, cents%100)
		m, err := ParseMoney(fixed, "eur")
		if err != nil || m != (Money{cents, "eur"}) {
			t.Fatalf("%s is read as %v, %v", fixed, m, err)
		}
		if m.String() != fixed+" eur" {
			t.Fatalf("%s is written as %s", fixed, m)
		}
		short := m.Decimal()
		if again, err := ParseMoney(short, "eur"); err != nil || again != m {
			t.Fatalf("%s is read as %v, %v", short, again, err)
		}
		if strings.HasSuffix(short, ".") || strings.Contains(short, ".") && strings.HasSuffix(short, "0") {
			t.Fatalf("%s is not the shortest form", short)
		}
	}
}

func TestMoneyParse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		decimal, currency string
		want              int64
	}{
		{"19.99", "eur", 1999},
		{"4.56", "gbp", 456},
		{"0.01", "eur", 1},
		{"0", "eur", 0},
		{"-0", "eur", 0},
		{"0.000", "eur", 0},
		{"0e99", "eur", 0},
		{"50", "eur", 5000},
		{"50.0", "eur", 5000},
		{"50.00000000000000000000", "eur", 5000},
		{"-49.9", "eur", -4990},
		{"1e2", "eur", 100_00},
		{"1.0E+2", "eur", 100_00},
		{"1999e-2", "eur", 1999},
		{"1999000e-5", "eur", 1999},
		{"0.00001999e6", "eur", 1999},
		{"100", "jpy", 100},
		{"100.0", "jpy", 100},
		{"1e2", "jpy", 100},
		{"1.234", "kwd", 1234},
		{"1.5", "tnd", 1500},
		{"1.2345", "clf", 12345},
		{"999999999999.99", "eur", 999999999999_99},
		{"999999999999", "jpy", 999999999999},
		{"999999999999.9999", "clf", 999999999999_9999},
		{"1000000000000", "eur", 1e14},
		{"100000000000000", "eur", MaxPayment},
		{"1e16", "jpy", MaxPayment},
		{"-1e16", "jpy", -MaxPayment},
		{"1e12", "clf", MaxPayment},
	} {
		m, err := ParseMoney(c.decimal, c.currency)
		if err != nil || m != (Money{c.want, c.currency}) {
			t.Errorf("%s %s is read as %v, %v", c.decimal, c.currency, m, err)
		}
	}
}

// 0.009 was accepted and stored as 0.
func TestMoneyTooManyDecimals(t *testing.T) {
	t.Parallel()
	for decimal, currency := range map[string]string{
		"0.009": "eur", "19.999": "eur", "1e-3": "eur", "1.5": "jpy", "1e-1": "jpy", "1.2345": "kwd", "1.23456": "clf",
		"0.0000000000000000000000000000000000000000000000001": "eur",
	} {
		checkNoMoney(t, decimal, currency, "amount")
	}
}

func TestMoneyRefused(t *testing.T) {
	t.Parallel()
	for _, decimal := range []string{
		"", " ", "-", "+1", "--1", "1-", " 1", "1 ", ".5", "5.", "-.5", "01", "00", "-01", "1.2.3", "1,5", "1_000", "1'000",
		"0x10", "1e", "1e+", "1e1.5", "1e1e1", "e5", "1e1_0", "1e 2", "NaN", "Infinity", "inf", "null", `"1"`, "\u0661", "\uff11", "1\x00",
		"100000000000000.01", "1e15", "1e17", "1e100", "1e101", "1e-101", "1e9223372036854775808", "9223372036854775808", "-1e15", "9223372036854775807",
		strings.Repeat("9", 101), "0." + strings.Repeat("0", 100), "1e" + strings.Repeat("9", 1000),
	} {
		checkNoMoney(t, decimal, "eur", "amount")
	}
	for _, currency := range []string{"", "EUR", "Eur", "eu", "euro", "e1r", "e r", "éu"} {
		checkNoMoney(t, "1", currency, "currency")
	}
}

func checkNoMoney(t *testing.T, decimal, currency, field string) {
	t.Helper()
	m, err := ParseMoney(decimal, currency)
	var invalid *InvalidError
	if !errors.As(err, &invalid) || invalid.Field != field || m != (Money{}) {
		t.Errorf("%.50q %q is read as %v, %v", decimal, currency, m, err)
	} else if len(invalid.Reason) > 250 {
		t.Errorf("%.50q makes a reason of %d bytes", decimal, len(invalid.Reason))
	}
}

func TestMoneyWritten(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		m              Money
		fixed, decimal string
	}{
		{Money{4999, "eur"}, "49.99 eur", "49.99"},
		{Money{5000, "eur"}, "50.00 eur", "50"},
		{Money{4990, "eur"}, "49.90 eur", "49.9"},
		{Money{1, "eur"}, "0.01 eur", "0.01"},
		{Money{0, "eur"}, "0.00 eur", "0"},
		{Money{-1, "eur"}, "-0.01 eur", "-0.01"},
		{Money{-4990, "eur"}, "-49.90 eur", "-49.9"},
		{Money{100, "jpy"}, "100 jpy", "100"},
		{Money{0, "jpy"}, "0 jpy", "0"},
		{Money{1234, "kwd"}, "1.234 kwd", "1.234"},
		{Money{5, "kwd"}, "0.005 kwd", "0.005"},
		{Money{1, "clf"}, "0.0001 clf", "0.0001"},
		{Money{math.MaxInt64, "eur"}, "92233720368547758.07 eur", "92233720368547758.07"},
		{Money{math.MinInt64, "eur"}, "-92233720368547758.08 eur", "-92233720368547758.08"},
	} {
		if c.m.String() != c.fixed || c.m.Decimal() != c.decimal {
			t.Errorf("%d %s is written as %s and %s", c.m.Amount, c.m.Currency, c.m, c.m.Decimal())
		}
	}
}

func FuzzParseMoney(f *testing.F) {
	for _, s := range []string{"19.99", "1.0E+2", "-0.0", "0.009", "1e-101", "999999999999.9999", "01", "."} {
		f.Add(s, "eur")
		f.Add(s, "jpy")
		f.Add(s, "clf")
	}
	f.Fuzz(func(t *testing.T, decimal, currency string) {
		m, err := ParseMoney(decimal, currency)
		if err != nil {
			var invalid *InvalidError
			if !errors.As(err, &invalid) {
				t.Fatal(err)
			}
			return
		}
		for _, written := range []string{m.Decimal(), strings.TrimSuffix(m.String(), " "+currency)} {
			if again, err := ParseMoney(written, currency); err != nil || again != m {
				t.Errorf("%q is read as %v, written as %q and read as %v, %v", decimal, m, written, again, err)
			}
		}
	})
}
