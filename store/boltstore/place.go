package boltstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/traintravel/traintravel"
)

// A place is where the file of a Store must be found, and how the last commit left it. A
// file that was removed, moved or replaced still takes writes, which nobody finds again,
// and another process may have the file that has its name now; locks tell neither. A file
// that was written over by another program has the right name and other records.
type place struct {
	path   string // absolute: the working folder may change
	file   *os.File
	opened os.FileInfo
	page   int64 // bytes in a page

	mu   sync.Mutex // held from before a commit until what it left is known
	last [2]meta    // the heads of the file, as they were seen last
}

// newPlace returns the place of an open file, as it is now.
func newPlace(path string, file *os.File, page int) (*place, error) {
	p := &place{file: file, page: int64(page)}
	var err error
	if p.path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	if p.opened, err = file.Stat(); err != nil {
		return nil, err
	}
	p.last = p.heads()
	return p, nil
}

// heads reads the heads of the file, of which commits write one and the other in turn. One
// that is not valid is zero.
func (p *place) heads() (h [2]meta) {
	for i := range h {
		h[i], _ = readMeta(p.file, int64(i)*p.page)
	}
	return h
}

// newest returns the head that counts.
func newest(h [2]meta) meta {
	if h[0].Txid > h[1].Txid {
		return h[0]
	}
	return h[1]
}

// named returns an error unless the path still leads to the open file.
func (p *place) named() error {
	there, err := os.Stat(p.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s was removed or moved while this process has it open: move it back, or open it again", traintravel.ErrUnavailable, p.path)
	case err != nil:
		return fmt.Errorf("%w: cannot check that %s is still in place: %w", traintravel.ErrUnavailable, p.path, err)
	case !os.SameFile(p.opened, there):
		return fmt.Errorf("%w: another file has replaced %s, which this process still has open: move it back, or open the new one", traintravel.ErrUnavailable, p.path)
	}
	return nil
}

// errWrittenOver is the error of a file that another program has changed.
var errWrittenOver = errors.New("another program has written to the file or truncated it")

// before returns an error if the file must not be written to now. The error wraps
// errWrittenOver if the file differs from what the last commit left. mu is held.
func (p *place) before() error {
	if err := p.named(); err != nil {
		return err
	}
	now := p.heads()
	if newest(now) != newest(p.last) || !p.whole() {
		return fmt.Errorf("%s: %w", p.path, errWrittenOver)
	}
	p.last = now // the other head may be from a commit that failed halfway
	return nil
}

// after returns an error if a commit that has just succeeded may be missing in the file at
// the path. mu is held.
func (p *place) after(id int) error {
	now, own := p.heads(), id%2
	if now[own].Txid != uint64(id) || now[1-own] != p.last[1-own] {
		return fmt.Errorf("%s: %w", p.path, errWrittenOver)
	}
	p.last = now
	if !p.whole() {
		return fmt.Errorf("%s: %w", p.path, errWrittenOver)
	}
	return p.named()
}

// whole says whether the file has all pages that its head counts.
func (p *place) whole() bool {
	info, err := p.file.Stat()
	return err == nil && uint64(info.Size()/p.page) >= newest(p.last).Pages
}

// InPlace returns nil if the path still leads to the file that the Store has open, and no
// other program has written to the file. If the file was moved, updates fail with an error
// that wraps [traintravel.ErrUnavailable], reads continue, and both work again once the file
// is moved back. If the file was overwritten, reads fail too, until it is opened again. Each
// update that writes checks this by itself, before and after its commit.
//
// InPlace takes some microseconds, and does not wait for a commit in progress.
func (s *Store) InPlace() error {
	if s.queue.Closed() {
		return ErrClosed
	}
	if err := s.spoiled.Load(); err != nil {
		return *err
	}
	if s.db.IsReadOnly() || !s.place.mu.TryLock() { // the commit in progress checks by itself
		return s.placed(s.place.named())
	}
	err := s.place.before()
	s.place.mu.Unlock()
	return s.placed(err)
}

// placed wraps an error of the place as an error of the store. If the file was overwritten,
// the store no longer trusts its content.
func (s *Store) placed(err error) error {
	switch {
	case err == nil || s.queue.Closed():
		return err
	case errors.Is(err, errWrittenOver):
		return s.spoil(err)
	}
	return fmt.Errorf("boltstore: %w", err)
}

// spoil makes every later call fail for a reason, and returns the error.
func (s *Store) spoil(reason error) error {
	err := fmt.Errorf("boltstore: %w: nothing is read or written until the file is opened again: %w", traintravel.ErrUnavailable, reason)
	s.spoiled.CompareAndSwap(nil, &err)
	err = *s.spoiled.Load()
	s.queue.Fail(err)
	return err
}

// faults returns a function for reads of the memory map to defer. It turns the fault of a
// read beyond the end of a file that another program has truncated into an error, and then
// sets noted if that is not nil.
func (s *Store) faults(err *error, noted *atomic.Bool) func() {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		switch p := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }: // a fault of the memory map
			if noted != nil {
				noted.Store(true)
			}
			*err = s.spoil(fmt.Errorf("%s: %w: %v", s.path, errWrittenOver, p))
		default:
			panic(p)
		}
	}
}
