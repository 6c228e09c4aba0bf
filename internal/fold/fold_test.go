package fold

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestString(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                        "",
		"berlin":                  "berlin",
		"Zürich HB":               "zurich hb",
		"Praha hlavní nádraží":    "praha hlavni nadrazi",
		"København H":             "kobenhavn h",
		"Łódź Fabryczna":          "lodz fabryczna",
		"Gießen":                  "giessen",
		"İstanbul Halkalı":        "istanbul halkali",
		"Reykjavík Æðey":          "reykjavik aedey",
		"Αθήνα":                   "αθηνα",
		"ΠΕΙΡΑΙΑΣ":                "πειραιασ",
		"Πειραιάς":                "πειραιασ", // the last letter is written in its own way
		"София":                   "софия",
		"ﬁne":                     "fine",
		"Saint‑Étienne":           "saint‐etienne",
		"Zu\u0308rich":            "zurich", // u and its dots apart
		"Jo\u200bhn\ufeff":        "john",
		"نادر\u200cنیا":           "نادرنیا",
		"ක්\u200dෂ":               "කෂ",
		"Anna\U000e0068\u3164":    "anna",
		"Frank\u00adfurt":         "frankfurt",
		"\xff not UTF-8 \xc3\x28": "\ufffd not utf-8 \ufffd(",
	} {
		if got := String(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestDoubled(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]struct{ doubled, single string }{
		"":                 {"", ""},
		"berlin":           {"berlin", "berlin"},
		"Zürich HB":        {"zuerich hb", "zurich hb"},
		"Zu\u0308rich":     {"zuerich", "zurich"}, // u and its dots apart
		"ÜBERSEE, Köln":    {"uebersee, koeln", "ubersee, koln"},
		"Århus, Helsingør": {"aarhus, helsingoer", "aarhus, helsingor"},
		"Gießen":           {"giessen", "giessen"},
		"Ǘ":                {"u", "u"}, // another letter
		"Manuel":           {"manuel", "manul"},
	} {
		if got := Doubled(in); got != want.doubled {
			t.Errorf("%q doubled: got %q, want %q", in, got, want.doubled)
		}
		if got := Single(Doubled(in)); got != want.single {
			t.Errorf("%q single: got %q, want %q", in, got, want.single)
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff([]string{"frankfurt", "main", "hbf", "7", "αθηνα"}, Words("frankfurt(main)-hbf. 7, αθηνα ")); diff != "" {
		t.Error(diff)
	}
}

func FuzzString(f *testing.F) {
	f.Add("Zürich")
	f.Add("a\u0308\u0301 Å-ø")
	f.Fuzz(func(t *testing.T, s string) {
		folded := String(s)
		if !utf8.ValidString(folded) || strings.ContainsAny(folded, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
			t.Errorf("%q is folded to %q", s, folded)
		}
		if words, doubled := Words(folded), Words(Doubled(s)); len(words) != len(doubled) {
			t.Errorf("%q has words %q, doubled %q", s, words, doubled)
		}
	})
}

func TestLabel(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"IC 1": "ic1", "ic  1": "ic1", " IC1 ": "ic1", "IC 1 2": "ic1 2", "IC 12": "ic12", "1 2": "1 2", "RE 1 a": "re1 a",
		"DB  Fernverkehr AG": "db fernverkehr ag", "": "", "IC\u00a01": "ic1", "IC-1": "ic-1", "I\u200bC\u00ad 1": "i\u200bc\u00ad 1",
	} {
		if got := Label(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
