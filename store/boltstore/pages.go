package boltstore

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// CheckPages reads all pages that the file uses and returns their faults, joined: pages that
// are damaged, used twice, or neither used nor free. Unless the store is opened ReadOnly,
// updates wait meanwhile. It uses two bits of memory for each page.
//
// CheckPages reads the file, not the memory map, and checks every value on a page before it
// uses it, so that damage cannot crash the process.
func (s *Store) CheckPages(ctx context.Context) error {
	tx, err := s.open(!s.db.IsReadOnly())
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	w := &walk{ctx: ctx, file: s.place.file, size: uint64(s.place.page), head: newest(s.place.heads())}
	w.used, w.free = make(pageSet, w.head.Pages/64+1), make(pageSet, w.head.Pages/64+1)
	err = w.all()
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("damaged: %w", err)
	}
	if err = errors.Join(append(w.faults, err)...); err != nil {
		return fmt.Errorf("boltstore: %s: %w", s.path, err)
	}
	return nil
}

// The layout of a bbolt file: a page is a header and so many elements, each of which says
// where its key and value stand, counted from the element itself.
const (
	headerSize  = 16
	elementSize = 16

	branchPage   = 0x01
	leafPage     = 0x02
	freelistPage = 0x10

	bucketElement = 0x01 // of a leaf: its value is the head of a bucket

	maxDepth  = 64 // of a tree of pages, far above what a full disk needs
	maxFaults = 20
)

// A walk follows a file's pages from its head to its records.
type walk struct {
	ctx    context.Context
	file   io.ReaderAt
	size   uint64 // bytes in a page
	head   meta
	used   pageSet
	free   pageSet
	faults []error
}

// A pageSet has a bit for each page.
type pageSet []uint64

func (s pageSet) has(n uint64) bool { return s[n/64]&(1<<(n%64)) != 0 }
func (s pageSet) add(n uint64)      { s[n/64] |= 1 << (n % 64) }

// all checks the whole file. It returns an error if it could not go on; what else it finds
// is in faults.
func (w *walk) all() error {
	if err := w.freePages(); err != nil {
		return err
	}
	w.used.add(0)
	w.used.add(1)
	if err := w.tree(w.head.Root, span{}, 0, nil); err != nil {
		return err
	}
	if len(w.faults) > 0 {
		return nil // of pages below a damaged one nothing is known
	}
	for n := range w.head.Pages {
		switch used, free := w.used.has(n), w.free.has(n); {
		case used && free:
			w.found("page %d is both used and free", n)
		case !used && !free:
			w.found("page %d is neither used nor free", n)
		}
	}
	return nil
}

func (w *walk) found(format string, args ...any) {
	if len(w.faults) < maxFaults {
		w.faults = append(w.faults, fmt.Errorf("damaged: "+format, args...))
	}
}

// freePages reads the list of free pages.
func (w *walk) freePages() error {
	if w.head.Freelist == math.MaxUint64 {
		return errors.New("the file has no list of free pages")
	}
	h, err := w.header(w.head.Freelist)
	if err != nil {
		return err
	}
	if h.Flags != freelistPage {
		return fmt.Errorf("page %d is of kind %#x, not a list of free pages", h.ID, h.Flags)
	}
	if err := w.claim(h); err != nil {
		return err
	}
	text, err := w.read(h, w.whole(h))
	if err != nil {
		return err
	}
	count, at := uint64(h.Count), uint64(headerSize)
	if count == math.MaxUint16 { // it has no room for it
		count, at = binary.NativeEndian.Uint64(text[at:]), at+8
	}
	if count > (uint64(len(text))-at)/8 {
		return fmt.Errorf("the list of free pages on page %d counts %d pages, but has room for only %d", h.ID, count, (uint64(len(text))-at)/8)
	}
	for ; count > 0; count, at = count-1, at+8 {
		n := binary.NativeEndian.Uint64(text[at:])
		switch {
		case n < 2 || n >= w.head.Pages:
			w.found("page %d is listed as free, but the file has only %d pages", n, w.head.Pages)
		case w.free.has(n):
			w.found("page %d is listed as free twice", n)
		default:
			w.free.add(n)
		}
	}
	return nil
}

// A span is what the keys of a page may be: from a key on, before another. An empty one
// is not a bound.
type span struct{ from, to []byte }

// tree checks a page and those below it: the pages of the tables if table is nil, otherwise
// those of one table. It returns an error if ctx ends.
func (w *walk) tree(n uint64, keys span, depth int, table []byte) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if depth > maxDepth {
		w.found("page %d is %d levels below its root, too deep", n, depth)
		return nil
	}
	h, err := w.header(n)
	if err != nil {
		w.found("%w", err)
		return nil
	}
	p, err := w.elements(h)
	if err != nil {
		w.found("%w", err)
		return nil
	}
	w.ordered(p, keys)
	if h.Flags == leafPage {
		return w.leaf(p, depth, table)
	}
	for i, e := range p.elements {
		below := span{from: e.key, to: keys.to}
		if i+1 < len(p.elements) {
			below.to = p.elements[i+1].key
		}
		if err := w.tree(e.page, below, depth+1, table); err != nil {
			return err
		}
	}
	return nil
}

// leaf follows the buckets on a page, which are tables.
func (w *walk) leaf(p page, depth int, table []byte) error {
	for _, e := range p.elements {
		switch {
		case table != nil && e.bucket:
			w.found("page %d has a bucket in the table %s", p.n, table)
		case table != nil:
		case !e.bucket:
			w.found("page %d has a record that belongs to no table", p.n)
		case len(e.value) < 16:
			w.found("page %d has a header of the table %q of %d bytes, too short", p.n, e.key, len(e.value))
		default:
			name := append([]byte{}, e.key...)
			if root := binary.NativeEndian.Uint64(e.value); root != 0 {
				if err := w.tree(root, span{}, depth+1, name); err != nil {
					return err
				}
				continue
			}
			inline, err := parse(p.n, e.value[16:]) // a small table stands in its head
			if err != nil {
				w.found("%w", err)
				continue
			}
			w.ordered(inline, span{})
			if err := w.leaf(inline, depth+1, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// ordered checks that the keys of a page ascend and are in its span.
func (w *walk) ordered(p page, keys span) {
	for i, e := range p.elements {
		switch {
		case i > 0 && bytes.Compare(p.elements[i-1].key, e.key) >= 0:
			w.found("the keys on page %d are not in order", p.n)
		case len(keys.from) > 0 && bytes.Compare(e.key, keys.from) < 0, len(keys.to) > 0 && bytes.Compare(e.key, keys.to) >= 0:
			w.found("page %d has a key that belongs on another page", p.n)
		default:
			continue
		}
		return
	}
}

// A header is how each page begins.
type header struct {
	ID           uint64
	Flags, Count uint16
	Overflow     uint32 // pages that follow and belong to it
}

func decodeHeader(b []byte) header {
	return header{
		ID:       binary.NativeEndian.Uint64(b),
		Flags:    binary.NativeEndian.Uint16(b[8:]),
		Count:    binary.NativeEndian.Uint16(b[10:]),
		Overflow: binary.NativeEndian.Uint32(b[12:]),
	}
}

// header reads the header of page n.
func (w *walk) header(n uint64) (header, error) {
	if n < 2 || n >= w.head.Pages {
		return header{}, fmt.Errorf("a page points to page %d, but the file has only %d pages", n, w.head.Pages)
	}
	var b [headerSize]byte
	if _, err := w.file.ReadAt(b[:], int64(n*w.size)); err != nil {
		return header{}, fmt.Errorf("page %d cannot be read: %w", n, err)
	}
	h := decodeHeader(b[:])
	switch {
	case h.ID != n:
		return header{}, fmt.Errorf("page %d has the number %d in its header", n, h.ID)
	case uint64(h.Overflow) >= w.head.Pages-n:
		return header{}, fmt.Errorf("page %d claims %d further pages, but the file has only %d pages", n, h.Overflow, w.head.Pages)
	}
	return h, nil
}

// claim takes a page, with those that follow it, as used.
func (w *walk) claim(h header) error {
	for n := h.ID; n <= h.ID+uint64(h.Overflow); n++ {
		if w.used.has(n) {
			return fmt.Errorf("page %d is used twice", n)
		}
		w.used.add(n)
	}
	return nil
}

// whole returns how many bytes a page has with those that follow it.
func (w *walk) whole(h header) uint64 { return (uint64(h.Overflow) + 1) * w.size }

// read returns the first bytes of a page.
func (w *walk) read(h header, size uint64) ([]byte, error) {
	text := make([]byte, size)
	if _, err := w.file.ReadAt(text, int64(h.ID*w.size)); err != nil {
		return nil, fmt.Errorf("page %d cannot be read: %w", h.ID, err)
	}
	return text, nil
}

// A page is one of a tree.
type page struct {
	n        uint64
	elements []element
}

// An element is a record, a bucket or, on a branch, the page of the keys from its key on.
type element struct {
	key, value []byte
	bucket     bool
	page       uint64
}

// elements reads a page of a tree. How long it is it tells twice, so that a damaged length
// does not make it read the whole file.
func (w *walk) elements(h header) (page, error) {
	heads, err := w.read(h, min(w.whole(h), headerSize+uint64(h.Count)*elementSize))
	if err != nil {
		return page{}, err
	}
	used, err := extent(heads)
	if err != nil {
		return page{}, fmt.Errorf("page %d %w", h.ID, err)
	}
	if used > w.whole(h) || uint64(h.Overflow) > used/w.size {
		return page{}, fmt.Errorf("page %d claims %d further pages, but its content takes %d bytes", h.ID, h.Overflow, used)
	}
	if err := w.claim(h); err != nil {
		return page{}, err
	}
	text, err := w.read(h, used)
	if err != nil {
		return page{}, err
	}
	return parse(h.ID, text)
}

// extent returns where on a page its last key or value ends.
func extent(text []byte) (uint64, error) {
	h, end := decodeHeader(text), uint64(headerSize)
	switch {
	case h.Flags != branchPage && h.Flags != leafPage:
		return 0, fmt.Errorf("is of an unknown kind, %#x", h.Flags)
	case h.Flags == branchPage && h.Count == 0:
		return 0, errors.New("leads nowhere")
	case uint64(len(text)) < headerSize+uint64(h.Count)*elementSize:
		return 0, fmt.Errorf("has no room for its %d entries", h.Count)
	}
	for i := range uint64(h.Count) {
		at := headerSize + i*elementSize
		e := text[at:]
		pos, size := binary.NativeEndian.Uint32(e), uint64(binary.NativeEndian.Uint32(e[4:]))
		if h.Flags == leafPage {
			pos, size = binary.NativeEndian.Uint32(e[4:]), uint64(binary.NativeEndian.Uint32(e[8:]))+uint64(binary.NativeEndian.Uint32(e[12:]))
		}
		end = max(end, at+elementSize, at+uint64(pos)+size)
	}
	return end, nil
}

// parse returns the elements of a page's text.
func parse(n uint64, text []byte) (page, error) {
	if len(text) < headerSize {
		return page{}, fmt.Errorf("page %d has a table of %d bytes in it", n, len(text))
	}
	end, err := extent(text)
	if err != nil {
		return page{}, fmt.Errorf("page %d %w", n, err)
	}
	if end > uint64(len(text)) {
		return page{}, fmt.Errorf("page %d has entries that end after %d bytes, but it has only %d", n, end, len(text))
	}
	h := decodeHeader(text)
	p := page{n: n, elements: make([]element, h.Count)}
	for i := range p.elements {
		e := text[headerSize+i*elementSize:]
		if h.Flags == branchPage {
			pos, size := uint64(binary.NativeEndian.Uint32(e)), uint64(binary.NativeEndian.Uint32(e[4:]))
			p.elements[i] = element{key: e[pos:][:size], page: binary.NativeEndian.Uint64(e[8:])}
			continue
		}
		pos, size := uint64(binary.NativeEndian.Uint32(e[4:])), uint64(binary.NativeEndian.Uint32(e[8:]))
		p.elements[i] = element{
			key:    e[pos:][:size],
			value:  e[pos+size:][:binary.NativeEndian.Uint32(e[12:])],
			bucket: binary.NativeEndian.Uint32(e)&bucketElement != 0,
		}
	}
	return p, nil
}
