package ticket_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/traintravel/traintravel/internal/need"
	"github.com/traintravel/traintravel/ticket"
)

// However many marks a name of an earlier version has, and whatever in it cannot be seen, it
// has a ticket, and nothing of it is drawn above or below its field.
func TestNamesStayInTheirField(t *testing.T) {
	t.Parallel()
	const scale = 150 / 25.4 // pixels in a millimetre
	_, height, empty := pixels(t, " ")
	from, to := height, 0
	for _, name := range []string{"Ếgyp", "ก" + strings.Repeat("\u0e48", 199), strings.Repeat("ก\u0e48\u0e48\u0e48\u0e48", 40),
		"Z" + strings.Repeat("\u0301", 199), "Z" + strings.Repeat("\u0323", 199), "Jo\u200bhn\ufeff\U000e0068\u3164", "\u202eA"} {
		width, _, drawn := pixels(t, name)
		first, last := height, 0
		for i := range drawn {
			if drawn[i] != empty[i] {
				first, last = min(first, i/width), max(last, i/width)
			}
		}
		if first > last {
			t.Errorf("%+q is not drawn", name)
		}
		if name == "Ếgyp" { // an ordinary name shows where the field is
			from, to = first, last
			continue
		}
		const lines = 6 * 12 * 1.22 * 25.4 / 72
		if above, below := float64(from-first)/scale, float64(last-to)/scale; above > 2 || below > lines {
			t.Errorf("%+.20q is drawn from %.1f mm above its field to %.1f mm below its first line", name, above, below)
		}
	}
}

// A name that is drawn as shapes leaves the colours of what follows as they are.
func TestColoursAfterNames(t *testing.T) {
	t.Parallel()
	latin, thai := darkest(t, "Anna"), darkest(t, "สมชาย")
	if latin != thai {
		t.Errorf("the operator has the shade %d after a Thai name, %d after a Latin one", thai, latin)
	}
}

// darkest is the shade of the darkest pixel below the passenger's name.
func darkest(t *testing.T, passenger string) byte {
	t.Helper()
	const gap = 20 // pixels from the letters of a name to below the marks under them
	width, _, grey := pixels(t, passenger)
	_, _, empty := pixels(t, " ")
	last := 0
	for i := range grey {
		if grey[i] != empty[i] {
			last = i / width
		}
	}
	return slices.Min(grey[(last+gap)*width:])
}

// pixels draws the page of a ticket in shades of grey.
func pixels(t *testing.T, passenger string) (width, height int, grey []byte) {
	t.Helper()
	program := need.Program(t, "poppler-utils", "pdftoppm")
	dir := t.TempDir()
	doc := newDraft(t, passenger).leg("R", "1", berlin, "2026-12-01 08:30", paris, "2026-12-01 16:35", "7", 42).doc
	write(t, filepath.Join(dir, "ticket.pdf"), pdfOf(t, doc))
	picture := run(t, dir, program, "-r", "150", "-gray", "-x", "0", "-y", "620", "-W", "700", "-H", "900", "ticket.pdf")
	var most int
	if _, err := fmt.Fscanf(bytes.NewReader(picture), "P5\n%d %d\n%d\n", &width, &height, &most); err != nil {
		t.Fatal(err)
	}
	return width, height, picture[len(picture)-width*height:]
}

// Ligatures are printed as the letters that they consist of. A letter that the fonts lack is
// refused with what to write instead.
func TestLettersThatFontsLack(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Eﬃ ﬅ": "", "李": "",
		"𠮷田":     "has the letter '𠮷' (U+20BB7), which the fonts of tickets do not have: write the name in Latin letters",
		"Anna 🚆": "has the character '🚆' (U+1F686), which a ticket cannot show",
	} {
		if err := ticket.CheckName(name); (err != nil) != (want != "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
	doc := newDraft(t, "Eﬃ").leg("R", "1", berlin, "2026-12-01 08:30", paris, "2026-12-01 16:35", "", 0).doc
	if text := flat(wordsOf(t, pdfOf(t, doc))[0]); !strings.Contains(text, "Effi") {
		t.Errorf("the ticket says %s", text)
	}
}
