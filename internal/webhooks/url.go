package webhooks

import (
	"fmt"
	"strings"
)

// normalURL writes a URL as the API says that URLs are (RFC 3986, section 6.2): its scheme
// and host in lower case, without an empty port, and escaped what a path or a query may
// not have. Whatever it is in doubt about, it leaves to be refused: control characters,
// user names, and letters of hosts that are not ASCII, some of which have lower-case forms
// that are.
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
