package httpserver

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// known gives the answer an ETag and says whether the client has that already
// (RFC 9110, section 13.1.2). The tag is strong: it is of the very bytes of the
// body, and of Sunset, which tells more of a booking than its body does.
func (x *exchange) known() bool {
	h := sha256.New()
	h.Write(x.out)
	for _, v := range x.w.Header()["Sunset"] {
		h.Write([]byte(v))
	}
	var sum [sha256.Size]byte
	h.Sum(sum[:0])
	tag := `"` + base64.RawURLEncoding.EncodeToString(sum[:15]) + `"`
	x.set("Etag", tag)
	for _, header := range x.r.Header["If-None-Match"] {
		for one := range strings.SplitSeq(header, ",") {
			one = strings.TrimSpace(one)
			if one == "*" || strings.TrimPrefix(one, "W/") == tag {
				return true
			}
		}
	}
	return false
}
