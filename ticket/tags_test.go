package ticket_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/traintravel/traintravel/internal/need"
)

// The document is tagged: programs that read it aloud find headings, paragraphs and the
// picture, in order, on every page.
func TestTags(t *testing.T) {
	t.Parallel()
	pdfinfo := need.Program(t, "poppler-utils", "pdfinfo")
	doc := drafts(t)["four"]
	doc.RefundTerms = "Half is given back."
	file := filepath.Join(t.TempDir(), "ticket.pdf")
	if err := os.WriteFile(file, pdfOf(t, doc), 0o600); err != nil {
		t.Fatal(err)
	}
	if info := string(run(t, "", pdfinfo, file)); !strings.Contains(strings.Join(strings.Fields(info), " "), "Tagged: yes") {
		t.Errorf("the document is not tagged:\n%s", info)
	}
	structure := string(run(t, "", pdfinfo, "-struct-text", file))
	for what, n := range map[string]int{"Document\n": 1, "H1 (block)": 4, "H2 (block)": 4, "Figure\n": 4, `"Train ticket"`: 4, `"Your journey"`: 4, `"Half is given back."`: 4} {
		if got := strings.Count(structure, what); got != n {
			t.Errorf("%s is there %d times, want %d", what, got, n)
		}
	}
	rest := structure
	for _, next := range []string{`"Train ticket"`, `"London St Pancras`, `Figure`, `"Passenger"`, `"Γιώργος Παπαδόπουλος"`, `"Your journey"`, `"Train ticket"`} {
		_, after, found := strings.Cut(rest, next)
		if !found {
			t.Fatalf("%s does not follow in\n%s", next, structure)
		}
		rest = after
	}
}
