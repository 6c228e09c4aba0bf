package ticket_test

import (
	"bytes"
	"encoding/xml"
	"io"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"codeberg.org/go-pdf/fpdf"
	"github.com/go-fonts/dejavu/dejavusanscondensed"
	"github.com/go-fonts/dejavu/dejavusanscondensedbold"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/need"
)

func pdfOf(t testing.TB, doc traintravel.Ticket, legs ...int) []byte {
	t.Helper()
	b, err := issuer(t, newKey(t)).PDF(doc, legs...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A word is one of a page, and where it stands, in points.
type word struct {
	XMin float64 `xml:"xMin,attr"`
	YMin float64 `xml:"yMin,attr"`
	XMax float64 `xml:"xMax,attr"`
	YMax float64 `xml:"yMax,attr"`
	Text string  `xml:",chardata"`
}

// wordsOf has Poppler read the words of each page.
func wordsOf(t *testing.T, pdf []byte) [][]word {
	t.Helper()
	program := need.Program(t, "poppler-utils", "pdftotext")
	dir := t.TempDir()
	write(t, filepath.Join(dir, "ticket.pdf"), pdf)
	var html struct {
		Pages []struct {
			Words []word `xml:"word"`
		} `xml:"body>doc>page"`
	}
	d := xml.NewDecoder(bytes.NewReader(run(t, dir, program, "-bbox", "ticket.pdf", "-")))
	d.Strict, d.Entity = false, xml.HTMLEntity
	if err := d.Decode(&html); err != nil {
		t.Fatal(err)
	}
	var pages [][]word
	for _, p := range html.Pages {
		pages = append(pages, p.Words)
	}
	return pages
}

// However long the texts, all stay on the page, and no word touches another.
func TestNothingOverflows(t *testing.T) {
	t.Parallel()
	const (
		point  = 72 / 25.4 // points a millimetre
		left   = 17 * point
		right  = (210 - 17) * point
		bottom = (297 - 8) * point
		slack  = 0.5
	)
	for name, doc := range drafts(t) {
		pages := wordsOf(t, pdfOf(t, doc))
		if len(pages) != len(doc.Booking.Legs) {
			t.Errorf("%s: %d pages", name, len(pages))
		}
		for n, words := range pages {
			for i, w := range words {
				if w.XMin < left-slack || w.XMax > right+slack || w.YMin < 0 || w.YMax > bottom {
					t.Errorf("%s, page %d: %q is out of the page: %+v", name, n+1, w.Text, w)
				}
				for _, o := range words[:i] {
					// The box of a word is higher than its letters.
					high := min(w.YMax, o.YMax) - max(w.YMin, o.YMin)
					if wide := min(w.XMax, o.XMax) - max(w.XMin, o.XMin); wide > slack && high > 0.45*min(w.YMax-w.YMin, o.YMax-o.YMin) {
						t.Errorf("%s, page %d: %q stands on %q", name, n+1, w.Text, o.Text)
					}
				}
			}
		}
	}
}

// The page has the details that travellers need.
func TestPageContent(t *testing.T) {
	t.Parallel()
	doc := drafts(t)["four"]
	doc.Booking.HasBicycle = true
	pages := wordsOf(t, pdfOf(t, doc))
	for leg, want := range []string{
		"Train 1 of 4 | Tuesday, 1 December 2026 | 18:01 | GMT, UTC+00:00 | London St Pancras | Euston Road, London, GB | 21:20 | CET, UTC+01:00 | Paris Gare du Nord | ES 9012 · 2 h 19 min | ES 9012 | 12 | 61 | Γιώργος Παπαδόπουλος | EUR 49.90 for all 4 trains | Eurostar Example | Bicycle | 9a4d-5f6e7a8b9c0d | Page 1 of 4",
		"Train 2 of 4 | 22:10 | 07:43 | Wed 2 Dec | NJ 471 · 9 h 33 min | 263 | 104",
		"Wednesday, 2 December 2026 | 09:00 | 08:05 | Thu 3 Dec | EET, UTC+02:00 | бул. Княгиня Мария Луиза 102, 1202 София, BG | Any free seat",
		"София – Αθήνα | coach 2, seat 7 | Ελληνικά Τρένα | Paid on 3 November 2026. Booking 0197e0a1-7c52-7b3e-9a4d-5f6e7a8b9c0d",
	} {
		var text []string
		for _, w := range pages[leg] {
			text = append(text, w.Text)
		}
		all := strings.Join(text, " ")
		for _, s := range strings.Split(want, " | ") {
			if !strings.Contains(all, s) {
				t.Errorf("page %d does not say %q: %s", leg+1, s, all)
			}
		}
	}
	if n := len(wordsOf(t, pdfOf(t, doc, 2))); n != 1 {
		t.Errorf("one leg has %d pages", n)
	}
}

// All letters of the languages of Europe are printed, and what is not is seen to
// be missing.
func TestLetters(t *testing.T) {
	t.Parallel()
	languages := map[string]string{
		"Czech": "ÁČĎÉĚÍŇÓŘŠŤÚŮÝŽáčďéěíňóřšťúůýž", "Maltese": "ĊĠĦŻċġħż", "Turkish": "ÇĞİÖŞÜçğıöşü", "Welsh": "ŴŶẀẂẄŵŷẁẃẅ",
		"Icelandic": "ÐÞÆØðþæø", "Polish": "ĄĆĘŁŃÓŚŹŻąćęłńóśźż", "Romanian": "ȘȚșțĂă", "Latvian": "ĀČĒĢĪĶĻŅŠŪŽāčēģīķļņšūž", "German": "ÄÖÜẞäöüß",
		"Hungarian": "ŐŰőű", "Sami": "ĐŊŦđŋŧ", "French": "ŒÇÀÉÈÊËÎÏÔÙÛÜŸœçàéèêëîïôùûüÿ", "Spanish": "ÑÁÉÍÓÚñ¿¡",
		"Greek": "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩάέήίόύώϊϋΐΰς", "polytonic": "ἀἁἂἃἄἅἆἇᾀᾳᾴᾷῃῆῇῳῶῷ",
		"Russian": "АБВГДЕЁЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯабвгдеёжзийклмнопрстуфхцчшщъыьэюя",
		"Serbian": "ЂЈЉЊЋЏђјљњћџ", "Ukrainian": "ҐЄІЇґєії", "Macedonian": "ЃЅЌѓѕќ", "Belarusian": "Ўў",
		"Georgian": "აბგდევზთიკლმნოპჟრსტუფქღყშჩცძწჭხჯჰ", "Armenian": "ԱԲԳԴԵԶԷԸԹԺԻԼԽԾԿՀՁՂՃՄՅՆՇՈՉՊՋՌՍՎՏՐՑՒՓՔՕՖաբգդեզէըթժիլխծկհձղճմյնշոչպջռսվտրցւփքօֆև",
		"signs": "–—‘’“”„…«»‹›·•№€£₺₽₴→", "an accent of its own": "e\u0301",
	}
	for some := range slices.Chunk(slices.Sorted(maps.Values(languages)), 5) {
		doc := newDraft(t, strings.Join(some, " ")).leg("R", "1", berlin, "2026-12-01 08:30", paris, "2026-12-01 16:35", "", 0).doc
		if text := flat(wordsOf(t, pdfOf(t, doc))[0]); strings.Contains(text, "\uFFFD") {
			t.Error(text)
		}
	}
	for _, odd := range []string{"🚆", "𒀀", "ꦗ", "\U0001F468\u200D\U0001F469"} {
		doc := newDraft(t, "x"+odd+"x").leg("R", "1", berlin, "2026-12-01 08:30", paris, "2026-12-01 16:35", "", 0).doc
		if text := flat(wordsOf(t, pdfOf(t, doc))[0]); !regexp.MustCompile("x\uFFFD+x").MatchString(text) {
			t.Errorf("%q: %s", odd, text)
		}
	}
}

func flat(words []word) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) {
				return -1
			}
			return r
		}, w.Text))
	}
	return b.String()
}

// The same ticket makes the same document, with its dates and its language in it.
func TestSameDocument(t *testing.T) {
	t.Parallel()
	i := issuer(t, newKey(t))
	doc := drafts(t)["four"]
	var first []byte
	for range 5 {
		b, err := i.PDF(doc)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = b
		} else if !bytes.Equal(first, b) {
			t.Fatal("the document is another the second time")
		}
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "ticket.pdf"), first)
	told := string(run(t, dir, need.Program(t, "poppler-utils", "pdfinfo"), "-isodates", "ticket.pdf"))
	for _, want := range []string{
		"Train ticket London St Pancras – Αθήνα, Tuesday, 1 December 2026\n", "Booking 0197e0a1-7c52-7b3e-9a4d-5f6e7a8b9c0d\n",
		"Eurostar Example, Nachtzug, Example Rail, Ελληνικά Τρένα\n", "2026-11-03T09:30:00Z\n", "(A4)\n",
	} {
		if !strings.Contains(told, want) {
			t.Errorf("the document does not say %q:\n%s", want, told)
		}
	}
	if !bytes.Contains(first, []byte("/Lang (en)")) {
		t.Error("the document does not tell its language")
	}
}

// BenchmarkPDF compares tickets with a line of text in the same two fonts, which are
// given to the library as they are.
func BenchmarkPDF(b *testing.B) {
	i := issuer(b, newKey(b))
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			pdf := fpdf.New("P", "mm", "A4", "")
			pdf.AddUTF8FontFromBytes("x", "", dejavusanscondensed.TTF)
			pdf.AddUTF8FontFromBytes("x", "B", dejavusanscondensedbold.TTF)
			pdf.AddPage()
			for n, weight := range []string{"", "B"} {
				pdf.SetFont("x", weight, 12)
				pdf.Text(20, float64(20+10*n), "Berlin Hauptbahnhof")
			}
			if err := pdf.Output(io.Discard); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, name := range []string{"one", "greek", "four"} {
		doc := drafts(b)[name]
		b.Run(name, func(b *testing.B) {
			size := 0
			for b.Loop() {
				pdf, err := i.PDF(doc)
				if err != nil {
					b.Fatal(err)
				}
				size = len(pdf)
			}
			b.ReportMetric(float64(size), "bytes")
		})
	}
}

func BenchmarkForms(b *testing.B) {
	i := issuer(b, newKey(b))
	doc := drafts(b)["one"]
	for _, form := range []struct {
		name   string
		render func() ([]byte, error)
	}{
		{"container", func() ([]byte, error) { return i.Container(doc, 0) }},
		{"png", func() ([]byte, error) { return i.PNG(doc, 0) }},
		{"calendar", func() ([]byte, error) { return i.Calendar(doc) }},
		{"jsonld", func() ([]byte, error) { return i.JSONLD(doc) }},
	} {
		b.Run(form.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := form.render(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
