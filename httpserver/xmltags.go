package httpserver

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// startTag reads the tag with which an element begins, and brings into force the
// namespaces that it declares.
func (s *xmlScanner) startTag() xmlToken {
	s.at++
	from := s.at
	prefix, local, ok := s.qName()
	if !ok {
		return s.malformed("the tag of an element")
	}
	s.open = append(s.open, xmlElement{s.text[from:s.at], local, len(s.spaces)})
	s.attrs = s.attrs[:0]
	for {
		apart := s.blanks()
		rest := s.text[s.at:]
		switch {
		case strings.HasPrefix(rest, ">"):
			s.at++
		case strings.HasPrefix(rest, "/>"):
			s.at += len("/>")
			s.closes = true
		case !apart || !s.attribute():
			return s.malformed("the tag of an element")
		default:
			continue
		}
		s.local = local
		return s.named(prefix)
	}
}

// attribute reads an attribute. If it declares a namespace, that is in force from here on.
func (s *xmlScanner) attribute() bool {
	prefix, local, ok := s.qName()
	if !ok {
		return false
	}
	value, ok := s.value()
	if !ok || strings.IndexByte(value, '<') >= 0 {
		return false
	}
	for rest := value; ; {
		at := strings.IndexByte(rest, '&')
		if at < 0 {
			break
		}
		_, n, fault := xmlReference(rest[at:])
		if fault != "" {
			s.refuse(fault)
			return false
		}
		rest = rest[at+n:]
	}
	s.attrs = append(s.attrs, xmlAttribute{prefix, local})
	switch {
	case prefix == "xmlns":
		return s.bind(local, value)
	case prefix == "" && local == "xmlns":
		return s.bind("", value)
	}
	return true
}

// bind declares a namespace.
func (s *xmlScanner) bind(prefix, value string) bool {
	uri := attributeText(value)
	if prefix == "xmlns" || uri == xmlnsSpace || (prefix == "xml") != (uri == xmlSpace) || prefix != "" && uri == "" {
		s.refuse("it declares a namespace that may not be declared in this way")
		return false
	}
	if len(s.spaces) == maxSpaces {
		s.refuse("it declares too many nested namespaces")
		return false
	}
	space := 0
	for i := range s.spaces {
		if s.spaces[i].uri == uri {
			space = s.spaces[i].number
		}
	}
	if space == 0 {
		s.known++
		space = s.known
	}
	s.spaces = append(s.spaces, xmlBinding{prefix, uri, space})
	return true
}

// space returns the number of the namespace that a prefix stands for, zero if it is undeclared.
func (s *xmlScanner) space(prefix string) int {
	for i := len(s.spaces) - 1; i >= 0; i-- {
		if s.spaces[i].prefix == prefix {
			return s.spaces[i].number
		}
	}
	return 0
}

// named checks the names of a start tag when all namespaces are known.
func (s *xmlScanner) named(prefix string) xmlToken {
	if prefix != "" && (prefix == "xmlns" || s.space(prefix) == 0) {
		return s.refuse("the namespace prefix of an element is not declared")
	}
	s.names.begin(len(s.attrs))
	for _, a := range s.attrs {
		name := xmlName{local: a.local}
		if a.prefix != "" {
			if name.space = s.space(a.prefix); name.space == 0 {
				return s.refuse("the namespace prefix of an attribute is not declared")
			}
		}
		if !s.names.add(name) {
			return s.refuse("an element has an attribute twice")
		}
	}
	return xmlStart
}

// endTag reads the tag with which an element ends.
func (s *xmlScanner) endTag() xmlToken {
	s.at += len("</")
	if len(s.open) == 0 {
		return s.malformed("the tag of an element")
	}
	tag := s.open[len(s.open)-1].tag
	if !strings.HasPrefix(s.text[s.at:], tag) {
		return s.malformed("the tag of an element")
	}
	s.at += len(tag)
	s.blanks()
	if !strings.HasPrefix(s.text[s.at:], ">") {
		return s.malformed("the tag of an element")
	}
	s.at++
	return s.end()
}

// end ends the innermost element, and with it the namespaces that it declared.
func (s *xmlScanner) end() xmlToken {
	last := len(s.open) - 1
	s.local, s.spaces = s.open[last].local, s.spaces[:s.open[last].spaces]
	s.open = s.open[:last]
	return xmlEnd
}

// blanks goes beyond white space, and says whether there was any.
func (s *xmlScanner) blanks() bool {
	from := s.at
	for s.at < len(s.text) && strings.IndexByte(xmlBlanks, s.text[s.at]) >= 0 {
		s.at++
	}
	return s.at > from
}

// value reads an equals sign and a value in quotation marks, which it returns as it is
// written.
func (s *xmlScanner) value() (string, bool) {
	s.blanks()
	if !strings.HasPrefix(s.text[s.at:], "=") {
		return "", false
	}
	s.at++
	s.blanks()
	rest := s.text[s.at:]
	if rest == "" || rest[0] != '"' && rest[0] != '\'' {
		return "", false
	}
	n := strings.IndexByte(rest[1:], rest[0])
	if n < 0 {
		s.at = len(s.text)
		return "", false
	}
	s.at += n + 2
	return rest[1 : n+1], true
}

// attributeText is what a value says whose references are good.
func attributeText(value string) string {
	if !strings.ContainsAny(value, "&\t\r\n") {
		return value
	}
	var b strings.Builder
	value = strings.ReplaceAll(value, "\r\n", "\n")
	for value != "" {
		switch c := value[0]; c {
		case '&':
			r, n, _ := xmlReference(value)
			b.WriteRune(r)
			value = value[n:]
			continue
		case '\t', '\r', '\n':
			b.WriteByte(' ')
		default:
			b.WriteByte(c)
		}
		value = value[1:]
	}
	return b.String()
}

// qName reads a name with or without a prefix.
func (s *xmlScanner) qName() (prefix, local string, ok bool) {
	local = s.ncName()
	if local != "" && strings.HasPrefix(s.text[s.at:], ":") {
		s.at++
		prefix, local = local, s.ncName()
	}
	return prefix, local, local != ""
}

// ncName reads a name without a colon, empty if none comes next.
func (s *xmlScanner) ncName() string {
	from, want := s.at, nameStart
	for s.at < len(s.text) {
		c := s.text[s.at]
		if c < utf8.RuneSelf {
			if xmlASCII[c]&want == 0 {
				break
			}
			s.at++
		} else {
			r, size := utf8.DecodeRuneInString(s.text[s.at:])
			if !unicode.Is(nameFirst, r) && (want == nameStart || !unicode.Is(nameMore, r)) {
				break
			}
			s.at += size
		}
		want = namePart
	}
	return s.text[from:s.at]
}

// What a character of ASCII may be in a name.
const (
	nameStart uint8 = 1 << iota
	namePart
)

var xmlASCII = func() (table [utf8.RuneSelf]uint8) {
	for c := range table {
		switch {
		case 'a' <= c|0x20 && c|0x20 <= 'z', c == '_':
			table[c] = nameStart | namePart
		case '0' <= c && c <= '9', c == '-', c == '.':
			table[c] = namePart
		}
	}
	return table
}()

// The other characters that a name may begin with, and may have besides (productions 4
// and 4a, NameStartChar and NameChar).
var (
	nameFirst = &unicode.RangeTable{
		R16: []unicode.Range16{{0xC0, 0xD6, 1}, {0xD8, 0xF6, 1}, {0xF8, 0x2FF, 1}, {0x370, 0x37D, 1}, {0x37F, 0x1FFF, 1}, {0x200C, 0x200D, 1},
			{0x2070, 0x218F, 1}, {0x2C00, 0x2FEF, 1}, {0x3001, 0xD7FF, 1}, {0xF900, 0xFDCF, 1}, {0xFDF0, 0xFFFD, 1}},
		R32:         []unicode.Range32{{0x10000, 0xEFFFF, 1}},
		LatinOffset: 2,
	}
	nameMore = &unicode.RangeTable{
		R16:         []unicode.Range16{{0xB7, 0xB7, 1}, {0x300, 0x36F, 1}, {0x203F, 0x2040, 1}},
		LatinOffset: 1,
	}
)
