package rail_test

import (
	"strings"
	"testing"

	"github.com/traintravel/traintravel/rail"
)

func TestTrimName(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		" Anna ": "Anna", "\u200eAnna Example\u200e": "Anna Example", "\u200f דוד כהן \u200f": "דוד כהן", "\u061cنادر\u200cنیا": "نادر\u200cنیا",
		"דוד \u200fכהן": "דוד \u200fכהן", "\u200bAnna": "\u200bAnna", "\u202eAnna": "\u202eAnna", "\u200f \u200e": "", "": "",
	} {
		if got := rail.TrimName(typed); got != want {
			t.Errorf("%+q: %+q, want %+q", typed, got, want)
		}
	}
}

func TestBadName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Anna Example": "", "Zoë": "", "Zoe\u0308": "", "Nguyễn Thị Ánh": "", "李小龍": "", "山田\u3000さくら": "", "김민준": "", "สมชาย น้ำฝน": "", "O’Neil": "",
		"נָתָן": "", "שּׁ\u05b8\u05bd": "", "မျှော့": "", "ကျော်": "", "ශෝං": "",
		// Joiners within words of scripts that need them.
		"نادر\u200cنیا": "", "مُ\u200cحمد": "", "ක්\u200dෂ": "", "ශ්\u200dරී": "", "क्\u200dष": "", "র\u200d্য": "", "കൃഷ്ണന്\u200d": "", "കൃഷ്ണന്\u200d നായര്\u200d": "",
		// Joiners elsewhere.
		"Jo\u200chn":      "contains the invisible character U+200C where",
		"Jo\u200dhn":      "contains the invisible character U+200D where",
		"\u200dAnna":      "U+200D",
		"Anna\u200d":      "U+200D",
		"نادر\u200c":      "U+200C",
		"نادر\u200cA":     "U+200C",
		"ක්\u200d\u200dෂ": "U+200D",
		"👩\u200d🚀":        "U+200D",
		// What cannot be seen.
		"Jo\u200bhn Do\u2060e":     "contains the invisible character U+200B: remove it",
		"\ufeffA":                  "U+FEFF",
		"Anna\U000e0068\U000e0069": "U+E0068",
		"An\u00adna":               "U+00AD",
		"\u200eAnna":               "U+200E",
		"דוד\u200f":                "U+200F",
		"A\u061cB":                 "U+061C",
		"Anna\u034f":               "U+034F",
		"Anna\ufe0f":               "U+FE0F",
		"葛\U000e0100":              "U+E0100",
		"Anna\u3164":               "U+3164",
		"Anna\u115f":               "U+115F",
		"Anna\u2028B":              "U+2028",
		"An\u2800na":               "U+2800",
		"Anna\ufff9":               "U+FFF9",
		"Anna\u17b4":               "U+17B4",
		"Anna\U0001d173":           "U+1D173",
		// Marks upon marks.
		"ก" + strings.Repeat("\u0e48", 5):              "",
		"ก" + strings.Repeat("\u0e48", 6):              "has more than 5 combining marks in a row, the last of which is U+0E48",
		"Z" + strings.Repeat("\u0301", 199):            "U+0301",
		"\u1ec7" + strings.Repeat("\u0301", 4):         "more than 5 combining marks", // ệ has two of its own
		"क्" + strings.Repeat("\u200d\u094d", 5) + "ष": "more than 5 combining marks", // joiners between them
		strings.Repeat("a\u0301", 100):                 "",
	} {
		switch got := rail.BadName(name); {
		case want == "" && got != "", want != "" && !strings.Contains(got, want):
			t.Errorf("%+q: %q, want %q", name, got, want)
		}
		if why := rail.BadText(name, true); why != "" { // timetables may have such names
			t.Errorf("BadText refuses %+q: %s", name, why)
		}
	}
}
