package httpserver

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// newBookingXML reads the body of a request to book, a booking as answers have
// it in XML. As in JSON, what is not known is ignored.
func (x *exchange) newBookingXML() (traintravel.NewBooking, error) {
	d := xmlReader{known: []string{"trip_id", "passenger_name", "has_bicycle", "has_dog"}, texts: map[string]string{}}
	d.read(x.in, "booking")
	n := traintravel.NewBooking{
		TripID: d.id("trip_id"), PassengerName: d.required("passenger_name"),
		HasBicycle: d.flag("has_bicycle"), HasDog: d.flag("has_dog"),
	}
	return n, d.problem()
}

// An xmlReader reads the elements of a root that hold nothing but text, in
// whatever namespace they are. It takes no document type, and so no entities but
// those that XML itself has. An element that is nil, which is what null is in
// JSON, is an empty one.
type xmlReader struct {
	faults
	known  []string
	texts  map[string]string // of the known that are there
	broken bool              // no XML of ours: what is missing was not looked for
}

func (d *xmlReader) wrong(name, detail string) {
	d.add(fault{pointer: "/" + name, body: true, detail: detail})
}

// fail gives the body up.
func (d *xmlReader) fail(detail string) {
	d.broken = true
	d.faults = faults{{body: true, detail: detail}}
}

func (d *xmlReader) read(body []byte, root string) {
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	if reason := notText(body); reason != "" {
		d.fail(reason)
		return
	}
	tokens := xml.NewDecoder(bytes.NewReader(body))
	form := newXMLForm()
	var (
		depth int
		name  string // of the known element that is being read
		text  []byte
		ended bool
	)
	for {
		start := tokens.InputOffset()
		line, _ := tokens.InputPos()
		token, err := tokens.Token()
		switch {
		case err == io.EOF && ended:
			return
		case err == io.EOF:
			d.fail("is empty")
			return
		}
		if reason := form.fault(token, body[start:tokens.InputOffset()], start == 0); reason != "" {
			d.fail("is not XML: " + reason + ", at line " + strconv.Itoa(line))
			return
		}
		if err != nil {
			d.fail(xmlFault(err))
			return
		}
		switch t := token.(type) {
		case xml.Directive:
			d.fail("has a document type, which is not taken")
			return
		case xml.StartElement:
			depth++
			switch {
			case depth > maxDepth:
				d.fail("has more than " + strconv.Itoa(maxDepth) + " elements within each other")
				return
			case depth == 1 && (ended || t.Name.Local != root):
				d.fail("is not one element " + root)
				return
			case depth == 2 && slices.Contains(d.known, t.Name.Local):
				name, text = t.Name.Local, nil
			case name != "":
				d.wrong(name, "is not a text")
				name = ""
			}
		case xml.CharData:
			if name != "" {
				text = append(text, t...)
			}
		case xml.EndElement:
			if depth == 2 && name != "" {
				if _, twice := d.texts[name]; twice {
					d.wrong(name, "is there more than once")
				}
				d.texts[name], name = string(text), ""
			}
			depth--
			ended = depth == 0
		}
	}
}

// xmlFault says what is wrong without quoting anything.
func xmlFault(err error) string {
	if e, ok := errors.AsType[*xml.SyntaxError](err); ok {
		if strings.Contains(e.Msg, "unexpected EOF") {
			return "ends before its XML does"
		}
		return "is not XML: see line " + strconv.Itoa(e.Line)
	}
	return "is not XML"
}

func (d *xmlReader) required(name string) string {
	text, ok := d.texts[name]
	if !ok && !d.broken && !d.found(name) {
		d.wrong(name, "is required")
	}
	return text
}

// found says whether something is wrong with an element already.
func (d *xmlReader) found(name string) bool {
	return slices.ContainsFunc(d.faults, func(f fault) bool { return f.pointer == "/"+name })
}

func (d *xmlReader) id(name string) uuid.UUID {
	text := d.required(name)
	id, ok := parseID(strings.TrimSpace(text))
	if !ok && !d.broken && !d.found(name) {
		d.wrong(name, "is not a UUID")
	}
	return id
}

// flag reads a boolean as XML Schema writes it, false if it is not there.
func (d *xmlReader) flag(name string) bool {
	switch text, ok := d.texts[name]; strings.TrimSpace(text) {
	case "true", "1":
		return true
	case "false", "0":
	default:
		if ok && !d.found(name) {
			d.wrong(name, "is neither true nor false")
		}
	}
	return false
}

// An xmlForm finds in a document without a document type what [xml.Decoder]
// takes although it is not well-formed by XML 1.0 or by Namespaces in XML 1.0.
// It looks at each token as it is written, and at nothing that the decoder
// refuses by itself: tags that do not match, comments with "--" in them, the
// names of entities. Names are those that all editions of XML 1.0 have: the
// decoder knows the fourth, and here it is the fifth.
type xmlForm struct {
	bound    map[string][]string // what each prefix stands for, the innermost last
	declared [][]string          // the prefixes that each open element declares
}

const (
	xmlSpace   = "http://www.w3.org/XML/1998/namespace"
	xmlnsSpace = "http://www.w3.org/2000/xmlns/"
	xmlBlanks  = " \t\r\n"
)

var (
	xmlDeclaration = regexp.MustCompile(`^<\?xml` + blanks + `version` + is(`1\.0`, `1\.0`) +
		`(?:` + blanks + `encoding` + is(`(?i:utf-8)`, `(?i:utf-8)`) + `)?(?:` + blanks + `standalone` + is(`yes|no`, `yes|no`) + `)?[ \t\r\n]*\?>$`)
	xmlInstruction = regexp.MustCompile(`^<\?(` + ncName + `)(?s:` + blanks + `.*)?\?>$`)
	xmlStartTag    = regexp.MustCompile(`^<(` + qName + `)((?:` + xmlAttribute.String() + `)*)[ \t\r\n]*/?>$`)
	xmlAttribute   = regexp.MustCompile(blanks + `(` + qName + `)` + is(`[^<"]*`, `[^<']*`))
	xmlReference   = regexp.MustCompile(`&#(x?)([0-9A-Fa-f]+);`)
)

const (
	blanks    = `[ \t\r\n]+`
	nameFirst = `A-Z_a-z\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{2FF}\x{370}-\x{37D}\x{37F}-\x{1FFF}\x{200C}\x{200D}\x{2070}-\x{218F}` +
		`\x{2C00}-\x{2FEF}\x{3001}-\x{D7FF}\x{F900}-\x{FDCF}\x{FDF0}-\x{FFFD}\x{10000}-\x{EFFFF}`
	ncName = `[` + nameFirst + `][-.0-9\x{B7}\x{300}-\x{36F}\x{203F}\x{2040}` + nameFirst + `]*`
	qName  = `(?:` + ncName + `:)?` + ncName
)

// is matches an equals sign and a value in quotation marks, double or single.
func is(double, single string) string {
	return `[ \t\r\n]*=[ \t\r\n]*(?:"(?:` + double + `)"|'(?:` + single + `)')`
}

func newXMLForm() *xmlForm {
	return &xmlForm{bound: map[string][]string{"xml": {xmlSpace}, "xmlns": {xmlnsSpace}}}
}

// fault says what is wrong with a token, nil if the decoder refused it, that is
// written as raw.
func (f *xmlForm) fault(token xml.Token, raw []byte, first bool) string {
	switch t := token.(type) {
	case xml.ProcInst:
		m := xmlInstruction.FindSubmatch(raw)
		switch {
		case first && xmlDeclaration.Match(raw):
		case strings.EqualFold(t.Target, "xml"):
			return "its declaration is not one of version 1.0 in UTF-8 at its beginning"
		case m == nil:
			return "a processing instruction is malformed"
		}
	case xml.CharData:
		switch {
		case len(f.declared) == 0 && len(bytes.Trim(raw, xmlBlanks)) > 0:
			return "it has text outside its element"
		case !bytes.HasPrefix(raw, []byte("<![CDATA[")):
			return badReference(raw)
		}
	case xml.StartElement:
		return f.start(raw, t.Attr)
	case xml.EndElement:
		last := len(f.declared) - 1
		for _, prefix := range f.declared[last] {
			f.bound[prefix] = f.bound[prefix][:len(f.bound[prefix])-1]
		}
		f.declared = f.declared[:last]
	case nil:
		if !bytes.HasPrefix(raw, []byte("<!")) && !bytes.HasPrefix(raw, []byte("<?")) {
			return badReference(raw)
		}
	}
	return ""
}

// start looks at a start tag and brings into force the namespaces that it
// declares.
func (f *xmlForm) start(raw []byte, attrs []xml.Attr) string {
	tag := xmlStartTag.FindSubmatch(raw)
	if tag == nil {
		return "the tag of an element is malformed"
	}
	names := xmlAttribute.FindAllSubmatch(tag[2], -1)
	if len(names) != len(attrs) { // then it is we who are wrong
		return "the tag of an element is malformed"
	}
	var declared []string
	for i, a := range names {
		name := string(a[1])
		prefix, ok := strings.CutPrefix(name, "xmlns:")
		if name == "xmlns" {
			prefix, ok = "", true
		}
		if !ok {
			continue
		}
		space := attrs[i].Value
		if prefix == "xmlns" || space == xmlnsSpace || (prefix == "xml") != (space == xmlSpace) || prefix != "" && space == "" {
			return "it declares a namespace that may not be declared so"
		}
		f.bound[prefix] = append(f.bound[prefix], space)
		declared = append(declared, prefix)
	}
	f.declared = append(f.declared, declared)
	if _, ok := f.resolve(string(tag[1])); !ok || bytes.HasPrefix(tag[1], []byte("xmlns:")) {
		return "the prefix of an element stands for no namespace"
	}
	seen := make(map[xml.Name]bool, len(names))
	for _, a := range names {
		name, ok := f.resolve(string(a[1]))
		switch {
		case !ok:
			return "the prefix of an attribute stands for no namespace"
		case seen[name]:
			return "an element has an attribute twice"
		}
		seen[name] = true
	}
	return badReference(raw)
}

// resolve returns a name with the namespace that its prefix stands for. Without
// a prefix there is none, as is right for attributes.
func (f *xmlForm) resolve(name string) (xml.Name, bool) {
	prefix, local, ok := strings.Cut(name, ":")
	if !ok {
		return xml.Name{Local: name}, true
	}
	spaces := f.bound[prefix]
	if len(spaces) == 0 {
		return xml.Name{}, false
	}
	return xml.Name{Space: spaces[len(spaces)-1], Local: local}, true
}

// badReference looks at the references to characters by their number.
func badReference(raw []byte) string {
	for _, m := range xmlReference.FindAllSubmatch(raw, -1) {
		base := 10
		if len(m[1]) > 0 {
			base = 16
		}
		n, err := strconv.ParseUint(string(m[2]), base, 32)
		if err != nil || n > utf8.MaxRune {
			return "it refers to a character beyond U+10FFFF"
		}
		if !xmlCharacter(rune(n)) {
			return fmt.Sprintf("it refers to %U, which is no character of XML", n)
		}
	}
	return ""
}

// notText says why a document is no sequence of characters that XML knows,
// which is asked of comments and all else.
func notText(body []byte) string {
	if !utf8.Valid(body) {
		return "is not in UTF-8"
	}
	for i, r := range string(body) {
		if !xmlCharacter(r) {
			return fmt.Sprintf("is not XML: it has %U, which is no character of XML, at line %d", r, 1+bytes.Count(body[:i], []byte("\n")))
		}
	}
	return ""
}

// xmlCharacter says whether XML 1.0 has a character (production 2, Char).
func xmlCharacter(r rune) bool {
	return r >= ' ' && utf8.ValidRune(r) && r != 0xFFFE && r != 0xFFFF || r == '\t' || r == '\n' || r == '\r'
}
