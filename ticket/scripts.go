package ticket

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"

	"codeberg.org/go-pdf/fpdf"
	"github.com/go-text/typesetting/di"
	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/opentype"
	"github.com/go-text/typesetting/language"
	"github.com/go-text/typesetting/shaping"
	"golang.org/x/image/math/fixed"
)

// The scripts that the main typeface does not have. Their fonts are read when a text needs
// them, and the letters are drawn as shapes: joined, stacked and in the order in which they
// are written, which takes more than a font that a document embeds.

// fontFiles are Noto Sans and Nanum Gothic (SIL Open Font License 1.1) and Droid Sans
// Fallback (Apache License 2.0), as Debian has them. The files LICENSE-* of this folder are
// theirs; releases pass them on from here.
//
//go:embed fonts
var fontFiles embed.FS

// A scriptFont is the font of some scripts.
type scriptFont struct {
	scripts []*unicode.RangeTable
	load    func() (*font.Font, error) // once
}

func scriptsIn(file string, scripts ...*unicode.RangeTable) *scriptFont {
	return &scriptFont{scripts, sync.OnceValues(func() (*font.Font, error) {
		f, err := readFont("fonts/" + file + ".ttf.gz")
		if err != nil {
			return nil, fmt.Errorf("ticket: the font %s: %w", file, err)
		}
		return f, nil
	})}
}

func readFont(file string) (*font.Font, error) {
	packed, err := fontFiles.Open(file)
	if err != nil {
		return nil, err
	}
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(unpacked)
	if err != nil {
		return nil, err
	}
	face, err := font.ParseTTF(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	return face.Font, nil
}

var scriptFonts = []*scriptFont{
	scriptsIn("DroidSansFallbackFull", unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, wide),
	scriptsIn("NanumGothic", unicode.Hangul),
	scriptsIn("NotoSansArabic-Regular", unicode.Arabic),
	scriptsIn("NotoSansHebrew-Regular", unicode.Hebrew),
	scriptsIn("NotoSansDevanagari-Regular", unicode.Devanagari),
	scriptsIn("NotoSansBengali-Regular", unicode.Bengali),
	scriptsIn("NotoSansGurmukhi-Regular", unicode.Gurmukhi),
	scriptsIn("NotoSansGujarati-Regular", unicode.Gujarati),
	scriptsIn("NotoSansOriya-Regular", unicode.Oriya),
	scriptsIn("NotoSansTamil-Regular", unicode.Tamil),
	scriptsIn("NotoSansTelugu-Regular", unicode.Telugu),
	scriptsIn("NotoSansKannada-Regular", unicode.Kannada),
	scriptsIn("NotoSansMalayalam-Regular", unicode.Malayalam),
	scriptsIn("NotoSansSinhala-Regular", unicode.Sinhala),
	scriptsIn("NotoSansThai-Regular", unicode.Thai),
	scriptsIn("NotoSansLao-Regular", unicode.Lao),
	scriptsIn("NotoSansKhmer-Regular", unicode.Khmer),
	scriptsIn("NotoSansMyanmar-Regular", unicode.Myanmar),
	scriptsIn("NotoSansEthiopic-Regular", unicode.Ethiopic),
	scriptsIn("NotoSansThaana-Regular", unicode.Thaana),
}

// wide are signs that are written among Chinese, Japanese and Korean letters.
var wide = &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0x3000, Hi: 0x303F, Stride: 1}, {Lo: 0x30FB, Hi: 0x30FC, Stride: 1}, {Lo: 0xFF00, Hi: 0xFFEF, Stride: 1}}}

// scriptOf is the font that has a letter, nil if none has.
func scriptOf(r rune) *scriptFont {
	for _, f := range scriptFonts {
		if unicode.In(r, f.scripts...) && f.has(r) {
			return f
		}
	}
	return nil
}

// CheckName returns an error for a name with a character that a ticket cannot show, such as an
// emoji or a rare Chinese character. It is for Options.CheckName of package traintravel.
func CheckName(name string) error {
	r, bad := Unprintable(name)
	switch {
	case bad && unicode.IsLetter(r):
		return fmt.Errorf("has the letter %q (U+%04X), which the fonts of tickets do not have: write the name in Latin letters, as in the machine-readable lines of the passport", r, r)
	case bad:
		return fmt.Errorf("has the character %q (U+%04X), which a ticket cannot show: remove it", r, r)
	}
	return nil
}

// Unprintable returns the first character of a text that a ticket cannot show, and false if
// it can show all. It ignores invisible characters.
func Unprintable(text string) (rune, bool) {
	if !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxLatin1 }) {
		return 0, false // without making a typeface
	}
	all, err := europeanFace()
	if err != nil {
		return 0, false // who makes a ticket is told
	}
	for _, r := range all.printable(text) {
		if r == missing {
			for _, r := range text { // the one that it stands for, and not what it became
				if all.printable(string(r)) == string(missing) {
					return r, true
				}
			}
			return missing, true
		}
	}
	return 0, false
}

// scripts draw what the main typeface does not have, in one document.
type scripts struct {
	shaper shaping.HarfbuzzShaper
	faces  map[*scriptFont]*font.Face // which are not safe for concurrent use
}

// A piece is a part of a line in one font: nil is the main typeface.
type piece struct {
	font *scriptFont
	text string
}

// pieces takes a line apart, in the order in which it is drawn from left to right. What
// belongs to no script stays with what it follows.
func pieces(has map[rune]bool, line string) []piece {
	var all []piece
	for _, r := range line {
		var f *scriptFont
		if !has[r] {
			f = scriptOf(r)
		}
		neutral := f == nil && !unicode.IsLetter(r) && !unicode.IsDigit(r)
		last := len(all) - 1
		if last >= 0 && (all[last].font == f || neutral && all[last].font.has(r)) {
			all[last].text += string(r)
			continue
		}
		all = append(all, piece{f, string(r)})
	}
	if len(all) > 0 && all[0].rightToLeft() { // the line is of such a script
		for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
			all[i], all[j] = all[j], all[i]
		}
	}
	return all
}

// has says whether a font has a character; nil has none.
func (f *scriptFont) has(r rune) bool {
	if f == nil {
		return false
	}
	loaded, err := f.load()
	if err != nil {
		return false
	}
	_, ok := loaded.NominalGlyph(r)
	return ok
}

func (p piece) rightToLeft() bool {
	for _, r := range p.text {
		if unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Thaana) {
			return true
		}
	}
	return false
}

// shape places the letters of a piece, in the units of its font.
func (s *scripts) shape(p piece) (shaping.Output, *font.Face, error) {
	face := s.faces[p.font]
	if face == nil {
		loaded, err := p.font.load()
		if err != nil {
			return shaping.Output{}, nil, err
		}
		if s.faces == nil {
			s.faces = map[*scriptFont]*font.Face{}
		}
		face = font.NewFace(loaded)
		s.faces[p.font] = face
	}
	text := []rune(p.text)
	in := shaping.Input{Text: text, RunEnd: len(text), Face: face, Size: fixed.I(int(face.Upem())), Direction: di.DirectionLTR, Language: "en"}
	if p.rightToLeft() {
		in.Direction = di.DirectionRTL
	}
	for _, r := range text {
		if in.Script = language.LookupScript(r); in.Script.Strong() {
			break
		}
	}
	return s.shaper.Shape(in), face, nil
}

// width is how wide a piece is, in the size of the letters.
func (s *scripts) width(p piece) float64 {
	out, face, err := s.shape(p)
	if err != nil {
		return 0
	}
	return float64(out.Advance) / 64 / float64(face.Upem())
}

// draw draws a piece whose letters stand on y from x on, and are of a size.
func (s *scripts) draw(pdf *fpdf.Fpdf, p piece, x, y, size float64, ink colour) {
	out, face, err := s.shape(p)
	if err != nil {
		return
	}
	scale := size / float64(face.Upem())
	pdf.SetFillColor(ink.r, ink.g, ink.b)
	for _, g := range out.Glyphs {
		at := func(p opentype.SegmentPoint) (float64, float64) {
			return x + (float64(p.X)+float64(g.XOffset)/64)*scale, y - (float64(p.Y)+float64(g.YOffset)/64)*scale
		}
		if outline, ok := face.GlyphDataOutline(g.GlyphID); ok && len(outline.Segments) > 0 {
			fillOutline(pdf, outline, at)
		}
		x += float64(g.Advance) / 64 * scale
	}
}

// fillOutline fills a shape.
func fillOutline(pdf *fpdf.Fpdf, outline font.GlyphOutline, at func(opentype.SegmentPoint) (float64, float64)) {
	for _, seg := range outline.Segments {
		x0, y0 := at(seg.Args[0])
		x1, y1 := at(seg.Args[1])
		x2, y2 := at(seg.Args[2])
		switch seg.Op {
		case opentype.SegmentOpMoveTo:
			pdf.MoveTo(x0, y0)
		case opentype.SegmentOpLineTo:
			pdf.LineTo(x0, y0)
		case opentype.SegmentOpQuadTo:
			pdf.CurveTo(x0, y0, x1, y1)
		case opentype.SegmentOpCubeTo:
			pdf.CurveBezierCubicTo(x0, y0, x1, y1, x2, y2)
		}
	}
	pdf.DrawPath("F")
}

// utf16Hex writes a text as PDF has it in hexadecimal strings.
func utf16Hex(text string) string {
	var b strings.Builder
	b.WriteString("FEFF")
	for _, u := range utf16.Encode([]rune(text)) {
		fmt.Fprintf(&b, "%04X", u)
	}
	return b.String()
}
