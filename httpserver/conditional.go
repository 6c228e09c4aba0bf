package httpserver

import (
	"net/http"
	"slices"
	"strings"

	"github.com/traintravel/traintravel"
)

// Conditions are those of RFC 9110, section 13, on the resources that have tags:
// stations and bookings. They are evaluated last, when the request would succeed without
// them, so that other errors of a request are reported first. Trips and payments have no
// tags that a client could send.
//
// Conditions of a POST are ignored. The resource that it makes does not exist yet, so no
// representation is selected (13.2.1): the list to which a booking is posted always exists,
// and If-None-Match: * would forbid all bookings. A client that must not book or pay twice
// sends an Idempotency-Key.

var problemPrecondition = &problem{status: http.StatusPreconditionFailed, slug: "precondition-failed", title: "The precondition failed",
	detail: "The current version of the resource does not meet the condition in If-Match or If-None-Match. Nothing was changed."}

// known gives the answer in x.out an ETag and says whether the client has that
// already. It returns a problem if the client wants another one.
func (x *exchange) known() (bool, error) {
	h := x.w.Header()
	var sunset string
	if v := h["Sunset"]; len(v) > 0 {
		sunset = v[0]
	}
	known, err := x.knownAs(tagOf(x.out, sunset))
	if err != nil {
		delete(h, "Sunset") // is not the problem's
	}
	return known, err
}

// knownAs gives the answer an ETag, as known does.
func (x *exchange) knownAs(tag string) (bool, error) {
	if !x.matches(tag) {
		return false, problemPrecondition
	}
	x.set("Etag", tag)
	return x.noneWanted(tag), nil
}

// sunsetOf is the instant at which a held booking ends, empty for one that is paid.
func sunsetOf(b traintravel.Booking) string {
	if b.Status != traintravel.Held {
		return ""
	}
	return httpDate(b.HeldUntil())
}

// matches evaluates If-Match (13.1.1), by the strong comparison: a weak tag is
// equal to none. These are the tags of what there is.
func (x *exchange) matches(tags ...string) bool {
	values := x.r.Header["If-Match"]
	return values == nil || anything(values) || slices.ContainsFunc(listed(values), func(t string) bool { return slices.Contains(tags, t) })
}

// noneWanted evaluates If-None-Match (13.1.2), by the weak comparison, and says
// whether it is false.
func (x *exchange) noneWanted(tags ...string) bool {
	values := x.r.Header["If-None-Match"]
	return anything(values) || slices.ContainsFunc(listed(values), func(t string) bool {
		return slices.Contains(tags, strings.TrimPrefix(t, "W/"))
	})
}

// anything says whether the value of a condition is an asterisk.
func anything(values []string) bool { return len(values) == 1 && strings.TrimSpace(values[0]) == "*" }

// maxTags is how many entity tags of a condition count, the first of them.
const maxTags = 100

// listed reads the entity tags of a condition, as far as they are in order. A
// comma in a tag is part of it.
func listed(values []string) (tags []string) {
	for _, rest := range values {
		for {
			if rest = strings.TrimLeft(rest, ", \t"); rest == "" {
				break
			}
			weak := strings.HasPrefix(rest, "W/")
			begin := 0
			if weak {
				begin = 2
			}
			if begin == len(rest) || rest[begin] != '"' {
				return tags
			}
			n := strings.IndexByte(rest[begin+1:], '"')
			if n < 0 {
				return tags
			}
			end := begin + n + 2
			tag := rest[:end]
			if rest = strings.TrimLeft(rest[end:], " \t"); rest != "" && rest[0] != ',' {
				return tags
			}
			if tags = append(tags, tag); len(tags) == maxTags {
				return tags
			}
		}
	}
	return tags
}

// sendTagged sends the answer whose body is x.out, with its ETag, unless the client
// has it already.
func (x *exchange) sendTagged(contentType []string) error {
	switch known, err := x.known(); {
	case err != nil:
		return err
	case known:
		return x.empty(http.StatusNotModified)
	}
	x.write(http.StatusOK, contentType, x.route.cache)
	return nil
}

// sendText answers with a text, unless the client has it already. It is kept for all
// answers, so that one more takes no memory.
func (x *exchange) sendText(t *text) error {
	c, zipped := t.plain, false
	if t.zipped.body != nil {
		x.w.Header().Add("Vary", "Accept-Encoding")
		if zipped = x.unzips(); zipped {
			c = t.zipped
		}
	}
	known, err := x.knownAs(c.tag)
	if err != nil {
		return err
	}
	x.policy = t.policy
	if known {
		return x.empty(http.StatusNotModified)
	}
	if zipped {
		x.set("Content-Encoding", "gzip")
	}
	x.shared = c.body
	x.write(http.StatusOK, t.contentType, x.route.cache)
	return nil
}

// unzips says whether the client reads what is compressed with gzip.
func (x *exchange) unzips() bool {
	for _, coding := range readAccept(x.r.Header["Accept-Encoding"]) {
		if coding.name == "gzip" {
			return coding.quality > 0
		}
	}
	return false
}
