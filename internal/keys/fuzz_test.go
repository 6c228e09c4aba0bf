package keys

import "testing"

// No file makes reading it panic, and what is read can be written.
func FuzzParse(f *testing.F) {
	r, err := New()
	if err != nil {
		f.Fatal(err)
	}
	text, err := encode(r.members)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"version":1,"signing":[{"kty":"EC","crv":"P-256"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := parse(text)
		if err != nil {
			return
		}
		if text, err = encode(r.members); err != nil {
			t.Fatal(err)
		}
		again, err := parse(text)
		if err != nil || !same(r, again) {
			t.Fatalf("written and read back otherwise: %v", err)
		}
	})
}
