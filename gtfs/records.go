package gtfs

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"unicode"
	"unicode/utf8"
)

// maxRecord bounds a record, and so a line, in bytes.
const maxRecord = 64 << 10

// malformed is an error in the text of a table, not in reading it.
type malformed string

func (m malformed) Error() string { return string(m) }

const (
	errLong  malformed = "the record is longer than 64 KiB"
	errUTF8  malformed = "the text is not UTF-8"
	errUTF16 malformed = "the text is UTF-16: save it as UTF-8"
	errCR    malformed = "the lines end in CR only: end them in LF, or in CR and LF"
	errQuote malformed = "a field without quotes contains a quote, or a quote is missing"
)

// records splits comma-separated text (RFC 4180, as GTFS has it) into fields.
// It does what encoding/csv does with TrimLeadingSpace, and also lets blanks
// follow a closing quote, but bounds a record's length and allocates nothing.
type records struct {
	r      *bufio.Reader
	lines  int      // read so far
	line   int      // in which the record begins
	fields [][]byte // of the record, valid until next is called again
	text   []byte   // backs fields if some are quoted
}

func newRecords(r io.Reader) *records {
	return &records{r: bufio.NewReaderSize(r, maxRecord)}
}

// next reads a record, passing over empty lines. It returns io.EOF at the end.
func (s *records) next() error {
	var line []byte
	for len(line) == 0 {
		var err error
		if line, err = s.readLine(); err != nil {
			return err
		}
	}
	s.line = s.lines
	s.fields = s.fields[:0]
	if bytes.IndexByte(line, '"') >= 0 {
		return s.quoted(line)
	}
	for {
		i := bytes.IndexByte(line, ',')
		if i < 0 {
			s.fields = append(s.fields, line)
			return nil
		}
		s.fields = append(s.fields, line[:i])
		line = line[i+1:]
	}
}

// quoted splits a record that has quotes and perhaps more lines.
func (s *records) quoted(line []byte) error {
	s.text = s.text[:0]
	for {
		start := len(s.text)
		line = bytes.TrimLeftFunc(line, unicode.IsSpace)
		if len(line) > 0 && line[0] == '"' {
			var err error
			if line, err = s.unquote(line[1:]); err != nil {
				return err
			}
		} else {
			i := bytes.IndexByte(line, ',')
			if i < 0 {
				i = len(line)
			}
			if bytes.IndexByte(line[:i], '"') >= 0 {
				return errQuote
			}
			s.text = append(s.text, line[:i]...)
			line = line[i:]
		}
		s.fields = append(s.fields, s.text[start:])
		if len(line) == 0 {
			return nil
		}
		if line[0] != ',' {
			return errQuote
		}
		line = line[1:]
	}
}

// unquote adds to s.text what follows an opening quote, up to the closing one,
// and returns what comes after it and after blanks.
func (s *records) unquote(line []byte) ([]byte, error) {
	for {
		i := bytes.IndexByte(line, '"')
		switch {
		case i < 0:
			s.text = append(append(s.text, line...), '\n')
			if len(s.text) > maxRecord {
				return nil, errLong
			}
			var err error
			if line, err = s.readLine(); errors.Is(err, io.EOF) {
				return nil, errQuote
			} else if err != nil {
				return nil, err
			}
		case i+1 < len(line) && line[i+1] == '"':
			s.text = append(s.text, line[:i+1]...)
			line = line[i+2:]
		default:
			s.text = append(s.text, line[:i]...)
			return bytes.TrimLeftFunc(line[i+1:], unicode.IsSpace), nil
		}
	}
}

// readLine returns the next line without its end.
func (s *records) readLine() ([]byte, error) {
	line, err := s.r.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		s.lines++
		s.line = s.lines
		if bytes.IndexByte(line, '\r') >= 0 {
			return nil, errCR
		}
		return nil, errLong
	case errors.Is(err, io.EOF) && len(line) > 0: // the last line has no end
	case err != nil:
		return nil, err
	}
	s.lines++
	if s.lines == 1 {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	line = bytes.TrimSuffix(line, []byte("\n"))
	line = bytes.TrimSuffix(line, []byte("\r"))
	if !utf8.Valid(line) {
		s.line = s.lines
		if mark := string(line[:min(2, len(line))]); s.lines == 1 && (mark == "\xff\xfe" || mark == "\xfe\xff") {
			return nil, errUTF16
		}
		return nil, errUTF8
	}
	return line, nil
}
