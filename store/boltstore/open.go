package boltstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/traintravel/traintravel"
)

const (
	// version is that of the file's layout: a bucket a table, and our own.
	version = 1

	ownBucket  = "boltstore" // not a table: what the store knows of its file
	versionKey = "version"   // in ownBucket: a decimal number

	// growth is how much the file grows at a time. Each growth costs a sync.
	growth = 4 << 20
)

// openFile opens the file with bbolt, or makes it. The file is bbolt's to close.
func openFile(path string, opts Options) (db *bolt.DB, file *os.File, err error) {
	if path == "" {
		return nil, nil, errors.New("the path of the file is empty")
	}
	if opts.LockTimeout == 0 {
		opts.LockTimeout = time.Second
	}
	dir := filepath.Dir(path)
	if _, err := os.Stat(dir); err != nil {
		return nil, nil, fmt.Errorf("the directory of %s: %w", path, err)
	}
	err = checkFile(path)
	for try := 0; try < 3 && err != nil && !errors.Is(err, fs.ErrNotExist); try++ {
		// Another process may have changed the file during the check.
		time.Sleep(10 * time.Millisecond)
		err = checkFile(path)
	}
	if errors.Is(err, fs.ErrNotExist) && !opts.ReadOnly {
		err = makeFile(path)
	}
	if err != nil {
		return nil, nil, err
	}

	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // a damaged page may point anywhere
	defer func() {
		if p := recover(); p != nil { // bbolt found an invalid page
			err = damaged(path, p)
		}
	}()
	for range 3 {
		db, err = bolt.Open(path, 0o600, &bolt.Options{
			Timeout:         opts.LockTimeout,
			FreelistType:    bolt.FreelistArrayType, // the map is sorted anew at every commit
			InitialMmapSize: mapSize(path),
			NoStatistics:    true,
			ReadOnly:        opts.ReadOnly,
			OpenFile: func(name string, flag int, perm os.FileMode) (f *os.File, err error) {
				f, err = os.OpenFile(name, flag, perm)
				file = f
				return f, err
			},
		})
		switch {
		case errors.Is(err, berrors.ErrTimeout):
			return nil, nil, fmt.Errorf("%s %w", path, ErrInUse)
		case err != nil:
			return nil, nil, fmt.Errorf("open %s: %w", path, err)
		case named(file, path):
			if !opts.ReadOnly {
				removeDrafts(path)
			}
			db.AllocSize = growth
			return db, file, nil
		}
		if err := db.Close(); err != nil { // another file replaced it while this process waited
			return nil, nil, err
		}
	}
	return nil, nil, fmt.Errorf("%s was replaced by another file several times while it was being opened: try again", path)
}

// named says whether an open file is the one that has a name.
func named(f *os.File, path string) bool {
	opened, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(opened, there)
}

// mapSize returns how much address space to map at first: room for the file to grow
// to twice its size. Mapping more later must wait for every View, and makes the next
// ones wait.
func mapSize(path string) int {
	size := int64(16 << 30)
	if info, err := os.Stat(path); err == nil {
		size = max(size, 2*info.Size())
	}
	if int64(int(size)) != size || runtime.GOOS == "windows" { // where it is the file's size
		return 0
	}
	return int(size)
}

func damaged(path string, cause any) error {
	return fmt.Errorf("%s is damaged: %v", path, cause)
}

// checkFile returns an error if path is not a complete file of bbolt. bbolt itself would
// initialize an empty file, and crash on a truncated one.
func checkFile(path string) error {
	if info, err := os.Stat(path); err != nil {
		return err
	} else if !info.Mode().IsRegular() { // opening a pipe would wait for a writer
		return fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	first, ok := readMeta(f, 0)
	newest := first
	for size := int64(1 << 10); size <= 1<<24; size <<= 1 { // of a page
		if ok && size != int64(first.PageSize) {
			continue
		}
		if second, ok := readMeta(f, size); ok && int64(second.PageSize) == size && second.Txid >= newest.Txid {
			newest = second
		}
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case info.Size() == 0:
		return fmt.Errorf("%s is empty: restore a backup, or remove the file if it never had data", path)
	case newest.PageSize == 0:
		return fmt.Errorf("%s is not a data file of traintravel, or its beginning is damaged", path)
	case uint64(info.Size())/uint64(newest.PageSize) < newest.Pages:
		return damaged(path, fmt.Sprintf("it has %d bytes, but needs at least %d", info.Size(), newest.Pages*uint64(newest.PageSize)))
	case !hasFreelist(f, newest):
		return damaged(path, "its list of free pages is damaged")
	}
	return nil
}

// meta is the head of a bbolt file, of which there are two: the newer valid one
// counts.
type meta struct {
	Magic, Version, PageSize, Flags uint32
	Root, Sequence, Freelist        uint64
	Pages, Txid, Checksum           uint64
}

func readMeta(f *os.File, at int64) (m meta, ok bool) {
	const header = 16 // of every page
	b := make([]byte, binary.Size(m))
	if _, err := f.ReadAt(b, at+header); err != nil {
		return meta{}, false
	}
	if _, err := binary.Decode(b, binary.NativeEndian, &m); err != nil {
		return meta{}, false
	}
	sum := fnv.New64a()
	sum.Write(b[:len(b)-8])
	if m.Magic != 0xED0CDAED || m.PageSize == 0 || m.Checksum != sum.Sum64() {
		return meta{}, false
	}
	return m, true
}

// hasFreelist reports whether the page where the list of free pages should be is
// one. If it were not, bbolt would panic and keep the file locked.
func hasFreelist(f *os.File, m meta) bool {
	const none, flag = ^uint64(0), 0x10
	if m.Freelist == none {
		return true
	}
	var page struct {
		ID           uint64
		Flags, Count uint16
		Overflow     uint32
		Long         uint64 // the count if Count has no room for it
	}
	b := make([]byte, binary.Size(page))
	if _, err := f.ReadAt(b, int64(m.Freelist)*int64(m.PageSize)); err != nil {
		return false
	}
	if _, err := binary.Decode(b, binary.NativeEndian, &page); err != nil {
		return false
	}
	count := uint64(page.Count)
	if count == math.MaxUint16 {
		count = page.Long + 1
	}
	room := (uint64(page.Overflow) + 1) * uint64(m.PageSize)
	return page.ID == m.Freelist && page.Flags == flag && count <= room/8 &&
		page.ID+uint64(page.Overflow) < m.Pages
}

// prepare checks whose file it is, and creates the tables that it lacks.
func (s *Store) prepare() (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("damaged: %v", p)
		}
	}()
	complete := false
	err = s.db.View(func(tx *bolt.Tx) error {
		own := tx.Bucket([]byte(ownBucket))
		if own == nil {
			if k, _ := tx.Cursor().First(); k != nil {
				return errors.New("this bbolt file is not a data file of traintravel")
			}
			return nil
		}
		v, err := strconv.Atoi(string(own.Get([]byte(versionKey))))
		switch {
		case err != nil || v < 1:
			return errors.New("damaged: it has no version")
		case v > version:
			return fmt.Errorf("%w: the file has version %d, newer than %d", traintravel.ErrNewerData, v, version)
		}
		complete = true
		for _, name := range s.names[1:] {
			complete = complete && tx.Bucket(name) != nil
		}
		return nil
	})
	if err != nil || complete || s.db.IsReadOnly() {
		return err
	}
	return s.db.Update(func(tx *bolt.Tx) error {
		own, err := tx.CreateBucketIfNotExists([]byte(ownBucket))
		if err != nil {
			return err
		}
		for _, name := range s.names[1:] {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		return own.Put([]byte(versionKey), []byte(strconv.Itoa(version)))
	})
}

// fill returns how full a page of a table is left when it is split. Pages to
// which no key comes later are left nearly full.
func fill(t traintravel.Table) float64 {
	switch t {
	case traintravel.TableBookings, traintravel.TableTimetable:
		return 0.9
	}
	return bolt.DefaultFillPercent
}
