package httpserver

import "strings"

const (
	keyHeader = "Idempotency-Key"
	maxKey    = 255 // bytes
)

// idempotencyKey reads the header that makes a request safe to send again,
// empty if there is none. In quotation marks, as the IETF's draft has it, it is
// the same key as without.
func (x *exchange) idempotencyKey() (string, error) {
	values := x.r.Header[keyHeader]
	if len(values) == 0 {
		return "", nil
	}
	key := values[0]
	if n := len(key); n > 1 && key[0] == '"' && key[n-1] == '"' {
		key = key[1 : n-1]
	}
	wrong := ""
	switch {
	case len(values) > 1:
		wrong = "is there more than once"
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

// replayed says, if it is so, that the answer was given before.
func (x *exchange) replayed(is bool) {
	if is {
		x.set("Idempotency-Replayed", "true")
	}
}
