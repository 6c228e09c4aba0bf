package fold

import (
	"slices"
	"strings"
	"testing"
)

// Each name is found by the spellings of the schemes that people use for it.
func TestLatin(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Αθήνα":          "athina athena",
		"Θεσσαλονίκη":    "thessaloniki thessalonike",
		"Πειραιάς":       "peiraias pireas piraias",
		"Ηράκλειο":       "irakleio iraklio erakleio",
		"Χανιά":          "chania hania khania",
		"Αλεξανδρούπολη": "alexandroupoli alexandhroupoli",
		"Εύβοια":         "evvoia evvia",
		"Ευκαρπία":       "efkarpia",
		"Λάρισα":         "larisa",
		"Σίνδος":         "sindos",
		"Άγγελος":        "angelos",
		"София":          "sofia sofiya sofija",
		"Пловдив":        "plovdiv",
		"Търново":        "tarnovo turnovo trnovo",
		"Оряховица":      "oryahovitsa oryakhovitsa orjahovica orahovica",
		"Свищов":         "svishtov",
		"Београд":        "beograd",
		"Шабац":          "sabac shabats schabaz",
		"Љиг":            "ljig lig",
		"Ниш":            "nis nish",
		"Київ":           "kyiv kyyiv kiiv",
		"Львів":          "lviv",
		"Чернівці":       "chernivtsi cernivci",
		"Запоріжжя":      "zaporizhzhia zaporizhzhya zaporizzja",
		"Ужгород":        "uzhhorod uzhgorod uzgorod",
		"Нижний":         "nizhniy niznij nyzhnyi",
		"Скопје":         "skopje",
		"თბილისი":        "tbilisi",
	} {
		got := Latin(name)
		if len(got) != 1 {
			t.Errorf("%s: %q", name, got)
			continue
		}
		for form := range strings.FieldsSeq(want) {
			if !slices.Contains(got[0], form) {
				t.Errorf("%s is not spelled %s: %q", name, form, got[0])
			}
		}
		if len(got[0]) > 8 {
			t.Errorf("%s has %d spellings: %q", name, len(got[0]), got[0])
		}
	}
}

func TestLatinLeavesLatinWordsAlone(t *testing.T) {
	t.Parallel()
	if got := Latin("Zürich HB, København"); got != nil {
		t.Errorf("%q", got)
	}
	if got := Latin("Novi Sad / Нови Сад"); len(got) != 4 || got[0] != nil || got[2] == nil {
		t.Errorf("%q", got)
	}
}

func FuzzLatin(f *testing.F) {
	f.Add("Београд Центар")
	f.Add("½ Αθ\u0301ήνα й")
	f.Fuzz(func(t *testing.T, s string) {
		got := Latin(s)
		if got != nil && len(got) != len(Words(String(s))) {
			t.Errorf("%q: %d", s, len(got))
		}
		for _, forms := range got {
			for _, form := range forms {
				if words := Words(String(form)); len(words) != 1 || words[0] != form {
					t.Errorf("%q: %q", s, form)
				}
			}
		}
	})
}
