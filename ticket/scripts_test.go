package ticket_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/traintravel/traintravel/ticket"
)

// Names in any of these scripts are printed, and none of their letters is missing.
func TestScripts(t *testing.T) {
	t.Parallel()
	for language, name := range ticket.ScriptNames {
		if r, bad := ticket.Unprintable(name); bad {
			t.Errorf("%s: %q is not printed", language, r)
		}
		doc := newDraft(t, name).leg("R", "1", berlin, "2026-12-01 08:30", paris, "2026-12-01 16:35", "", 0).doc
		pdf := pdfOf(t, doc)
		if text := flat(wordsOf(t, pdf)[0]); strings.Contains(text, "\uFFFD") {
			t.Errorf("%s: %s", language, text)
		}
		if dir := os.Getenv("TRAINTRAVEL_SCREENSHOTS"); dir != "" {
			if err := os.WriteFile(dir+"/ticket-"+language+".pdf", pdf, 0o600); err != nil {
				t.Error(err)
			}
		}
	}
	for name, want := range map[string]rune{"Anna 🚆": '🚆', "𒀀": '𒀀', "e\u0301\u200d": 0, "Zoë": 0, "": 0, "x\ufffd": '\ufffd'} {
		if r, bad := ticket.Unprintable(name); bad != (want != 0) || bad && r != want {
			t.Errorf("%q: %q %v, want %q", name, r, bad, want)
		}
	}
}

// The page shows the service's text about refunds.
func TestPageShowsRefundTerms(t *testing.T) {
	t.Parallel()
	doc := drafts(t)["four"]
	doc.RefundTerms = strings.Repeat("You can cancel until departure and get the whole price back. ", 4)
	for _, page := range wordsOf(t, pdfOf(t, doc)) {
		if text := flat(page); !strings.Contains(text, "Youcancanceluntildeparture") {
			t.Errorf("the page says %s", text)
		}
	}
	if a, b := pdfOf(t, doc), pdfOf(t, drafts(t)["four"]); bytes.Equal(a, b) {
		t.Error("terms change nothing")
	}
}
