package webhooks

import (
	"fmt"
	"strings"
)

// normalURL normalizes a URL as the API describes (RFC 3986, section 6.2): scheme and host in
// lower case, without an empty port, and with characters escaped that a path or a query must
// not contain. It does not change URLs that later checks refuse: those with control characters,
// user names, or hosts with letters that are not ASCII, some of which have ASCII lower-case
// forms.
func normalURL(url string) string {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return url
	}
	host := rest
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		host = rest[:end]
	}
	if strings.Contains(host, "@") {
		return url
	}
	rest = rest[len(host):]
	lower := func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}
	b := []byte(strings.Map(lower, scheme) + "://" + strings.Map(lower, strings.TrimSuffix(host, ":")))
	for i := range len(rest) {
		c := rest[i]
		stray := c == ' ' || c > '~' && c != 0x7F || strings.IndexByte("\"<>[\\]^`{|}", c) >= 0
		if c == '%' {
			stray = len(rest) < i+3 || !isHex(rest[i+1]) || !isHex(rest[i+2])
		}
		if stray {
			b = fmt.Appendf(b, "%%%02X", c)
		} else {
			b = append(b, c)
		}
	}
	return string(b)
}

func isHex(c byte) bool { return strings.IndexByte("0123456789abcdefABCDEF", c) >= 0 }
