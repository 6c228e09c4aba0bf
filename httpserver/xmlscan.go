package httpserver

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// An xmlScanner takes a document apart that is well-formed by XML 1.0 (fifth edition) and
// by Namespaces in XML 1.0, and finds what is wrong with any other. It knows no document
// type, and so no entities but those that XML itself has. It reads each byte a fixed
// number of times and copies none of them, whatever the document is.
type xmlScanner struct {
	text  string
	at    int    // where the next token begins, or what is wrong
	begun int    // where the token begins
	wrong string // why there are no more tokens

	open   []xmlElement // the innermost last
	closes bool         // the element that began last has no content: its end comes next

	spaces []xmlBinding   // in force, the innermost last
	known  int            // how many namespaces have a number
	attrs  []xmlAttribute // of the tag that is being read
	names  xmlNames       // of attrs

	local   string // of the element that began or ended
	content string // of a text as it is written: it may have other line ends than \n
	char    rune   // of a reference in a text; content is empty then
}

// An xmlToken is a part of a document.
type xmlToken uint8

const (
	xmlBroken xmlToken = iota // see wrong
	xmlDone
	xmlStart
	xmlEnd
	xmlText
	xmlDoctype
	xmlNothing // a comment or an instruction
)

// An xmlElement is one that has begun.
type xmlElement struct {
	tag    string // as it is written
	local  string
	spaces int // how many were in force before it
}

// An xmlBinding says what a prefix stands for.
type xmlBinding struct {
	prefix, uri string
	number      int // of the namespace, by which it is compared
}

// An xmlAttribute is the name of one as it is written.
type xmlAttribute struct{ prefix, local string }

// An xmlName is what the name of an attribute means. Space 0 is none.
type xmlName struct {
	space int
	local string
}

const (
	xmlSpace   = "http://www.w3.org/XML/1998/namespace"
	xmlnsSpace = "http://www.w3.org/2000/xmlns/"
	xmlBlanks  = " \t\r\n"
	// maxSpaces bounds the namespaces that are in force at a place, and with it how long
	// one is looked for.
	maxSpaces = 16 + 2
)

func newXMLScanner(text string) *xmlScanner {
	return &xmlScanner{text: text, spaces: []xmlBinding{{"xml", xmlSpace, 1}, {"xmlns", xmlnsSpace, 2}}, known: 2}
}

// why describes the error of the document, and quotes nothing of it.
func (s *xmlScanner) why() string {
	if s.wrong == xmlUnfinished {
		return s.wrong
	}
	return "is not valid XML: " + s.wrong + ", at line " + strconv.Itoa(1+strings.Count(s.text[:s.begun], "\n"))
}

const xmlUnfinished = "ends before its XML is complete"

// refuse records the error of the token.
func (s *xmlScanner) refuse(why string) xmlToken {
	if s.wrong == "" {
		s.wrong = why
	}
	return xmlBroken
}

// malformed refuses a token, unless the document ends in it.
func (s *xmlScanner) malformed(what string) xmlToken {
	if s.at >= len(s.text) {
		return s.refuse(xmlUnfinished)
	}
	return s.refuse(what + " is malformed")
}

// next reads a token.
func (s *xmlScanner) next() xmlToken {
	s.begun = s.at
	rest := s.text[s.at:]
	switch {
	case s.closes:
		s.closes = false
		return s.end()
	case rest == "" && len(s.open) > 0:
		return s.refuse(xmlUnfinished)
	case rest == "":
		return xmlDone
	case rest[0] != '<':
		return s.chars()
	case strings.HasPrefix(rest, "</"):
		return s.endTag()
	case strings.HasPrefix(rest, "<?"):
		return s.instruction()
	case strings.HasPrefix(rest, "<!"):
		return s.declaration()
	}
	return s.startTag()
}

// chars reads text up to a tag, or a reference in it.
func (s *xmlScanner) chars() xmlToken {
	rest := s.text[s.at:]
	if len(s.open) == 0 {
		s.at += len(rest) - len(strings.TrimLeft(rest, xmlBlanks))
		if s.at < len(s.text) && s.text[s.at] != '<' {
			return s.refuse("it has text outside its root element")
		}
		return xmlNothing
	}
	if rest[0] == '&' {
		r, n, fault := xmlReference(rest)
		if fault != "" {
			return s.refuse(fault)
		}
		s.at += n
		s.content, s.char = "", r
		return xmlText
	}
	if n := strings.IndexAny(rest, "<&"); n >= 0 {
		rest = rest[:n]
	}
	if strings.Contains(rest, "]]>") {
		return s.refuse("it has ]]> outside a CDATA section")
	}
	s.at += len(rest)
	s.content, s.char = rest, 0
	return xmlText
}

// appendTo appends the text that was read last, with its line ends as XML has them.
func (s *xmlScanner) appendTo(to []byte) []byte {
	if s.char != 0 {
		return utf8.AppendRune(to, s.char)
	}
	if strings.IndexByte(s.content, '\r') < 0 {
		return append(to, s.content...)
	}
	for i := range len(s.content) {
		switch c := s.content[i]; {
		case c != '\r':
			to = append(to, c)
		case !strings.HasPrefix(s.content[i+1:], "\n"):
			to = append(to, '\n')
		}
	}
	return to
}

// xmlReference reads the reference at the beginning of a text: the character that it stands
// for and its length, or its error.
func xmlReference(text string) (r rune, length int, fault string) {
	n := 1
	for n < len(text) && text[n] != ';' && text[n] != '<' && text[n] != '&' {
		n++
	}
	if n == len(text) || text[n] != ';' {
		return 0, 0, "a reference does not end with a semicolon"
	}
	name := text[1:n]
	for _, e := range [...]struct {
		name string
		r    rune
	}{{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}} {
		if name == e.name {
			return e.r, n + 1, ""
		}
	}
	digits, ok := strings.CutPrefix(name, "#")
	base := rune(10)
	if hex, is := strings.CutPrefix(digits, "x"); is {
		digits, base = hex, 16
	}
	if !ok || digits == "" {
		return 0, 0, "a reference is neither to a character nor to a predefined entity of XML"
	}
	for i := range len(digits) {
		d := digitOf(digits[i])
		if d >= base {
			return 0, 0, "a character reference is not a number"
		}
		if r = r*base + d; r > utf8.MaxRune {
			return 0, 0, "it refers to a character beyond U+10FFFF"
		}
	}
	if !xmlCharacter(r) {
		return 0, 0, fmt.Sprintf("it refers to %U, which XML does not allow", r)
	}
	return r, n + 1, ""
}

// digitOf returns the value of a decimal or hexadecimal digit; 16 for any other character.
func digitOf(c byte) rune {
	switch {
	case '0' <= c && c <= '9':
		return rune(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return rune(c|0x20-'a') + 10
	}
	return 16
}

// declaration reads markup that begins with an exclamation mark.
func (s *xmlScanner) declaration() xmlToken {
	rest := s.text[s.at:]
	if comment, ok := strings.CutPrefix(rest, "<!--"); ok {
		n := strings.Index(comment, "--")
		switch {
		case n < 0:
			return s.refuse(xmlUnfinished)
		case !strings.HasPrefix(comment[n:], "-->"):
			return s.refuse("a comment contains --")
		}
		s.at += len("<!--") + n + len("-->")
		return xmlNothing
	}
	if section, ok := strings.CutPrefix(rest, "<![CDATA["); ok {
		n := strings.Index(section, "]]>")
		switch {
		case len(s.open) == 0:
			return s.refuse("it has text outside its root element")
		case n < 0:
			return s.refuse(xmlUnfinished)
		}
		s.at += len("<![CDATA[") + n + len("]]>")
		s.content, s.char = section[:n], 0
		return xmlText
	}
	if len(rest) > 2 && xmlASCII[rest[2]]&nameStart != 0 && len(s.open) == 0 {
		return xmlDoctype
	}
	return s.refuse("a declaration is malformed")
}

// instruction reads a processing instruction, or the declaration that a document may
// begin with.
func (s *xmlScanner) instruction() xmlToken {
	n := strings.Index(s.text[s.at:], "?>")
	if n < 0 {
		return s.refuse(xmlUnfinished)
	}
	end := s.at + n
	s.at += len("<?")
	target := s.ncName()
	switch {
	case strings.EqualFold(target, "xml"):
		if s.begun > 0 || target != "xml" || !isXMLDeclaration(s.text[s.at:end]) {
			return s.refuse("its XML declaration is not at the beginning, or not for version 1.0 in UTF-8")
		}
	case target == "" || s.at < end && strings.IndexByte(xmlBlanks, s.text[s.at]) < 0:
		return s.refuse("a processing instruction is malformed")
	}
	s.at = end + len("?>")
	return xmlNothing
}

// isXMLDeclaration checks the part of a declaration after its name.
func isXMLDeclaration(text string) bool {
	s := xmlScanner{text: text}
	for i, part := range [...]struct {
		name string
		good func(string) bool
	}{
		{"version", func(v string) bool { return v == "1.0" }},
		{"encoding", func(v string) bool { return strings.EqualFold(v, "utf-8") }},
		{"standalone", func(v string) bool { return v == "yes" || v == "no" }},
	} {
		before := s.at
		if !s.blanks() || !strings.HasPrefix(s.text[s.at:], part.name) {
			if i == 0 {
				return false
			}
			s.at = before
			continue
		}
		s.at += len(part.name)
		if v, ok := s.value(); !ok || !part.good(v) {
			return false
		}
	}
	s.blanks()
	return s.at == len(text)
}

// notText says why a document is not a sequence of characters that XML allows, which is
// checked in comments and everywhere else.
func notText(body []byte) string {
	if !utf8.Valid(body) {
		return "is not in UTF-8"
	}
	for i, r := range string(body) {
		if !xmlCharacter(r) {
			return fmt.Sprintf("is not valid XML: it has %U, which XML does not allow, at line %d", r, 1+bytes.Count(body[:i], []byte("\n")))
		}
	}
	return ""
}

// xmlCharacter says whether XML 1.0 has a character (production 2, Char).
func xmlCharacter(r rune) bool {
	return r >= ' ' && utf8.ValidRune(r) && r != 0xFFFE && r != 0xFFFF || r == '\t' || r == '\n' || r == '\r'
}
