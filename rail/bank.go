package rail

import (
	"strings"

	"github.com/traintravel/traintravel/internal/redact"
)

// A BankAccount is an account to debit. Required: Name, Number, AccountType,
// BankName, Country. No text has more than 200 characters.
type BankAccount struct {
	Name string

	// Number is an IBAN with valid length and check digits (ISO 13616) if it begins
	// with two letters and two digits, and otherwise an account number of 4 to 34
	// letters and digits. Blanks and hyphens are removed.
	Number Secret

	SortCode    string // six digits; blanks and hyphens between them are removed; may be empty
	AccountType AccountType
	BankName    string
	Country     string // ISO 3166-1 alpha-2, in either case
}

// An AccountType distinguishes accounts of individuals and companies.
type AccountType string

// The account types of the documented API.
const (
	Individual AccountType = "individual"
	Company    AccountType = "company"
)

func (b BankAccount) normalize() (BankAccount, error) {
	var k sourceChecker
	b.Name = k.required("name", b.Name)

	number := k.secret("number", b.Number)
	k.check(alphanumeric(number) && 4 <= len(number) && len(number) <= 34, "number", "must have 4 to 34 letters and digits")
	number = strings.ToUpper(number)
	k.check(!looksLikeIBAN(number) || validIBAN(number), "number", "is not a valid IBAN: its length or its check digits are wrong")
	b.Number = Secret(number)

	b.SortCode = redact.Compact(b.SortCode)
	k.check(b.SortCode == "" || redact.Digits(b.SortCode, 6, 6), "sort_code", "must have six digits")

	k.check(b.AccountType != "", "account_type", "is required")
	k.check(b.AccountType == Individual || b.AccountType == Company, "account_type", "must be individual or company")
	b.BankName = k.required("bank_name", b.BankName)
	b.Country = k.country("country", b.Country)
	k.without(number, []memberText{{"name", b.Name}, {"bank_name", b.BankName}})
	return b, k.err
}

func alphanumeric(s string) bool {
	for i := range len(s) {
		if !redact.IsDigit(s[i]) && !redact.IsLetter(s[i]) {
			return false
		}
	}
	return true
}

func looksLikeIBAN(s string) bool {
	return len(s) >= 4 && redact.IsLetter(s[0]) && redact.IsLetter(s[1]) && redact.IsDigit(s[2]) && redact.IsDigit(s[3])
}

// ibanLengths are the lengths of the IBANs of Europe and its neighbours, from
// the registry of ISO 13616 that SWIFT keeps.
var ibanLengths = map[string]int{
	"AD": 24, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BY": 28, "CH": 21, "CY": 28,
	"CZ": 24, "DE": 22, "DK": 18, "EE": 20, "ES": 24, "FI": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22,
	"GI": 23, "GL": 18, "GR": 27, "HR": 21, "HU": 28, "IE": 22, "IS": 26, "IT": 27, "LI": 21, "LT": 20,
	"LU": 20, "LV": 21, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MT": 31, "NL": 18, "NO": 15, "PL": 28,
	"PT": 25, "RO": 24, "RS": 22, "RU": 33, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "TR": 26, "UA": 29,
	"VA": 22, "XK": 20,
}

// validIBAN checks what looks like an IBAN in upper case by ISO 13616: the
// country's length, if we know it, and the check digits of ISO 7064, MOD 97-10.
func validIBAN(s string) bool {
	if n, ok := ibanLengths[s[:2]]; ok && len(s) != n || len(s) < 15 {
		return false
	}
	rest := 0
	for _, r := range s[4:] + s[:4] {
		if r >= 'A' {
			rest = (rest*100 + int(r-'A') + 10) % 97
		} else {
			rest = (rest*10 + int(r-'0')) % 97
		}
	}
	// 00, 01 and 99 would leave the same rest as 97, 98 and 02.
	return rest == 1 && "02" <= s[2:4] && s[2:4] <= "98"
}
