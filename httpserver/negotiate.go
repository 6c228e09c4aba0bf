package httpserver

import (
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// accepted chooses the form of an answer by an Accept header, by RFC 9110,
// section 12.5.1; JSON if both are as welcome. A client that names problems alone,
// as those do whose description lists nothing else that has a body, wants what a
// problem is written in. It returns false if neither form is accepted.
func accepted(headers []string) (form, bool) {
	if len(headers) == 0 || len(headers) == 1 && (headers[0] == "*/*" || headers[0] == "application/json" || headers[0] == "") {
		return asJSON, true
	}
	r := readAccept(headers)
	j, x := r.quality("application/json"), r.quality("application/xml")
	if j == 0 && x == 0 {
		j, x = r.instead("application/json", "application/problem+json"), r.instead("application/xml", "application/problem+xml")
	}
	if x > j {
		return asXML, true
	}
	return asJSON, j > 0
}

// acceptedProblem chooses the form of a problem: that of which the media type,
// or that of other answers, is more welcome. A problem is never not acceptable.
// Browsers name XML, for they show pages in it, and JSON not at all; but of problems
// they show what is JSON and no other: who names HTML gets that, unless it knows
// what a problem in XML is.
func acceptedProblem(headers []string) form {
	if len(headers) == 0 {
		return asJSON
	}
	r := readAccept(headers)
	if r.names("text/html") && !r.names("application/problem+xml") {
		return asJSON
	}
	if max(r.quality("application/xml"), r.quality("application/problem+xml")) >
		max(r.quality("application/json"), r.quality("application/problem+json")) {
		return asXML
	}
	return asJSON
}

// accept is the media ranges that a client wants; none at all is anything.
type accept []mediaRange

type mediaRange struct {
	name    string // in lower case
	quality float64
}

// maxRanges is how many elements of a list of ranges count, the first of them.
const maxRanges = 100

func readAccept(headers []string) accept {
	var a accept
	read := 0
	for _, h := range headers {
		for element := range strings.SplitSeq(h, ",") {
			if read++; read > maxRanges {
				break
			}
			name, params, _ := strings.Cut(element, ";")
			if name = strings.ToLower(strings.TrimSpace(name)); name != "" {
				a = append(a, mediaRange{name, quality(params)})
			}
		}
	}
	if a == nil {
		a = accept{{"*/*", 1}}
	}
	return a
}

// names says whether a media type is welcome by its own name.
func (a accept) names(mediaType string) bool {
	return slices.ContainsFunc(a, func(r mediaRange) bool { return r.name == mediaType && r.quality > 0 })
}

// quality says how welcome a media type is, zero for not at all: of the ranges
// that match, the most specific counts. Parameters of a range but q are ignored.
func (a accept) quality(mediaType string) (q float64) {
	specific := 0
	group, _, _ := strings.Cut(mediaType, "/")
	for _, r := range a {
		s := 0
		switch r.name {
		case mediaType:
			s = 3
		case group + "/*":
			s = 2
		case "*/*":
			s = 1
		}
		switch {
		case s > specific:
			specific, q = s, r.quality
		case s > 0 && s == specific:
			q = max(q, r.quality)
		}
	}
	return q
}

// instead is how welcome one media type is in place of another: not at all if that is
// excluded.
func (a accept) instead(excluded, mediaType string) float64 {
	if slices.ContainsFunc(a, func(r mediaRange) bool { return r.name == excluded }) {
		return 0
	}
	return a.quality(mediaType)
}

// quality reads the parameter q of a media range, 1 if there is none that can
// be read.
func quality(params string) float64 {
	for p := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(p, "=")
		if strings.EqualFold(strings.TrimSpace(name), "q") {
			if q, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil && q >= 0 {
				return min(q, 1)
			}
		}
	}
	return 1
}

// sentPatch says whether a body is JSON that is to be merged: a merge patch (RFC 7396),
// which is its own media type, or what most clients call it.
func sentPatch(h http.Header) bool {
	f, ok := sent(h)
	return ok && f == asJSON || len(h["Content-Type"]) == 1 && identical(h) && h["Content-Type"][0] == "application/merge-patch+json"
}

// maxMediaType bounds the Content-Type of a request, in bytes, with its parameters.
const maxMediaType = 256

// sent says in which form a body comes, if we read it: in UTF-8, not compressed.
func sent(h http.Header) (form, bool) {
	types := h["Content-Type"]
	if len(types) != 1 || !identical(h) {
		return 0, false
	}
	if types[0] == "application/json" {
		return asJSON, true
	}
	if len(types[0]) > maxMediaType {
		return 0, false
	}
	media, params, err := mime.ParseMediaType(types[0])
	if charset, ok := params["charset"]; err != nil || ok && !strings.EqualFold(charset, "utf-8") {
		return 0, false
	}
	switch media {
	case "application/json":
		return asJSON, true
	case "application/xml", "text/xml":
		return asXML, true
	}
	return 0, false
}

// sentBytes says whether a body comes as bytes of no known form.
func sentBytes(h http.Header) bool {
	types := h["Content-Type"]
	if len(types) != 1 || !identical(h) || len(types[0]) > maxMediaType {
		return false
	}
	media, _, err := mime.ParseMediaType(types[0])
	return err == nil && media == "application/octet-stream"
}

// identical says whether a body comes without a content coding.
func identical(h http.Header) bool {
	return !slices.ContainsFunc(h["Content-Encoding"], func(coding string) bool {
		return coding != "" && !strings.EqualFold(coding, "identity")
	})
}
