package rail

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/traintravel/traintravel/internal/redact"
)

// A Secret is a card or account number, or a card's security code. It never prints
// its value: fmt with any verb, encoding/json, encoding/xml and log/slog print the
// masked form, as [Source.Masked] returns it. Convert it with string(s) to get the
// plain value.
//
// Masking relies on methods. fmt does not call methods of an unexported struct
// field, so keep no Secret there; nor of an argument without a verb or with a wrong
// one (%p, %w), which go vet finds.
type Secret string

// masked replaces all characters but the last four by asterisks, or all if
// there are no more than four. Separators do not count and stay. Masking what
// is masked changes nothing.
func (s Secret) masked() string {
	hidden := -4
	for _, r := range s {
		if !redact.Separator(r) {
			hidden++
		}
	}
	if hidden <= 0 {
		hidden += 4
	}
	return strings.Map(func(r rune) rune {
		if redact.Separator(r) || hidden == 0 {
			return r
		}
		hidden--
		return '*'
	}, string(s))
}

// String returns the masked form.
func (s Secret) String() string { return s.masked() }

// GoString returns the masked form as a Go string literal.
func (s Secret) GoString() string { return fmt.Sprintf("%q", s.masked()) }

// Format writes the masked form, as fmt would write that string.
func (s Secret) Format(f fmt.State, verb rune) {
	fmt.Fprintf(f, fmt.FormatString(f, verb), s.masked())
}

// MarshalText returns the masked form, for JSON and XML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.masked()), nil }

// LogValue returns the masked form, for log/slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.masked()) }
