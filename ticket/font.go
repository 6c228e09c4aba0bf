package ticket

import (
	"fmt"
	"strings"
	"sync"
	"unicode"

	"codeberg.org/go-pdf/fpdf"
	"github.com/go-fonts/dejavu/dejavusanscondensed"
	"github.com/go-fonts/dejavu/dejavusanscondensedbold"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/text/unicode/norm"
)

// A typeface is a font in two weights, cut down to some letters. All that it has is
// read anew for each document, of which most need few.
type typeface struct {
	regular, bold []byte
	has           map[rune]bool
}

type span struct{ from, to rune }

// missing stands for what the fonts do not have.
const missing = '\uFFFD'

var (
	latin = []span{
		{0x20, 0x7E}, {0xA0, 0x17F}, {0x218, 0x21B}, {0x2BC, 0x2BC},
		{0x2010, 0x2044}, {0x20A0, 0x20BF}, // punctuation, currencies
		{missing, missing},
	}
	european = append([]span{
		{0x180, 0x24F}, {0x1E00, 0x1EFF}, {0x300, 0x36F}, // Latin with more accents, and these alone
		{0x370, 0x3FF}, {0x1F00, 0x1FFF}, // Greek
		{0x400, 0x52F},                   // Cyrillic
		{0x530, 0x58F}, {0x10A0, 0x10FF}, // Armenian, Georgian
		{0x2116, 0x2116}, {0x2190, 0x2193},
	}, latin...)
)

// The typefaces are made when the first document needs them.
var (
	latinFace    = sync.OnceValues(func() (*typeface, error) { return cutFonts(latin) })
	europeanFace = sync.OnceValues(func() (*typeface, error) { return cutFonts(european) })
)

// faceFor chooses the typeface for some texts.
func faceFor(texts []string) (*typeface, error) {
	few, err := latinFace()
	if err != nil {
		return nil, err
	}
	all, err := europeanFace()
	if err != nil {
		return nil, err
	}
	for _, s := range texts {
		if all.printable(s) != few.printable(s) {
			return all, nil
		}
	}
	return few, nil
}

// cutFonts leaves of the fonts the letters that both weights have.
func cutFonts(spans []span) (*typeface, error) {
	regular, err := sfnt.Parse(dejavusanscondensed.TTF)
	if err != nil {
		return nil, fmt.Errorf("the regular font: %w", err)
	}
	bold, err := sfnt.Parse(dejavusanscondensedbold.TTF)
	if err != nil {
		return nil, fmt.Errorf("the bold font: %w", err)
	}
	f := &typeface{has: map[rune]bool{}}
	var (
		all strings.Builder
		buf sfnt.Buffer
	)
	for _, s := range spans {
		for r := s.from; r <= s.to; r++ {
			inRegular, err := regular.GlyphIndex(&buf, r)
			if err != nil {
				return nil, err
			}
			inBold, err := bold.GlyphIndex(&buf, r)
			if err != nil {
				return nil, err
			}
			if inRegular != 0 && inBold != 0 {
				f.has[r] = true
				all.WriteRune(r)
			}
		}
	}
	f.regular = fpdf.UTF8CutFont(dejavusanscondensed.TTF, all.String())
	f.bold = fpdf.UTF8CutFont(dejavusanscondensedbold.TTF, all.String())
	return f, nil
}

// printable is a text as the fonts can write it: on one line, with letters and
// their accents in one where there are such, ligatures that they lack spelled out, and a sign for each character that
// neither they nor those of other scripts have.
func (f *typeface) printable(s string) string {
	var b strings.Builder
	for _, r := range norm.NFC.String(oneLine(s)) {
		switch {
		case f.draws(r):
			b.WriteRune(r)
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point): // cannot be seen
		default:
			b.WriteString(f.plain(r))
		}
	}
	return b.String()
}

// draws says whether the typeface or a font of another script has a character.
func (f *typeface) draws(r rune) bool { return f.has[r] || scriptOf(r) != nil }

// plain spells a character that the fonts lack with those that it is made of, as the
// ligature ﬃ is of ffi; it is missing if they lack one of these too.
func (f *typeface) plain(r rune) string {
	spelled := norm.NFKC.String(string(r))
	if strings.ContainsFunc(spelled, func(r rune) bool { return !f.draws(r) }) {
		return string(missing)
	}
	return spelled
}
