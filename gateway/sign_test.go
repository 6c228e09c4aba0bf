package gateway

import (
	"encoding/base64"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

const (
	testSecret  = "whsec_bm90IGEgc2VjcmV0OiBldmVyeWJvZHkga25vd3MgaXQ="
	otherSecret = "whsec_YW5vdGhlciBvbmUgdGhhdCBldmVyeWJvZHkga25vd3M="
)

func mustParse(t testing.TB, text string) ring {
	t.Helper()
	r, err := parseSecrets(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The signatures in the description are those that the package makes and accepts.
func TestVectors(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Vectors []struct {
			Name, Secret, ID, Line, Body, Signature string
			Timestamp                               string
		} `yaml:"x-signature-test-vectors"`
	}
	if err := yaml.Unmarshal(text, &doc); err != nil || len(doc.Vectors) < 4 {
		t.Fatalf("%d vectors, %v", len(doc.Vectors), err)
	}
	at := time.Unix(1700000000, 0)
	for _, v := range doc.Vectors {
		r, h := mustParse(t, v.Secret), http.Header{}
		r.sign(h, v.ID, at, v.Line, []byte(v.Body))
		want := http.Header{headerID: {v.ID}, headerTimestamp: {v.Timestamp}, headerSignature: {v.Signature}}
		for name := range want {
			if h.Get(name) != want.Get(name) {
				t.Errorf("%s: %s is %s, and described as %s", v.Name, name, h.Get(name), want.Get(name))
			}
		}
		if id, err := r.verify(want, at, v.Line, []byte(v.Body)); err != nil || id != v.ID {
			t.Errorf("%s: %q, %v", v.Name, id, err)
		}
	}
}

func TestSignatures(t *testing.T) {
	t.Parallel()
	const line = "PUT /charges/018d63af-d4fd-73c6-be08-f6e3347fea0b"
	body := []byte(`{"amount":1}`)
	now := time.Unix(1_800_000_000, 999)
	one, other, both := mustParse(t, testSecret), mustParse(t, otherSecret), mustParse(t, " "+testSecret+"\n"+otherSecret)
	signed := func(r ring) http.Header {
		h := http.Header{}
		r.sign(h, "a-B_9", now, line, body)
		return h
	}
	type change func(http.Header)
	set := func(name, value string) change { return func(h http.Header) { h.Set(name, value) } }
	for name, c := range map[string]struct {
		by, to ring
		at     time.Duration // of who verifies
		line   string
		body   string
		change change
		good   bool
	}{
		"as sent":                       {by: one, to: one, good: true},
		"the new secret there first":    {by: one, to: both, good: true},
		"the new secret here first":     {by: both, to: one, good: true},
		"the old one is gone there":     {by: both, to: other, good: true},
		"both have both":                {by: both, to: both, good: true},
		"another secret":                {by: one, to: other},
		"five minutes late":             {by: one, to: one, at: tolerance - 999, good: true},
		"later":                         {by: one, to: one, at: tolerance},
		"five minutes early":            {by: one, to: one, at: -tolerance - 999, good: true},
		"earlier":                       {by: one, to: one, at: -tolerance - 1000},
		"another method":                {by: one, to: one, line: "POST /charges/018d63af-d4fd-73c6-be08-f6e3347fea0b"},
		"another path":                  {by: one, to: one, line: line + "/cancel"},
		"an answer":                     {by: one, to: one, line: "200"},
		"another body":                  {by: one, to: one, body: `{"amount":2}`},
		"a signature of the future too": {by: one, to: one, change: func(h http.Header) { h.Set(headerSignature, "v1a,xyz "+h.Get(headerSignature)) }, good: true},
		"nonsense beside it":            {by: one, to: one, change: func(h http.Header) { h.Set(headerSignature, "v1,!!! v1 , "+h.Get(headerSignature)) }, good: true},
		"another version alone":         {by: one, to: one, change: func(h http.Header) { h.Set(headerSignature, "v2"+h.Get(headerSignature)[2:]) }},
		"no version":                    {by: one, to: one, change: func(h http.Header) { h.Set(headerSignature, h.Get(headerSignature)[3:]) }},
		"a cut signature":               {by: one, to: one, change: func(h http.Header) { s := h.Get(headerSignature); h.Set(headerSignature, s[:len(s)-4]) }},
		"an empty signature":            {by: one, to: one, change: set(headerSignature, "v1,")},
		"no signature":                  {by: one, to: one, change: func(h http.Header) { h.Del(headerSignature) }},
		"two headers of it":             {by: one, to: one, change: func(h http.Header) { h.Add(headerSignature, h.Get(headerSignature)) }},
		"very many signatures": {by: one, to: one, change: func(h http.Header) {
			h.Set(headerSignature, strings.Repeat("v1,x ", maxSignatures)+h.Get(headerSignature))
		}},
		"another time":            {by: one, to: one, change: set(headerTimestamp, "1800000001")},
		"the same time otherwise": {by: one, to: one, change: set(headerTimestamp, "01800000000")},
		"no number":               {by: one, to: one, change: set(headerTimestamp, "+1800000000")},
		"no time":                 {by: one, to: one, change: func(h http.Header) { h.Del(headerTimestamp) }},
		"another ID":              {by: one, to: one, change: set(headerID, "a-B_8")},
		"an ID with a point":      {by: one, to: one, change: set(headerID, "a.B")},
		"no ID":                   {by: one, to: one, change: set(headerID, "")},
	} {
		h := signed(c.by)
		if c.change != nil {
			c.change(h)
		}
		what, text := line, string(body)
		if c.line != "" {
			what = c.line
		}
		if c.body != "" {
			text = c.body
		}
		id, err := c.to.verify(h, now.Add(c.at), what, []byte(text))
		if (err == nil) != c.good || c.good && id != "a-B_9" {
			t.Errorf("%s: %q, %v", name, id, err)
		}
	}
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	whsec := func(n int) string { return "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, n)) }
	for text, good := range map[string]bool{
		testSecret: true, whsec(24): true, whsec(64): true, testSecret + " " + otherSecret: true,
		"": false, " \n": false, "correct horse battery staple": false, "whsec_": false, whsec(23): false, whsec(65): false,
		strings.TrimRight(testSecret, "="): false, strings.TrimPrefix(testSecret, "whsec_"): false,
		strings.Replace(testSecret, "XQ=", "XR=", 1): false, // bits that count for nothing
		testSecret + " short":                        false, strings.Repeat(testSecret+" ", maxSecrets+1): false,
	} {
		_, err := parseSecrets(text)
		if (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
		if err != nil && len(text) > 10 && strings.Contains(err.Error(), text[8:]) {
			t.Errorf("the error shows the secret: %v", err)
		}
	}
}
