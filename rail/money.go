package rail

import (
	"strconv"
	"strings"
)

// Money is an amount in minor units (cents) of a currency, an ISO 4217 code in
// lower case. The zero Money means that no amount is set. Amounts are whole numbers and
// never converted to floating point.
type Money struct {
	Amount   int64
	Currency string
}

// MaxPayment is the largest amount of a payment, and so of a price, in minor units of any
// currency.
const MaxPayment = 1e16

// currencyDecimals lists the ISO 4217 currencies that do not have two decimals.
var currencyDecimals = map[string]int{
	"bif": 0, "clp": 0, "djf": 0, "gnf": 0, "isk": 0, "jpy": 0, "kmf": 0, "krw": 0, "pyg": 0, "rwf": 0,
	"ugx": 0, "uyi": 0, "vnd": 0, "vuv": 0, "xaf": 0, "xof": 0, "xpf": 0,
	"bhd": 3, "iqd": 3, "jod": 3, "kwd": 3, "lyd": 3, "omr": 3, "tnd": 3,
	"clf": 4, "uyw": 4,
}

// decimals returns how many decimals amounts of a currency have.
func decimals(currency string) int {
	if n, ok := currencyDecimals[currency]; ok {
		return n
	}
	return 2
}

// ValidCurrency says whether s has the form of a currency code: three lower-case letters.
func ValidCurrency(s string) bool {
	return len(s) == 3 && strings.IndexFunc(s, func(r rune) bool { return r < 'a' || r > 'z' }) < 0
}

// String returns the amount with all its decimals and its currency: 49.90 eur.
func (m Money) String() string { return m.fixed() + " " + m.Currency }

// fixed returns the amount with all decimals of its currency.
func (m Money) fixed() string {
	n := decimals(m.Currency)
	sign, digits := "", strconv.FormatInt(m.Amount, 10)
	if m.Amount < 0 {
		sign, digits = "-", digits[1:]
	}
	if len(digits) <= n {
		digits = strings.Repeat("0", n+1-len(digits)) + digits
	}
	if n == 0 {
		return sign + digits
	}
	return sign + digits[:len(digits)-n] + "." + digits[len(digits)-n:]
}

// Decimal returns the amount as the shortest decimal number: 49.99, 50, 49.9.
func (m Money) Decimal() string {
	s := m.fixed()
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// NoCurrency is the reason for refusing a currency. Like all reasons for refusing a payment,
// it does not quote the value, which could be a card number in the wrong field.
const NoCurrency = "is not a currency code of three lower-case letters, such as eur"

// ParseMoney reads a decimal number, in the form JSON gives numbers, as an
// amount of a currency. It refuses, with an [*InvalidError] naming the member
// amount or currency, more decimals than the currency has (unless zeros), and
// more than 1e16 minor units, the most that anything may cost in any currency.
func ParseMoney(decimal, currency string) (Money, error) {
	if !ValidCurrency(currency) {
		return Money{}, Invalid("currency", NoCurrency)
	}
	amount, ok := parseDecimal(decimal, decimals(currency))
	if !ok {
		return Money{}, Invalid("amount", "is not an amount of %s: a number with at most %d decimals, not above %s",
			currency, decimals(currency), Money{MaxPayment, currency}.Decimal())
	}
	return Money{Amount: amount, Currency: currency}, nil
}

// parseDecimal reads a JSON number exactly, scaled by ten to the n: at most MaxPayment.
func parseDecimal(s string, n int) (int64, bool) {
	s, negative := strings.CutPrefix(s, "-")
	mantissa, exponent, hasExponent := strings.Cut(strings.ToLower(s), "e")
	exp := 0
	if hasExponent {
		var err error
		if exp, err = strconv.Atoi(exponent); err != nil || exp < -100 || exp > 100 {
			return 0, false
		}
	}
	whole, fraction, hasPoint := strings.Cut(mantissa, ".")
	if whole == "" || hasPoint && fraction == "" || len(mantissa) > 100 ||
		len(whole) > 1 && whole[0] == '0' || strings.Trim(whole+fraction, "0123456789") != "" {
		return 0, false
	}
	// The value is digits * 10^shift, in minor units.
	digits, shift := whole+fraction, exp-len(fraction)+n
	digits = strings.TrimLeft(digits, "0")
	for shift < 0 && strings.HasSuffix(digits, "0") {
		digits, shift = digits[:len(digits)-1], shift+1
	}
	if digits == "" {
		return 0, true
	}
	if shift < 0 || len(digits)+shift > len("9223372036854775807") {
		return 0, false
	}
	v, err := strconv.ParseInt(digits+strings.Repeat("0", shift), 10, 64)
	if err != nil || v > MaxPayment {
		return 0, false
	}
	if negative {
		v = -v
	}
	return v, true
}
