package httpserver

import (
	"encoding/hex"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
)

// A document is what an answer says, in each form that a client may ask for.
// Links in it begin with base.
type document interface {
	appendJSON(b []byte, base string) []byte
}

// A list is a page of a collection.
type list[D document] struct {
	items []D
	links pageLinks
}

func (l list[D]) appendJSON(b []byte, base string) []byte {
	b = append(b, `{"data":[`...)
	for i, d := range l.items {
		if i > 0 {
			b = append(b, ',')
		}
		b = d.appendJSON(b, base)
	}
	b = append(b, `],"links":`...)
	b = l.links.appendJSON(b)
	return append(b, '}')
}

// appendString writes a JSON string. What is no UTF-8 becomes U+FFFD.
func appendString(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s)
	return b
}

// appendText writes a member whose value is a string, unless that is empty.
func appendText(b []byte, name, s string) []byte {
	if s == "" {
		return b
	}
	b = append(b, ',', '"')
	b = append(b, name...)
	b = append(b, '"', ':')
	return appendString(b, s)
}

// appendID writes a UUID without quotation marks.
func appendID(b []byte, id uuid.UUID) []byte {
	b = hex.AppendEncode(b, id[:4])
	for _, part := range [...][]byte{id[4:6], id[6:8], id[8:10], id[10:]} {
		b = append(b, '-')
		b = hex.AppendEncode(b, part)
	}
	return b
}

// appendTime writes an instant with the offset it was made with.
func appendTime(b []byte, t time.Time) []byte {
	b = append(b, '"')
	b = t.AppendFormat(b, time.RFC3339)
	return append(b, '"')
}

// httpDate writes an instant as headers have it (RFC 9110, section 5.6.7), like
// the format http.TimeFormat, in a fraction of the time.
func httpDate(t time.Time) string {
	const days, months = "SunMonTueWedThuFriSat", "JanFebMarAprMayJunJulAugSepOctNovDec"
	t = t.UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	var a [len(http.TimeFormat)]byte
	b := append(a[:0], days[3*t.Weekday():][:3]...)
	b = append(b, ", "...)
	b = append(b, byte('0'+day/10), byte('0'+day%10), ' ')
	b = append(b, months[3*(month-1):][:3]...)
	b = append(b, ' ', byte('0'+year/1000%10), byte('0'+year/100%10), byte('0'+year/10%10), byte('0'+year%10))
	for i, n := range [...]int{hour, minute, second} {
		b = append(b, " ::"[i], byte('0'+n/10), byte('0'+n%10))
	}
	return string(append(b, " GMT"...))
}

func appendFloat(b []byte, f float64) []byte { return strconv.AppendFloat(b, f, 'f', -1, 64) }

// acceptsJSON says whether an Accept header allows application/json, by RFC
// 9110, section 12.5.1: of the ranges that match, the most specific counts.
func acceptsJSON(headers []string) bool {
	if len(headers) == 0 || len(headers) == 1 && (headers[0] == "*/*" || headers[0] == "application/json" || headers[0] == "") {
		return true
	}
	best, accepted, ranges := 0, false, 0
	for _, h := range headers {
		for element := range strings.SplitSeq(h, ",") {
			if strings.TrimSpace(element) == "" {
				continue
			}
			ranges++
			rang, params, _ := strings.Cut(element, ";")
			specific := 0
			switch strings.ToLower(strings.TrimSpace(rang)) {
			case "*/*":
				specific = 1
			case "application/*":
				specific = 2
			case "application/json":
				specific = 3
			}
			if specific > best || specific > 0 && specific == best && !accepted {
				best, accepted = specific, quality(params) > 0
			}
		}
	}
	return accepted || ranges == 0
}

// quality reads the parameter q of a media range, 1 if there is none that can
// be read.
func quality(params string) float64 {
	for p := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(p, "=")
		if strings.EqualFold(strings.TrimSpace(name), "q") {
			if q, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil {
				return q
			}
		}
	}
	return 1
}

// sendsJSON says whether a body is JSON as we read it: UTF-8, not compressed.
func sendsJSON(h http.Header) bool {
	if types := h["Content-Type"]; len(types) != 1 || !isJSON(types[0]) {
		return false
	}
	for _, coding := range h["Content-Encoding"] {
		if coding != "" && !strings.EqualFold(coding, "identity") {
			return false
		}
	}
	return true
}

func isJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	media, params, err := mime.ParseMediaType(contentType)
	charset, sent := params["charset"]
	return err == nil && media == "application/json" && (!sent || strings.EqualFold(charset, "utf-8"))
}
