package gtfs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/traintravel/traintravel"
)

// A table reads one file of the feed row by row.
type table struct {
	feed    *feed
	name    string
	file    fs.File
	rec     *records
	columns map[string]column
	width   int // columns in the header
	rows    int
	err     error // what ended the reading, if not the end of the file

	// flawed, if not nil, is called after a row with mistakes; see blame.
	flawed func(*Error) bool
	before int // mistakes before the row

	quiet bool // mistakes are reported when the table is read a second time
}

// A column is an index into the fields of a row; missing columns have none.
type column int

const missing column = -1

// open opens a table that must have certain columns. If it is missing, or lacks
// one of them, open records that and returns errMistakes.
func (f *feed) open(name string, required ...string) (*table, error) {
	file, size, err := f.plain(name)
	if err != nil {
		return nil, err
	}
	t := &table{feed: f, name: name, file: file, columns: map[string]column{}}
	t.rec = newRecords(&counter{r: file, t: t, most: max(freeRatio, size*int64(f.opts.Limits.Ratio)), ratio: size > 0})
	if err := t.header(required); err != nil {
		t.close()
		return nil, err
	}
	t.before, f.first = f.errs.Total, nil
	return t, nil
}

func (t *table) header(required []string) error {
	before := t.feed.errs.Total
	if !t.read() && t.err != nil {
		return t.err
	}
	if len(t.rec.fields) == 0 && len(required) > 0 {
		t.fail("the table is empty")
		return errMistakes
	}
	for i, field := range t.rec.fields {
		name := string(bytes.TrimSpace(field))
		if strings.ContainsRune(name, '\r') {
			t.err = nil
			t.fail("%s", errCR)
			return errMistakes
		}
		if _, twice := t.columns[name]; twice && name != "" {
			t.fail("column %.60q occurs twice", name)
		}
		t.columns[name] = column(i)
	}
	t.width = len(t.rec.fields)
	for _, name := range required {
		if t.column(name) == missing {
			t.fail("column %s is missing", name)
		}
	}
	if t.feed.errs.Total > before {
		return errMistakes
	}
	return nil
}

func (t *table) close() { t.file.Close() } // read only: nothing can be lost

// column returns the column of that name.
func (t *table) column(name string) column {
	if c, ok := t.columns[name]; ok {
		return c
	}
	return missing
}

// next reads the next row that is not blank; after the last it closes the
// table, and t.err is nil if there was no error.
func (t *table) next() bool {
	t.feed.blame(t.before, t.flawed)
	t.before = t.feed.errs.Total
	for t.read() {
		if t.blank() {
			continue
		}
		if t.quiet {
			return true
		}
		for _, field := range t.rec.fields[min(t.width, len(t.rec.fields)):] {
			if len(bytes.TrimSpace(field)) > 0 {
				t.fail("the row has more fields than the header")
				break
			}
		}
		return true
	}
	t.close()
	return false
}

// read reads the next record.
func (t *table) read() bool {
	if t.rows++; t.rows%1024 == 0 {
		if t.err = t.feed.ctx.Err(); t.err != nil {
			return false
		}
	}
	if t.err = t.over(); t.err != nil {
		return false
	}
	err := t.rec.next()
	if err == nil {
		return true
	}
	var bad malformed
	var beyond *LimitError
	switch {
	case errors.Is(err, io.EOF):
	case errors.As(err, &beyond):
		beyond.Line = t.rec.lines
		t.err = beyond
	case errors.As(err, &bad):
		t.feed.fail(t.name, t.rec.line, "%s", bad)
		t.err = errMistakes
	case damaged(err):
		t.err = fmt.Errorf("gtfs: %s: the zip is damaged: %w", t.name, err)
	default:
		t.err = fmt.Errorf("gtfs: %s: %w", t.name, err)
	}
	return false
}

func (t *table) blank() bool {
	for _, field := range t.rec.fields {
		if len(bytes.TrimSpace(field)) > 0 {
			return false
		}
	}
	return true
}

// line returns the line of the row.
func (t *table) line() int { return t.rec.line }

// fail records a mistake in the row.
func (t *table) fail(format string, args ...any) {
	t.feed.fail(t.name, t.line(), format, args...)
}

// get returns a field of the row without blanks around it. It is valid until
// next is called again.
func (t *table) get(c column) []byte {
	if c < 0 || int(c) >= len(t.rec.fields) {
		return nil
	}
	return bytes.TrimSpace(t.rec.fields[c])
}

// text returns a field that people read.
func (t *table) text(c column) string { return clean(string(t.get(c))) }

// choice returns a field that is a number from 0 to limit; blank means 0.
func (t *table) choice(c column, name string, limit int) int {
	b := t.get(c)
	if len(b) == 0 {
		return 0
	}
	n := digits(b)
	if n < 0 || n > limit {
		t.fail("%s %.20q is not a number from 0 to %d", name, b, limit)
		return 0
	}
	return n
}

// time returns a field that is a time; blank means noTime, and so does a mistake.
func (t *table) time(c column, name string) traintravel.ServiceTime {
	b := t.get(c)
	if len(b) == 0 {
		return noTime
	}
	v, reason := parseTime(b)
	if reason != "" {
		t.fail("%s %.20q %s", name, b, reason)
		return noTime
	}
	return v
}

// A counter counts the bytes of a table and calls Options.Progress.
type counter struct {
	r     io.Reader
	t     *table
	n     int64
	most  int64 // by the ratio, if the table is in a zip
	ratio bool
}

func (c *counter) Read(p []byte) (int, error) {
	f := c.t.feed
	if err := f.ctx.Err(); err != nil { // the next row may be far away
		return 0, err
	}
	n, err := c.r.Read(p)
	c.n += int64(n)
	f.bytes += int64(n)
	switch limits := &f.opts.Limits; {
	case f.bytes > limits.Bytes:
		return 0, c.t.limit("Bytes", limits.Bytes)
	case c.ratio && c.n > c.most:
		return 0, c.t.limit("Ratio", int64(limits.Ratio))
	}
	if f.opts.Progress != nil {
		f.opts.Progress(f.bytes, max(f.total, f.bytes))
	}
	return n, err
}

// over returns the limit that a table exceeds at its current line, or nil.
func (t *table) over() error {
	limits := &t.feed.opts.Limits
	switch {
	case t.feed.full():
		return t.limit("Memory", limits.Memory)
	case t.feed.called > limits.Calls:
		return t.limit("Calls", int64(limits.Calls))
	case t.rows > limits.Rows:
		return t.limit("Rows", int64(limits.Rows))
	}
	return nil
}

func (t *table) limit(name string, most int64) error {
	return &LimitError{File: t.name, Line: t.rec.lines, Limit: name, Max: most}
}
