package ticket

import (
	"cmp"
	"strings"
	"unicode"

	"codeberg.org/go-pdf/fpdf"
)

// A sheet is the page that is being drawn. Lengths are millimetres from its upper
// left corner, sizes of letters are points. Whatever is written fits into the
// width that it is given: it gets smaller, goes on in the next line, and is cut at
// last.
type sheet struct {
	pdf    *fpdf.Fpdf
	face   *typeface
	others *scripts // of the document
	tags   *tags    // likewise
}

// wide is how wide a line is in the font that is set.
func (s *sheet) wide(line string) float64 {
	if !s.mixed(line) {
		return s.pdf.GetStringWidth(line)
	}
	_, size := s.pdf.GetFontSize()
	width := 0.0
	for _, p := range pieces(s.face.has, line) {
		if p.font == nil {
			width += s.pdf.GetStringWidth(p.text)
		} else {
			width += s.others.width(p) * size
		}
	}
	return width
}

// mixed says whether a line has letters that are not in the main typeface.
func (s *sheet) mixed(line string) bool {
	return strings.ContainsFunc(line, func(r rune) bool { return !s.face.has[r] })
}

// line writes one line in the font that is set, from x on.
func (s *sheet) line(x, y float64, line string, ink colour) {
	if !s.mixed(line) {
		s.pdf.Text(x, y, line)
		return
	}
	_, size := s.pdf.GetFontSize()
	for _, p := range pieces(s.face.has, line) {
		if p.font == nil {
			s.pdf.Text(x, y, p.text)
			x += s.pdf.GetStringWidth(p.text)
			continue
		}
		s.others.draw(s.pdf, p, x, y, size, ink)
		x += s.others.width(p) * size
	}
}

type colour struct{ r, g, b int }

// A style is how a text looks. It is written as large as fits, from size down to
// least, on at most so many lines, and as high as it may be.
type style struct {
	bold  bool
	size  float64
	least float64
	lines int
	high  float64 // at most; zero for as high as the lines are
	ink   colour
	right bool   // flush right
	role  string // what it is; empty is a paragraph
}

const (
	point   = 25.4 / 72 // millimetres
	leading = 1.22      // from line to line, by the size of the letters
	capital = 0.73      // height of one
)

// write writes a text whose first line's capitals reach up to y. It returns where
// the last line ends.
func (s *sheet) write(x, y, width float64, as style, text string) float64 {
	size, lines := s.fit(s.face.printable(text), width, as)
	s.pdf.SetTextColor(as.ink.r, as.ink.g, as.ink.b)
	y += size * capital * point
	what := tag{role: cmp.Or(as.role, "P")}
	if s.mixed(text) { // parts of it are drawn as shapes
		what.text = s.face.printable(text)
	}
	s.tags.around(what, func() {
		defer s.clip(x, y, width, size, len(lines))()
		for i, l := range lines {
			if i > 0 {
				y += size * leading * point
			}
			at := x
			if as.right {
				at += width - s.wide(l)
			}
			s.line(at, y, l, as.ink)
		}
	})
	return y
}

// clip limits what is drawn to the field of a text, until the function that it returns is
// called: marks upon marks would
// cover what is above and below. Accents on capitals, and what hangs below the last line,
// have room.
func (s *sheet) clip(x, baseline, width, size float64, lines int) (end func()) {
	const side, label = 1, 2.7 // millimetres; labels end so far above what they are for
	room := size * point / 2
	top := baseline - size*capital*point - min(room, label)
	bottom := baseline + size*leading*point*float64(lines-1) + room
	s.pdf.ClipRect(x-side, top, width+2*side, bottom-top, false)
	r, g, b := s.pdf.GetFillColor()
	return func() {
		s.pdf.ClipEnd()
		s.pdf.SetFillColor(r, g, b) // as it is again in the page, which fpdf does not know
	}
}

// fit chooses the size of a text, and breaks it into lines.
func (s *sheet) fit(text string, width float64, as style) (float64, []string) {
	weight := ""
	if as.bold {
		weight = "B"
	}
	lines := max(as.lines, 1)
	size := as.size
	for {
		s.pdf.SetFont(family, weight, size)
		broken := s.wrap(text, width)
		if len(broken) <= lines && (as.high == 0 || tall(size, len(broken)) <= as.high) {
			return size, broken
		}
		if as.least == 0 || size <= as.least {
			return size, s.cut(broken, min(lines, len(broken)), width)
		}
		size = max(size*0.92, as.least)
	}
}

// cut leaves the first of some lines and says in the last of them that more would
// follow.
func (s *sheet) cut(lines []string, n int, width float64) []string {
	if n == len(lines) {
		return lines
	}
	last := []rune(lines[n-1])
	for len(last) > 0 && s.wide(string(last)+"…") > width {
		last = last[:len(last)-1]
	}
	lines[n-1] = strings.TrimRight(string(last), " ") + "…"
	return lines[:n]
}

// wrap breaks a text into lines as wide as they may be: between words, and within
// one that is wider than a line.
func (s *sheet) wrap(text string, width float64) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		longer := word
		if line != "" {
			longer = line + " " + word
		}
		if s.wide(longer) <= width {
			line = longer
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		for s.wide(word) > width {
			n := s.prefix(word, width)
			lines = append(lines, word[:n])
			word = word[n:]
		}
		line = word
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// prefix is how many bytes of a word fit, one character with its marks at least.
func (s *sheet) prefix(word string, width float64) int {
	fits := 0
	for at, r := range word {
		if at == 0 || unicode.Is(unicode.M, r) {
			continue
		}
		if fits > 0 && s.wide(word[:at]) > width {
			break
		}
		fits = at
	}
	if fits == 0 {
		return len(word)
	}
	return fits
}

// height is how high write writes a text.
func (s *sheet) height(width float64, as style, text string) float64 {
	size, lines := s.fit(s.face.printable(text), width, as)
	return tall(size, len(lines))
}

// tall is how high some lines are, from the capitals of the first to the foot of
// the last.
func tall(size float64, lines int) float64 {
	return size * point * (capital + leading*float64(lines-1))
}

func (s *sheet) fill(c colour) { s.pdf.SetFillColor(c.r, c.g, c.b) }

// rule draws a fine line from left to right.
func (s *sheet) rule(x, y, width float64, c colour) {
	s.pdf.SetDrawColor(c.r, c.g, c.b)
	s.pdf.SetLineWidth(0.2)
	s.pdf.Line(x, y, x+width, y)
}
