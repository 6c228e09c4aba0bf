package rail

import "encoding/base64"

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
	// Limit is the number of items on a page, 1 to MaxLimit; zero means DefaultLimit.
	Limit int
	// After is the Next of the previous page. If it is set, Number is ignored: following
	// Next from page to page returns each item once, whatever is added or removed
	// meanwhile.
	After string
}

// A List is a page of a list.
type List[T any] struct {
	Items []T
	// Next is the After of the next page, empty on the last page.
	Next string
}

// Normalize returns the page with its defaults filled in, or an [*InvalidError].
func (p Page) Normalize() (Page, error) {
	if p.Number == 0 {
		p.Number = 1
	}
	if p.Limit == 0 {
		p.Limit = DefaultLimit
	}
	if p.Number < 1 || p.Number > maxPage {
		return p, Invalid("page", "must be a whole number from 1 to %d", maxPage)
	}
	if p.Limit < 1 || p.Limit > MaxLimit {
		return p, Invalid("limit", "must be a whole number from 1 to %d", MaxLimit)
	}
	return p, nil
}

// Skip returns the number of items before the page.
func (p Page) Skip() int {
	if p.After != "" {
		return 0
	}
	return (p.Number - 1) * p.Limit
}

// A ListKind is the first byte of the cursors of a list; other lists refuse them.
type ListKind byte

// The kinds of lists.
const (
	StationList ListKind = 's'
	TripList    ListKind = 't'
	BookingList ListKind = 'b'
	PaymentList ListKind = 'p'
	PastList    ListKind = 'o'

	SubscriptionList ListKind = 'w'
	DeliveryList     ListKind = 'd'
)

// Cursor returns the bytes of After, which must be size bytes long, or an empty string.
func (p Page) Cursor(kind ListKind, size int) (string, error) {
	if p.After == "" {
		return "", nil
	}
	b, err := base64.RawURLEncoding.DecodeString(p.After)
	if err != nil || len(b) != 1+size || b[0] != byte(kind) {
		return "", Invalid("after", "invalid cursor %.60q: use the links of this list", p.After)
	}
	return string(b[1:]), nil
}

// Cut makes a page of items. They must begin at the list's beginning or at the cursor, and
// include one item after the page if more follow.
func Cut[T any](kind ListKind, items []T, skip, limit int, cursor func(T) string) List[T] {
	items = items[min(skip, len(items)):]
	if len(items) <= limit {
		return List[T]{Items: items}
	}
	items = items[:limit]
	last := string(rune(kind)) + cursor(items[limit-1])
	return List[T]{Items: items, Next: base64.RawURLEncoding.EncodeToString([]byte(last))}
}
