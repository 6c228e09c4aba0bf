package ticket

import "testing"

// ScriptNames are names in the scripts that people in Europe and its neighbours write, and
// as how many shapes they are drawn, joined and stacked as they have to be.
var ScriptNames = map[string]string{
	"Chinese": "李小龍", "Japanese": "山田 さくらカード", "Korean": "김민준", "Arabic": "محمد علي", "Persian": "پریسا چگینی", "Hebrew": "דוד לוי",
	"Hindi": "श्री प्रिया", "Bengali": "রবীন্দ্রনাথ", "Punjabi": "ਗੁਰਪ੍ਰੀਤ", "Gujarati": "ક્રિષ્ના", "Odia": "ଜଗନ୍ନାଥ", "Tamil": "தமிழ்", "Telugu": "శ్రీనివాస్",
	"Kannada": "ಕೃಷ್ಣ", "Malayalam": "കൃഷ്ണൻ", "Sinhala": "ශ්\u200dරී", "Thai": "สมชาย", "Lao": "ສົມສັກ", "Khmer": "សុខា", "Burmese": "အောင်", "Amharic": "አበበ",
	"Dhivehi": "އަހްމަދު", "mixed": "Anna 李 (דוד)",
}

// None of the letters of these names is a box, which fonts have for what they lack.
func TestScriptsHaveLetters(t *testing.T) {
	t.Parallel()
	all, err := europeanFace()
	if err != nil {
		t.Fatal(err)
	}
	var s scripts
	for language, name := range ScriptNames {
		for _, p := range pieces(all.has, all.printable(name)) {
			if p.font == nil {
				continue
			}
			out, _, err := s.shape(p)
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range out.Glyphs {
				if g.GlyphID == 0 {
					t.Errorf("%s: a letter of %q is a box", language, p.text)
				}
			}
		}
	}
}

// Letters that join are drawn joined, and a line in a script from right to left begins at
// the right.
func TestShaping(t *testing.T) {
	t.Parallel()
	var s scripts
	glyphs := func(text string) int {
		all := pieces(nil, text)
		if len(all) != 1 {
			t.Fatalf("%q is in %d pieces", text, len(all))
		}
		out, _, err := s.shape(all[0])
		if err != nil {
			t.Fatal(err)
		}
		return len(out.Glyphs)
	}
	for text, fewer := range map[string]bool{"لا": true, "क्ष": true, "李小": false} {
		if n := glyphs(text); (n < len([]rune(text))) != fewer {
			t.Errorf("%q is drawn as %d shapes", text, n)
		}
	}
	latin := map[rune]bool{'A': true, ' ': true}
	if all := pieces(latin, "דוד A"); len(all) != 2 || all[0].font != nil || all[1].text != "דוד " {
		t.Errorf("a Hebrew line is drawn as %+v", all)
	}
	if all := pieces(latin, "A דוד"); len(all) != 2 || all[0].text != "A " {
		t.Errorf("a Latin line is drawn as %+v", all)
	}
}
