package rail

import (
	"strings"
	"testing"
	"unicode"
)

func TestParseReference(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"K7M4QX": "K7M4QX", "k7m4qx": "K7M4QX", " k7m-4qx ": "K7M4QX", "K7M 4QX": "K7M4QX", "zsbu22": "258V22",
		"": "", "K7M4Q": "", "K7M4QXX": "", "K7M4Q0": "", "K7M4QO": "", "K7M4Q1": "", "K7M4QI": "", "K7M4QL": "", "K7M4QA": "", "K7M4QÉ": "",
		"K7M4QX" + strings.Repeat(" ", 30): "",
	} {
		if got, ok := ParseReference(text); ok != (want != "") || ok && got != want {
			t.Errorf("%q is read as %q, %t, want %q", text, got, ok, want)
		}
	}
	for _, c := range "0O1ILZSBUAEYÄ" {
		if strings.ContainsRune(ReferenceAlphabet, c) {
			t.Errorf("references have %c, which is mistaken for another, or a vowel", c)
		}
	}
}

// What is read as a reference is one, and is read as itself, in small letters too.
func FuzzParseReference(f *testing.F) {
	for _, seed := range []string{"K7M4QX", "k7m-4qx", "zsbu22", "ſſſſſſ", "K7M4Q\x00", " "} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ref, ok := ParseReference(text)
		if !ok {
			return
		}
		if !ValidReference(ref) || strings.ContainsFunc(ref, unicode.IsLower) {
			t.Fatalf("%q is read as %q", text, ref)
		}
		if again, ok := ParseReference(strings.ToLower(ref)); !ok || again != ref {
			t.Fatalf("%q is read as %q", ref, again)
		}
	})
}
