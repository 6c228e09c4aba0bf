package traintravel

import (
	"encoding/base64"
)

// Bounds of a page.
const (
	DefaultLimit = 10
	MaxLimit     = 100
	maxPage      = 1_000_000
)

// A Page asks for a part of a list. The zero Page is the first one.
type Page struct {
	// Number counts from 1, to 1,000,000; zero means 1. A page past the end
	// is empty.
	Number int
	// Limit is how many items a page has, 1 to MaxLimit; zero means DefaultLimit.
	Limit int
	// After is the Next of the page before. If set, it decides what comes,
	// and not Number: following Next from page to page meets each
	// item once, whatever is added or removed meanwhile.
	After string
}

// A List is a page of a list.
type List[T any] struct {
	Items []T
	// Next is what the next page's After is, empty if there is no more.
	Next string
}

func (p Page) normalize() (Page, error) {
	if p.Number == 0 {
		p.Number = 1
	}
	if p.Limit == 0 {
		p.Limit = DefaultLimit
	}
	if p.Number < 1 || p.Number > maxPage {
		return p, invalid("page", "%d is not 1 to %d", p.Number, maxPage)
	}
	if p.Limit < 1 || p.Limit > MaxLimit {
		return p, invalid("limit", "%d is not 1 to %d", p.Limit, MaxLimit)
	}
	return p, nil
}

// skip is how many items come before the page.
func (p Page) skip() int {
	if p.After != "" {
		return 0
	}
	return (p.Number - 1) * p.Limit
}

// A listKind begins the cursors of a list, which no other list takes.
type listKind byte

const (
	stationList listKind = 's'
	tripList    listKind = 't'
	bookingList listKind = 'b'
	paymentList listKind = 'p'

	subscriptionList listKind = 'w'
	deliveryList     listKind = 'd'
)

// cursor returns the bytes that After holds, size of them, or none.
func (p Page) cursor(kind listKind, size int) (string, error) {
	if p.After == "" {
		return "", nil
	}
	b, err := base64.RawURLEncoding.DecodeString(p.After)
	if err != nil || len(b) != 1+size || b[0] != byte(kind) {
		return "", invalid("after", "%.60q is not from a link of this list", p.After)
	}
	return string(b[1:]), nil
}

// cut makes a page of items that begin at the list's beginning, or at the
// cursor, and reach at least one beyond the page if there are more.
func cut[T any](kind listKind, items []T, skip, limit int, cursor func(T) string) List[T] {
	items = items[min(skip, len(items)):]
	if len(items) <= limit {
		return List[T]{Items: items}
	}
	items = items[:limit]
	last := string(rune(kind)) + cursor(items[limit-1])
	return List[T]{Items: items, Next: base64.RawURLEncoding.EncodeToString([]byte(last))}
}
