package httpserver

import "strings"

const (
	keyHeader = "Idempotency-Key"
	maxKey    = 255 // bytes
)

// idempotencyKey reads the header that makes a request safe to send again, empty if the
// request has none. In the IETF's draft it is a string of RFC 9651, which is in quotation
// marks; most clients send the key without them, and it is the same key.
//
// The service compares the bodies of two requests with the same key, except a card's security
// code, which must not be stored.
func (x *exchange) idempotencyKey() (string, error) {
	values := x.r.Header[keyHeader]
	if len(values) == 0 {
		return "", nil
	}
	key, ok := unquote(values[0])
	wrong := ""
	switch {
	case len(values) > 1:
		wrong = "occurs more than once"
	case !ok:
		wrong = "begins with a quotation mark, but is not one string in quotation marks (RFC 9651)"
	case strings.TrimSpace(key) == "":
		wrong = "is empty"
	case len(key) > maxKey:
		wrong = "has more than 255 bytes"
	case strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' }):
		wrong = "has characters that are not printable ASCII"
	}
	if wrong != "" {
		return "", faults{{parameter: keyHeader, detail: wrong}}.problem()
	}
	return key, nil
}

// unquote returns what a string of RFC 9651 says, and as it is what does not
// begin with a quotation mark. In the string, a backslash goes before each
// quotation mark and each backslash, and before nothing else.
func unquote(s string) (string, bool) {
	if !strings.HasPrefix(s, `"`) {
		return s, true
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return b.String(), i == len(s)-1
		case c == '\\':
			if i++; i == len(s) || s[i] != '"' && s[i] != '\\' {
				return "", false
			}
		}
		b.WriteByte(s[i])
	}
	return "", false
}

// replayed says, if it is so, that the answer was given before.
func (x *exchange) replayed(is bool) {
	if is {
		x.set("Idempotency-Replayed", "true")
	}
}
