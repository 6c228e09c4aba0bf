package rail

import (
	"encoding/base64"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func TestPageBounds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		page  Page
		want  Page
		field string
	}{
		{Page{}, Page{Number: 1, Limit: DefaultLimit}, ""},
		{Page{Number: 3}, Page{Number: 3, Limit: DefaultLimit}, ""},
		{Page{Limit: 1}, Page{Number: 1, Limit: 1}, ""},
		{Page{Limit: MaxLimit}, Page{Number: 1, Limit: MaxLimit}, ""},
		{Page{Number: maxPage, Limit: MaxLimit, After: "x"}, Page{Number: maxPage, Limit: MaxLimit, After: "x"}, ""},
		{Page{Number: -1}, Page{}, "page"},
		{Page{Number: maxPage + 1}, Page{}, "page"},
		{Page{Number: math.MaxInt}, Page{}, "page"},
		{Page{Number: math.MinInt}, Page{}, "page"},
		{Page{Limit: -1}, Page{}, "limit"},
		{Page{Limit: MaxLimit + 1}, Page{}, "limit"},
		{Page{Limit: math.MaxInt}, Page{}, "limit"},
	} {
		got, err := c.page.Normalize()
		var invalid *InvalidError
		if c.field == "" {
			if err != nil || got != c.want {
				t.Errorf("%+v is %+v, %v; want %+v", c.page, got, err, c.want)
			}
		} else if !errors.As(err, &invalid) || invalid.Field != c.field {
			t.Errorf("%+v: %v, want an error naming %s", c.page, err, c.field)
		}
	}
}

func TestPageSkip(t *testing.T) {
	t.Parallel()
	for p, want := range map[Page]int{
		{Number: 1, Limit: 10}:                  0,
		{Number: 4, Limit: 7}:                   21,
		{Number: maxPage, Limit: MaxLimit}:      99_999_900,
		{Number: 4, Limit: 7, After: "decides"}: 0,
	} {
		if got := p.Skip(); got != want {
			t.Errorf("%+v skips %d, want %d", p, got, want)
		}
	}
}

func TestCursor(t *testing.T) {
	t.Parallel()
	sixteen := strings.Repeat("\x00\xff", 8)
	for after, want := range map[string]string{
		"": "",
		base64.RawURLEncoding.EncodeToString([]byte("b" + sixteen)): sixteen,
	} {
		if got, err := (Page{After: after}).Cursor(BookingList, 16); err != nil || got != want {
			t.Errorf("%q is %q, %v", after, got, err)
		}
	}
	for _, after := range []string{
		"x", "!", "2", "Köln", "\x00", strings.Repeat("a", 1<<20), " AAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAA==",
		base64.RawURLEncoding.EncodeToString([]byte("b" + sixteen[1:])),
		base64.RawURLEncoding.EncodeToString([]byte("b" + sixteen + "x")),
		base64.StdEncoding.EncodeToString([]byte("b" + sixteen)),
		base64.RawURLEncoding.EncodeToString([]byte("p" + sixteen)),
		base64.RawURLEncoding.EncodeToString([]byte(sixteen)),
	} {
		_, err := (Page{After: after}).Cursor(BookingList, 16)
		var invalid *InvalidError
		if !errors.As(err, &invalid) || invalid.Field != "after" || len(err.Error()) > 400 {
			t.Errorf("%.40q: %v", after, err)
		}
	}
}

func FuzzCursor(f *testing.F) {
	f.Add("AAAAAAAAAAAAAAAAAAAAAA", byte(16))
	f.Add("\n\r=", byte(0))
	f.Fuzz(func(t *testing.T, after string, size byte) {
		if b, err := (Page{After: after}).Cursor(BookingList, int(size)); err == nil && after != "" && len(b) != int(size) {
			t.Errorf("%q is %q, of %d bytes", after, b, len(b))
		}
	})
}

// Page by page, whether by number or by Next, a list comes whole and in order.
func TestPagesMakeTheList(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := make([]byte, rapid.IntRange(0, 25).Draw(t, "items"))
		for i := range all {
			all[i] = byte(i)
		}
		limit := rapid.IntRange(1, 12).Draw(t, "limit")
		one := func(b byte) string { return string([]byte{b}) }
		var byNumber, byNext []byte
		page := Page{Number: 1, Limit: limit}
		for n := 1; n <= len(all)/limit+2; n++ {
			p, err := Page{Number: n, Limit: limit}.Normalize()
			if err != nil {
				t.Fatal(err)
			}
			l := Cut(BookingList, all, p.Skip(), limit, one)
			byNumber = append(byNumber, l.Items...)
			if more := n*limit < len(all); (l.Next != "") != more || len(l.Items) > limit || more && len(l.Items) < limit {
				t.Fatalf("page %d of %d items at %d a page has %d, and next %q", n, len(all), limit, len(l.Items), l.Next)
			}
			if n > 1 && page.After == "" {
				continue
			}
			after, err := page.Cursor(BookingList, min(n-1, 1))
			if err != nil {
				t.Fatal(err)
			}
			rest := all
			if after != "" {
				rest = all[after[0]+1:]
			}
			l = Cut(BookingList, rest, page.Skip(), limit, one)
			byNext = append(byNext, l.Items...)
			page.After = l.Next
		}
		for how, got := range map[string][]byte{"by number": byNumber, "by next": byNext} {
			if diff := cmp.Diff(all, got, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("%s: -want +got\n%s", how, diff)
			}
		}
	})
}
