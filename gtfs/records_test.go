package gtfs

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// split splits a text into records, with blanks around fields cut off.
func split(text string) ([][]string, error) {
	r := newRecords(strings.NewReader(text))
	var all [][]string
	for {
		if err := r.next(); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		var row []string
		for _, field := range r.fields {
			row = append(row, string(bytes.TrimSpace(field)))
		}
		all = append(all, row)
	}
}

func TestRecords(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want [][]string
	}{
		{"", nil},
		{"a", [][]string{{"a"}}},
		{"\ufeffa,b\r\nc,\n", [][]string{{"a", "b"}, {"c", ""}}},
		{"\n\r\n,\n", [][]string{{"", ""}}},
		{`"a,""b""", c ,"d` + "\r\n" + `e"` + "\nf", [][]string{{`a,"b"`, "c", "d\ne"}, {"f"}}},
		{` "a" ,  "b"`, [][]string{{"a", "b"}}},
		{`"",""`, [][]string{{"", ""}}},
		{`"a",`, [][]string{{"a", ""}}},
	}
	for _, test := range tests {
		got, err := split(test.text)
		if d := cmp.Diff(test.want, got); d != "" || err != nil {
			t.Errorf("%q: %v (-want +got):\n%s", test.text, err, d)
		}
	}
	for _, text := range []string{`a"b`, `"a`, `"a"b`, `a,"`, `"a""`, "\"a\nb"} {
		if got, err := split(text); !errors.Is(err, errQuote) {
			t.Errorf("%q: %q, %v, want errQuote", text, got, err)
		}
	}
}

func FuzzRecords(f *testing.F) {
	for _, text := range []string{
		"a,b\r\nc,d\n", `"a,""b""",c` + "\n\"d\n\ne\",\n", "\n\n,\r\r\n", ` "x", y`, `"a" ,b`, `a"`, "\u00a0\"a\"", "\ufeffa", "\r\r \"z\", y",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) || len(text) > maxRecord/2 {
			return
		}
		got, err := split(text)
		r := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff")))
		r.TrimLeadingSpace = true
		r.FieldsPerRecord = -1
		want, wantErr := r.ReadAll()
		if wantErr != nil {
			return // we may be more lenient
		}
		for _, row := range want {
			for i := range row {
				row[i] = strings.TrimSpace(row[i])
			}
		}
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%v (-encoding/csv +records):\n%s", err, d)
		}
	})
}
