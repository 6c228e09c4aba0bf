package httpserver

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"code.dny.dev/ssrf"

	"github.com/traintravel/traintravel"
)

// guardian refuses connections to addresses that are no place of the internet at large:
// of version 4, all special-purpose ones (IANA) and multicast; of version 6, all but
// global unicast, and in there those that lead elsewhere (6to4, Teredo) or nowhere. The
// forms that hold one of version 4 (mapped, NAT64) are outside of global unicast.
var guardian = ssrf.New(ssrf.WithAnyPort())

// CheckURL refuses a subscriber's URL that cannot or must not be posted to. It does not
// resolve the host name; Send does.
func (s *WebhookSender) CheckURL(text string) error {
	u, err := url.Parse(text)
	reason := "is not a URL"
	if err == nil {
		reason = s.fault(u, text)
	}
	if reason == "" {
		return nil
	}
	return &traintravel.InvalidError{Field: "url", Reason: reason}
}

// openPort says whether subscribers may name a port. Below 1024 stand the services of
// machines, such as mail, which are not to be talked to by way of this server.
func openPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil && (n == 80 || n == 443 || n >= 1024)
}

func (s *WebhookSender) fault(u *url.URL, text string) string {
	schemes := "https"
	if s.private {
		schemes = "http or https"
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !s.private) {
		return "does not begin with " + schemes + "://"
	}
	if u.User != nil {
		return "has a user name: remove it; receivers verify the signature of events instead"
	}
	if strings.Contains(text, "#") {
		return "has a fragment, which is never sent: remove it"
	}
	if _, ok := hostInBrowser(u); !ok || u.Port() == "0" {
		return "has an invalid host: want a name in ASCII (xn--… for other letters) or an IP address in its usual form"
	}
	if !openPort(u.Port()) {
		return "has port " + u.Port() + ": webhooks go to ports 80, 443, and 1024 to 65535"
	}
	if s.private {
		return ""
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	addr, err := netip.ParseAddr(host)
	if err == nil && guardian.SafeAddr(addr) != nil || host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return "leads to an address that is not on the public internet"
	}
	return ""
}
