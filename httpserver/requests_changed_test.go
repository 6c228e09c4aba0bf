package httpserver_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// odd are texts that stand where others are meant.
var odd = []string{
	"", " ", "null", "undefined", "true", "0", "-1", "1.5", "1e400", "9223372036854775808", "NaN", "٥", "a,b", "%", "%00", "+", "\x00", "\x1f\x7f", "\xff\xfe", "é", "ß🚆",
	"\u202eabc", "\u2028", "../../etc/passwd", "'; DROP TABLE bookings; --", "<script>", "{}", "[]", `"`, `\`, "*", "W/", `"a`, "2024-02-30", "2024-02-01T25:00",
	"9999-12-31", "0000-01-01", "91,181", "1,2,3", "http://", "https://a@b/", "javascript:1", strings.Repeat("a", 300), strings.Repeat("9", 5000), strings.Repeat("é", 3000),
	"00000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF", "{09a94001-0002-82a0-8000-000000000000}",
}

// strange are values that stand where others are meant in JSON.
var strange = []any{
	nil, true, false, map[string]any{}, []any{}, []any{nil}, map[string]any{"a": map[string]any{"b": []any{1}}}, json.Number("0"), json.Number("-0"), json.Number("-1"), json.Number("1e5"),
	json.Number("1e400"), json.Number("0.1e1"), json.Number("113.580"), json.Number("113.5800000000000000001"), json.Number("9223372036854775808"), json.Number("12345678901234567890.123"),
}

// change makes a request another in one way.
func (d *drawer) change(r *drawn) {
	changes := map[string]func(*drawn){
		"token": d.changeToken, "method": d.changeMethod, "path": d.changePath, "query": d.changeQuery,
		"header": d.changeHeader, "member": d.changeMember, "bytes": d.changeBytes,
	}
	name := one(d, []string{"token", "method", "path", "path", "query", "query", "query", "header", "header", "header", "member", "member", "member", "member", "bytes", "bytes"})
	r.exact = false
	r.how = append(r.how, name)
	changes[name](r)
}

func (d *drawer) changeToken(r *drawn) {
	switch token := one(d, []string{"", "anna-r", "anna-w", "anna-", "forged", "berta-rw", "anna-rw-other", "Basic x", "bearer anna-rw", "Bearer  anna-rw", "Bearer"}); {
	case token == "":
		r.header.Del("Authorization")
	case strings.Contains(strings.ToLower(token), "b") && strings.ContainsAny(token, " BR"):
		r.header.Set("Authorization", token)
	default:
		r.header.Set("Authorization", "Bearer "+token)
	}
}

func (d *drawer) changeMethod(r *drawn) {
	r.method = one(d, []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"})
}

func (d *drawer) changePath(r *drawn) {
	if len(r.path) == 0 {
		return
	}
	name := one(d, slices.Sorted(maps.Keys(r.path)))
	switch value := r.path[name]; d.IntN(4) {
	case 0:
		r.path[name] = strings.ToUpper(value)
	case 1:
		r.path[name] = uuidOf(d)
	case 2:
		r.path[name] = value + one(d, odd)
	default:
		r.path[name] = one(d, odd)
	}
}

func (d *drawer) changeQuery(r *drawn) {
	if len(r.query) == 0 || d.chance(30) {
		names := []string{"access_token", "page", "Page", "x", "limit", ""}
		for _, p := range r.plan.parameters {
			names = append(names, p.name)
		}
		r.query = append(r.query, [2]string{one(d, names), one(d, odd)})
		return
	}
	i := d.IntN(len(r.query))
	switch d.IntN(4) {
	case 0:
		r.query = slices.Delete(r.query, i, i+1)
	case 1:
		r.query = append(r.query, r.query[i])
	default:
		r.query[i][1] = one(d, odd)
	}
}

// headers are what is sent in those that the server reads, well formed or nearly so.
var headers = map[string][]string{
	"Accept": {"text/html", "application/pdf", "image/*", "application/*;q=0", "*/*;q=0", "application/xml;q=0.9, application/json;q=0.1", "application/problem+xml", ";", ",,,", "a/b;q=x"},
	"Content-Type": {"application/json; charset=utf-8", "application/json; charset=latin1", "text/xml", "application/xml", "application/json", "application/merge-patch+json", "application/octet-stream",
		"multipart/form-data", ";"},
	"Content-Encoding": {"gzip", "identity", "br, gzip"},
	"Idempotency-Key":  {"k", `"k"`, `"k`, `""`, "k2", `"\\"`, "k k"},
	"If-Match":         {`"x", *`, "*", `W/"x"`, `W/`, `"x`, `"x",, "y"`, `"a,b"`},
	"If-None-Match":    {`"x", *`, "*", `W/"x"`, `W/`, `"x`, `"x",, "y"`, `"a,b"`},
	"Origin":           {"https://a.example", "https://b.example", "null"},
	"X-Forwarded-Host": {"evil.example", "a, b"},
	"Range":            {"bytes=0-1", "bytes=1-0"},
}

// changeHeader sends values that the network lets through.
func (d *drawer) changeHeader(r *drawn) {
	name := one(d, slices.Sorted(maps.Keys(headers)))
	value := one(d, headers[name])
	if d.chance(30) {
		value = one(d, odd)
	}
	value = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, value)
	switch d.IntN(6) {
	case 0:
		r.header.Del(name)
	case 1:
		r.header.Add(name, value)
	default:
		r.header.Set(name, value)
	}
}

// changeMember changes, drops or adds a member of the body, however deep it is.
func (d *drawer) changeMember(r *drawn) {
	o, ok := r.value.(map[string]any)
	if !ok {
		return
	}
	for len(o) > 0 {
		name := one(d, slices.Sorted(maps.Keys(o)))
		deeper, ok := o[name].(map[string]any)
		if ok && len(deeper) > 0 && d.chance(75) {
			o = deeper
			continue
		}
		switch d.IntN(5) {
		case 0:
			delete(o, name)
		case 1:
			o[one(d, []string{"id", "links", "x", "", "object", "status", "\x00"})] = one(d, strange)
		case 2:
			o[name] = one(d, strange)
		default:
			o[name] = one(d, odd)
		}
		break
	}
	r.body = d.written(r, r.header.Get("Content-Type"))
}

func (d *drawer) changeBytes(r *drawn) {
	n := len(r.body)
	r.value = nil
	if n == 0 {
		r.body = []byte(one(d, odd))
		return
	}
	i := d.IntN(n)
	switch d.IntN(7) {
	case 0:
		r.body = r.body[:i]
	case 1:
		r.body = append(r.body, one(d, odd)...)
	case 2:
		r.body = append([]byte(one(d, odd)), r.body...)
	case 3:
		r.body[i] = byte(d.IntN(256))
	case 4:
		r.body = slices.Insert(r.body, i, []byte(one(d, []string{"{", "}", `"`, ",", "\\u0000", "\\ud800", "<", "&", "]]>", "<!--", "\x00", "\xff"}))...)
	case 5:
		r.body = slices.Concat(r.body[:i], r.body[i/2:])
	default:
		r.body = []byte(strings.Repeat(string(r.body), 1+70_000/n))
	}
}
