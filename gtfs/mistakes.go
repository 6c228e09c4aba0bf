package gtfs

import (
	"errors"
	"fmt"
)

// fail records a mistake.
func (f *feed) fail(file string, line int, format string, args ...any) {
	f.errs.Total++
	if len(f.errs.List) < maxErrors || f.first == nil {
		e := &Error{File: file, Line: line, Reason: fmt.Sprintf(format, args...)}
		if len(f.errs.List) < maxErrors {
			f.errs.List = append(f.errs.List, e)
		}
		if f.first == nil {
			f.first = e
		}
	}
}

// doubt records that something is wrong with a row that does not keep the feed
// from being read, unless Options.Strict says so.
func (f *feed) doubt(file string, line int, reason string) {
	if f.opts.Strict {
		f.doubts++
		f.fail(file, line, "%s", reason)
		return
	}
	f.note(file, line, reason).Wrong = true
}

// note records that a row was left out, or is not quite what it seems.
func (f *feed) note(file string, line int, reason string) *Note {
	key := [2]string{file, reason}
	i, ok := f.notes[key]
	if !ok && len(f.report.Notes) >= maxNotes {
		key[1], reason = furtherNotes, furtherNotes
		i, ok = f.notes[key]
	}
	if !ok {
		i = len(f.report.Notes)
		f.notes[key] = i
		f.report.Notes = append(f.report.Notes, Note{File: file, Line: line, Reason: reason})
	}
	f.report.Notes[i].Count++
	return &f.report.Notes[i]
}

// errMistakes ends a reading whose mistakes are on record.
var errMistakes = errors.New("the feed has mistakes")
