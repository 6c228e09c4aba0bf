package ticket

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"codeberg.org/go-pdf/fpdf"
)

// The structure of a document (ISO 32000-1, 14.8): what is a heading, a paragraph or a
// picture, and in which order to read it. fpdf knows nothing of it. Marks are written into
// the pages as they are drawn, and what they mean is added to the finished document, as an
// incremental update (7.5.6).

// A tag is one piece of a page.
type tag struct {
	role string // a standard structure type: H1, H2, P, Figure
	alt  string // what a picture shows
	text string // what is read out, if it is not what the page has as text
}

// tags are those of a document, by page and in the order of reading. A mark's number is its
// place there.
type tags struct {
	pdf   *fpdf.Fpdf
	pages [][]tag
}

// begin begins a page. What no tag is around is decoration.
func (t *tags) begin() {
	t.pages = append(t.pages, nil)
	t.pdf.RawWriteStr("/Artifact BMC")
}

func (t *tags) end() { t.pdf.RawWriteStr("EMC") }

// around tags what a function draws.
func (t *tags) around(what tag, draw func()) {
	page := &t.pages[len(t.pages)-1]
	t.pdf.RawWriteStr(fmt.Sprintf("EMC /%s <</MCID %d>> BDC", what.role, len(*page)))
	*page = append(*page, what)
	draw()
	t.pdf.RawWriteStr("EMC /Artifact BMC")
}

var (
	startXref = regexp.MustCompile(`startxref\n(\d+)\n%%EOF\n$`)
	trailer   = regexp.MustCompile(`trailer\n<<\n/Size (\d+)\n/Root (\d+) 0 R\n/Info (\d+) 0 R\n>>\n`)
	pageHead  = []byte("<</Type /Page\n")
	rootHead  = []byte("<<\n/Type /Catalog\n")
	errLayout = errors.New("ticket: the PDF is not laid out as expected")
)

// An update adds objects to a document that fpdf has written, or replaces some.
type update struct {
	doc     []byte
	offsets []int       // of the objects that there were, by number
	changed map[int]int // offsets of those that are new
	next    int         // number that is free
	info    string
	root    int
}

// readUpdate reads where the objects of a document are.
func readUpdate(doc []byte) (*update, error) {
	start := startXref.FindSubmatch(doc)
	end := trailer.FindSubmatch(doc)
	if start == nil || end == nil {
		return nil, errLayout
	}
	at, _ := strconv.Atoi(string(start[1]))
	size, _ := strconv.Atoi(string(end[1]))
	root, _ := strconv.Atoi(string(end[2]))
	head := fmt.Sprintf("xref\n0 %d\n", size)
	const entry = 20 // bytes
	if at+len(head)+size*entry > len(doc) || !bytes.HasPrefix(doc[at:], []byte(head)) {
		return nil, errLayout
	}
	u := &update{doc: doc, changed: map[int]int{}, next: size, info: string(end[3]), root: root}
	for n := range size {
		line := doc[at+len(head)+n*entry:]
		offset, err := strconv.Atoi(string(line[:10]))
		if err != nil || offset >= len(doc) {
			return nil, errLayout
		}
		u.offsets = append(u.offsets, offset)
	}
	return u, nil
}

// object returns what an object is, from its dictionary on.
func (u *update) object(n int) []byte {
	text := u.doc[u.offsets[n]:]
	_, text, _ = bytes.Cut(text, []byte(" obj\n"))
	text, _, _ = bytes.Cut(text, []byte("endobj\n"))
	return text
}

// write writes an object, and returns its number; zero is a new one.
func (u *update) write(n int, text string) int {
	if n == 0 {
		n = u.next
		u.next++
	}
	u.changed[n] = len(u.doc)
	u.doc = fmt.Appendf(u.doc, "%d 0 obj\n%s\nendobj\n", n, strings.TrimRight(text, "\n"))
	return n
}

// amend adds members to an object's dictionary, which begins with a head.
func (u *update) amend(n int, head []byte, members string) error {
	text := u.object(n)
	rest, ok := bytes.CutPrefix(text, head)
	if !ok {
		return errLayout
	}
	u.write(n, string(head)+members+"\n"+string(rest))
	return nil
}

// finish writes where the objects are, and returns the document.
func (u *update) finish() []byte {
	prev := startXref.FindSubmatch(u.doc[:u.end()])[1]
	at := len(u.doc)
	u.doc = append(u.doc, "xref\n"...)
	numbers := make([]int, 0, len(u.changed))
	for n := range u.changed {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	for _, n := range numbers {
		u.doc = fmt.Appendf(u.doc, "%d 1\n%010d 00000 n \n", n, u.changed[n])
	}
	u.doc = fmt.Appendf(u.doc, "trailer\n<<\n/Size %d\n/Root %d 0 R\n/Info %s 0 R\n/Prev %s\n>>\nstartxref\n%d\n%%%%EOF\n", u.next, u.root, u.info, prev, at)
	return u.doc
}

// end is where the document ended before the update.
func (u *update) end() int {
	first := len(u.doc)
	for _, offset := range u.changed {
		first = min(first, offset)
	}
	return first
}

// add returns a document with the structure that was marked in it.
func (t *tags) add(doc []byte) ([]byte, error) {
	u, err := readUpdate(doc)
	if err != nil {
		return nil, err
	}
	var pages []int
	for n := 1; n < u.next; n++ {
		if bytes.HasPrefix(u.object(n), pageHead) {
			pages = append(pages, n)
		}
	}
	if len(pages) != len(t.pages) {
		return nil, errLayout
	}
	root, document := u.next, u.next+1 // these two first: the others refer to them
	u.next += 2
	var kids, parents strings.Builder
	for i, page := range pages {
		if err := u.amend(page, pageHead, fmt.Sprintf("/StructParents %d\n/Tabs /S", i)); err != nil {
			return nil, err
		}
		fmt.Fprintf(&parents, "%d [", i)
		for id, what := range t.pages[i] {
			alt := ""
			if what.alt != "" {
				alt = " /Alt <" + utf16Hex(what.alt) + ">"
			}
			if what.text != "" {
				alt += " /ActualText <" + utf16Hex(what.text) + ">"
			}
			n := u.write(0, fmt.Sprintf("<</Type /StructElem /S /%s /P %d 0 R /Pg %d 0 R /K %d%s>>", what.role, document, page, id, alt))
			fmt.Fprintf(&kids, "%d 0 R ", n)
			fmt.Fprintf(&parents, "%d 0 R ", n)
		}
		parents.WriteString("] ")
	}
	u.write(document, fmt.Sprintf("<</Type /StructElem /S /Document /P %d 0 R /K [%s]>>", root, kids.String()))
	u.write(root, fmt.Sprintf("<</Type /StructTreeRoot /K [%d 0 R] /ParentTree <</Nums [%s]>> /ParentTreeNextKey %d>>", document, parents.String(), len(pages)))
	err = u.amend(u.root, rootHead, fmt.Sprintf("/MarkInfo <</Marked true>>\n/StructTreeRoot %d 0 R\n/ViewerPreferences <</DisplayDocTitle true>>", root))
	if err != nil {
		return nil, err
	}
	return u.finish(), nil
}
