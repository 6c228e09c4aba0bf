package storetest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/traintravel/traintravel"
)

// text shows a value as a person would write it; nil, which is none, as a word
// that cannot be taken for one.
func text(value []byte) string {
	switch {
	case value == nil:
		return "absent"
	case len(value) > 1000:
		return fmt.Sprintf("%q... of %d bytes, SHA-256 %x", value[:100], len(value), sha256.Sum256(value))
	}
	return fmt.Sprintf("%q", value)
}

func texts(values [][]byte) []string {
	var ts []string
	for _, v := range values {
		ts = append(ts, text(v))
	}
	return ts
}

// differ returns an error that shows where got differs from want, or nil.
func differ(what string, want, got []string) error {
	return differBy(what, want, got, func(a, b string) bool { return a == b }, func(s string) string { return s })
}

// recordsDiffer is differ for records. What List returns is there, so a value
// that is nil is as good as an empty one.
func recordsDiffer(what string, want, got []traintravel.Record) error {
	same := func(a, b traintravel.Record) bool { return a.ID == b.ID && bytes.Equal(a.Value, b.Value) }
	return differBy(what, want, got, same, func(r traintravel.Record) string {
		return fmt.Sprintf("%q: %s", r.ID, text(append([]byte{}, r.Value...)))
	})
}

func differBy[T any](what string, want, got []T, same func(a, b T) bool, show func(T) string) error {
	from := 0
	for from < min(len(want), len(got)) && same(want[from], got[from]) {
		from++
	}
	if from == len(want) && from == len(got) {
		return nil
	}
	want, got = want[from:], got[from:]
	for len(want) > 0 && len(got) > 0 && same(want[len(want)-1], got[len(got)-1]) {
		want, got = want[:len(want)-1], got[:len(got)-1]
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s differ", what)
	if from > 0 {
		fmt.Fprintf(&b, " after the first %d", from)
	}
	b.WriteString(" (-want +got):")
	list := func(sign string, items []T) {
		const most = 3
		for _, item := range items[:min(len(items), most)] {
			fmt.Fprintf(&b, "\n%s %s", sign, show(item))
		}
		if more := len(items) - most; more > 0 {
			fmt.Fprintf(&b, "\n%s and %d more", sign, more)
		}
	}
	list("-", want)
	list("+", got)
	return errors.New(b.String())
}

// distinct joins a few errors, those that read the same once.
func distinct(errs []error) error {
	var seen []string
	errs = slices.DeleteFunc(slices.Clone(errs), func(err error) bool {
		if err == nil || slices.Contains(seen, err.Error()) {
			return true
		}
		seen = append(seen, err.Error())
		return false
	})
	return errors.Join(errs[:min(len(errs), 3)]...)
}

// doing says what failed, unless err is nil.
func doing(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), err)
}
