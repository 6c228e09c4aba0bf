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

// named returns an error unless the open file is the one that its path leads to.
func (p *place) named() error {
	there, err := os.Stat(p.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s was removed or moved, and this process still has it open", traintravel.ErrUnavailable, p.path)
	case err != nil:
		return fmt.Errorf("%w: whether %s is still there cannot be told: %w", traintravel.ErrUnavailable, p.path, err)
	case !os.SameFile(p.opened, there):
		return fmt.Errorf("%w: another file has taken the place of %s, which this process still has open", traintravel.ErrUnavailable, p.path)
	}
	return nil
}

// errWrittenOver says that another program has changed the file.
var errWrittenOver = errors.New("another program has written to the file or cut it short")

// before returns an error if nothing must be written to the file now. It wraps
// errWrittenOver if what is in the file is not what the last commit left. mu is held.
func (p *place) before() error {
	if err := p.named(); err != nil {
		return err
	}
	now := p.heads()
	if newest(now) != newest(p.last) || !p.whole() {
		return fmt.Errorf("%s: %w", p.path, errWrittenOver)
	}
	p.last = now // the other one may be half of a commit that failed
	return nil
}

// after returns an error if a commit that has just succeeded may not be in the file that
// its path leads to. mu is held.
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

// InPlace returns nil if the file that the Store has open is the one that its path leads
// to, and nobody else has written to it. While it is not, updates fail with an error that
// wraps [traintravel.ErrUnavailable], and reads go on. A file that is back in its place is
// good again; one that was written over stays refused, for reads too, until it is opened
// anew. Each update that writes looks by itself, before and after its commit.
//
// It takes some microseconds, and does not wait for a commit under way.
func (s *Store) InPlace() error {
	if s.queue.Closed() {
		return ErrClosed
	}
	if err := s.spoiled.Load(); err != nil {
		return *err
	}
	if s.db.IsReadOnly() || !s.place.mu.TryLock() { // the commit under way looks itself
		return s.placed(s.place.named())
	}
	err := s.place.before()
	s.place.mu.Unlock()
	return s.placed(err)
}

// placed returns an error of the place in the store's words. If the file was written over,
// nothing in it is to be trusted from now on.
func (s *Store) placed(err error) error {
	switch {
	case err == nil || s.queue.Closed():
		return err
	case errors.Is(err, errWrittenOver):
		return s.spoil(err)
	}
	return fmt.Errorf("boltstore: %w", err)
}

// spoil refuses every later call, for a reason, and returns the error that says so.
func (s *Store) spoil(reason error) error {
	err := fmt.Errorf("boltstore: %w: nothing is read or written until the file is opened anew: %w", traintravel.ErrUnavailable, reason)
	s.spoiled.CompareAndSwap(nil, &err)
	err = *s.spoiled.Load()
	s.queue.Fail(err)
	return err
}

// faults is to be deferred, called, by whoever reads the memory map: what is mapped is gone
// when another program has cut the file short. noted, if not nil, is set if that was so.
func (s *Store) faults(err *error, noted *atomic.Bool) func() {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		switch p := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }: // of the memory that is not there
			if noted != nil {
				noted.Store(true)
			}
			*err = s.spoil(fmt.Errorf("%s: %w: %v", s.path, errWrittenOver, p))
		default:
			panic(p)
		}
	}
}
