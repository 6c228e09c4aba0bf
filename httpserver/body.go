package httpserver

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

const (
	maxDepth   = 32  // of objects and arrays
	maxPointer = 200 // bytes of a pointer that we answer with
)

// decode reads the request's body as JSON. read takes from the decoder what it
// wants.
func (x *exchange) decode(read func(*decoder)) error {
	d := &decoder{dec: jsontext.NewDecoder(bytes.NewBuffer(x.in))}
	switch {
	case len(x.in) == 0:
		d.add(fault{body: true, detail: "must not be empty"})
	case tooDeep(x.in):
		d.add(fault{body: true, detail: "nests more than " + strconv.Itoa(maxDepth) + " objects and arrays"})
	default:
		read(d)
		d.end()
	}
	if err := d.problem(); err != nil {
		return err
	}
	return x.parsed()
}

// receive reads the bytes of the body, up to its limit. They may hold the
// number of a card: they are not logged, and cleared when the exchange is over.
func (x *exchange) receive() error {
	size := x.r.ContentLength
	if size > maxBody {
		return problemTooLarge
	}
	if size < 0 {
		size = maxBody
	}
	err := x.s.house.receive(x.w, x.r, x.who, int(size), &x.in)
	switch _, tooLarge := errors.AsType[*http.MaxBytesError](err); {
	case err == nil:
		return nil
	case tooLarge:
		return problemTooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return problemSlow
	case errors.Is(err, problemUnfinished):
		return problemUnfinished
	}
	return faults{{body: true, detail: "cannot be read completely"}}.problem()
}

// tooDeep says whether brackets are nested beyond maxDepth.
func tooDeep(raw []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// A decoder reads JSON strictly, by RFC 7493: no member twice, no invalid
// UTF-8, one value and nothing after it. Like a query's, its methods return a
// zero value where they find fault. null is of no kind that a member may have:
// it is refused like any value of the wrong kind.
type decoder struct {
	faults
	dec    *jsontext.Decoder
	broken bool // it is not JSON, nothing more can be read
}

// object reads an object. member reads the value of the member with a name,
// or returns false to have it ignored. Required members are there.
func (d *decoder) object(required []string, member func(name string) bool) {
	if d.dec.PeekKind() != '{' {
		d.mismatch("is not an object")
		return
	}
	var at jsontext.Pointer
	if d.token(); d.dec.StackDepth() > 1 {
		at = d.dec.StackPointer()
	}
	var there uint
	for !d.broken && d.dec.PeekKind() != '}' {
		name := d.token()
		if d.broken {
			return
		}
		if i := slices.Index(required, name); i >= 0 {
			there |= 1 << i
		}
		if !member(name) {
			d.skip()
		}
	}
	d.token()
	for i, name := range required {
		if there&(1<<i) == 0 && !d.broken {
			d.wrong(at.AppendToken(name), "is required")
		}
	}
}

// array reads an array that is not empty. item reads one of its items.
func (d *decoder) array(item func()) {
	if d.dec.PeekKind() != '[' {
		d.mismatch("is not an array")
		return
	}
	d.token()
	at := d.dec.StackPointer()
	if d.dec.PeekKind() == ']' {
		d.wrong(at, "must not be empty")
	}
	for !d.broken && d.dec.PeekKind() != ']' {
		item()
	}
	d.token()
}

// token reads a token and returns its text.
func (d *decoder) token() string {
	if d.broken {
		return ""
	}
	t, err := d.dec.ReadToken()
	if err != nil {
		d.fail(err)
		return ""
	}
	return t.String()
}

func (d *decoder) skip() {
	if d.broken {
		return
	}
	if err := d.dec.SkipValue(); err != nil {
		d.fail(err)
	}
}

// scalar reads a value of one of the kinds, or finds fault.
func (d *decoder) scalar(detail string, kinds ...jsontext.Kind) string {
	if slices.Contains(kinds, d.dec.PeekKind()) {
		return d.token()
	}
	d.mismatch(detail)
	return ""
}

func (d *decoder) text() string { return d.scalar("is not a string", '"') }

// number reads a number as it is written.
func (d *decoder) number() string { return d.scalar("is not a number", '0') }

func (d *decoder) flag() bool { return d.scalar("must be true or false", 't', 'f') == "true" }

func (d *decoder) id() uuid.UUID {
	before := len(d.faults)
	text := d.text()
	id, ok := parseID(text)
	if !ok && !d.broken && len(d.faults) == before {
		d.wrong(d.dec.StackPointer(), "is not a UUID")
	}
	return id
}

// mismatch finds fault with the value that comes next, and skips it.
func (d *decoder) mismatch(detail string) {
	if d.skip(); !d.broken {
		d.wrong(d.dec.StackPointer(), detail)
	}
}

// unnumbered is a pointer up to the first name that has as many digits as the number
// of a card or an account: no name of ours has, and such a number is not repeated.
func unnumbered(pointer string) string {
	at, digits := 0, 0
	for i, r := range pointer {
		switch {
		case r == '/':
			at, digits = i, 0
		case unicode.IsDigit(r):
			if digits++; digits == 12 {
				return pointer[:at]
			}
		}
	}
	return pointer
}

// wrong finds fault with a member.
func (d *decoder) wrong(at jsontext.Pointer, detail string) {
	p := unnumbered(string(at))
	if len(p) > maxPointer {
		p = strings.ToValidUTF8(p[:maxPointer], "")
	}
	d.add(fault{pointer: p, body: true, detail: detail})
}

// refuse finds the fault that the service does.
func (d *decoder) refuse(err error) {
	if e, ok := errors.AsType[*traintravel.InvalidError](err); ok {
		d.wrong(jsontext.Pointer(pointer(e.Field)), e.Reason)
	}
}

// pointer is the JSON pointer of a field that the service names, such as events[1] or
// source.number.
func pointer(field string) string {
	return "/" + strings.NewReplacer(".", "/", "[", "/", "]", "").Replace(field)
}

// fail stops reading a body that is not valid JSON. The reasons quote nothing of it.
func (d *decoder) fail(err error) {
	d.broken = true
	var at jsontext.Pointer
	detail := "is not valid JSON"
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		at, detail = e.JSONPointer, "is not valid JSON: see byte "+strconv.FormatInt(e.ByteOffset, 10)
	}
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		detail = "occurs more than once"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		at, detail = "", "ends before its JSON value is complete"
	}
	d.wrong(at, detail)
}

// end reports data after the JSON value.
func (d *decoder) end() {
	if d.broken {
		return
	}
	switch _, err := d.dec.ReadToken(); err {
	case io.EOF:
	default:
		d.broken = true
		d.add(fault{body: true, detail: "has data after its JSON value"})
	}
}
