package boltstore_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/store/boltstore"
)

// pagesOf returns the pages of a kind that have three elements or more, and no tables. Free
// pages are among them.
func pagesOf(file []byte, kind uint16) (pages [][]byte) {
	const header, leaf = 16, 2
	for n := 2; n < len(file)/4096; n++ {
		p := file[4096*n:]
		if binary.NativeEndian.Uint64(p) == uint64(n) && binary.NativeEndian.Uint16(p[8:]) == kind && binary.NativeEndian.Uint16(p[10:]) >= 3 &&
			(kind != leaf || binary.NativeEndian.Uint32(p[header:]) == 0) {
			pages = append(pages, p)
		}
	}
	return pages
}

// Each damage to the pages is found and named.
func TestDamageIsNamed(t *testing.T) {
	t.Parallel()
	const branch, leaf, free = 1, 2, 16
	u16, u32, u64 := binary.NativeEndian.PutUint16, binary.NativeEndian.PutUint32, binary.NativeEndian.PutUint64
	for want, damage := range map[string]struct {
		kind uint16
		do   func(page []byte)
	}{
		"in its header":              {leaf, func(p []byte) { u64(p, 3) }},
		"of an unknown kind, 0x7":    {leaf, func(p []byte) { u16(p[8:], 7) }},
		"further pages, but the":     {leaf, func(p []byte) { u32(p[12:], 1<<30) }},
		"but its content takes":      {leaf, func(p []byte) { u32(p[12:], 1) }},
		"no room for its 65535":      {leaf, func(p []byte) { u16(p[10:], math.MaxUint16) }},
		"leads nowhere":              {branch, func(p []byte) { u16(p[10:], 0) }},
		"a page points to page 9999": {branch, func(p []byte) { u64(p[16+8:], 9999) }},
		"is used twice":              {branch, func(p []byte) { copy(p[32+8:40+8], p[16+8:24+8]) }},
		"takes 4294967":              {leaf, func(p []byte) { u32(p[16+8:], math.MaxUint32) }}, // of a key
		"takes 2147483":              {leaf, func(p []byte) { u32(p[16+12:], 1<<31) }},         // of a value
		"are not in order":           {leaf, func(p []byte) { k := keyAt(p, 1); copy(k, keyAt(p, 0)) }},
		"belongs on another page":    {leaf, func(p []byte) { keyAt(p, 0)[0] = 0 }},
		"a bucket in the table":      {leaf, func(p []byte) { u32(p[16:], 1) }},
		"listed as free, but":        {free, func(p []byte) { u64(p[16:], 9999) }},
		"listed as free twice":       {free, func(p []byte) { copy(p[24:32], p[16:24]) }},
		"neither used nor free":      {free, func(p []byte) { u16(p[10:], binary.NativeEndian.Uint16(p[10:])-1) }},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			path := stocked(t, 500)
			s := opened(t, path, nil)
			for range 5 { // which frees pages
				update(t, s, func(tx traintravel.Tx) { tx.Put(key(rand.IntN(500)), nil) })
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			file, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			pages := pagesOf(file, damage.kind)
			for _, p := range pages {
				damage.do(p)
			}
			if err := os.WriteFile(path, file, 0o600); err != nil {
				t.Fatal(err)
			}
			s, err = boltstore.Open(path, readOnly)
			if err != nil {
				t.Fatal(err)
			}
			err = s.CheckPages(t.Context())
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("the check found %v", err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// keyAt returns the key of an element of a leaf.
func keyAt(p []byte, i int) []byte {
	e := p[16+16*i:]
	return e[binary.NativeEndian.Uint32(e[4:]):][:binary.NativeEndian.Uint32(e[8:])]
}

// Whatever stands in a page, the check finds it, or all can be read. bbolt's own check,
// which faults on some, is the judge of what it survives.
func TestDamagedPages(t *testing.T) {
	t.Parallel()
	path := stocked(t, 500)
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pages := min(50, len(sound)/4096) // those that are used
	found := 0
	for range 100 {
		damaged := slices.Clone(sound)
		page := damaged[4096*(2+rand.IntN(pages-2)):][:4096]
		switch rand.IntN(3) {
		case 0:
			clear(page)
		case 1:
			for i := range page {
				page[i] = byte(rand.Uint32())
			}
		default:
			page[rand.IntN(64)] ^= byte(1 + rand.IntN(255))
		}
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := boltstore.Open(path, readOnly)
		if err != nil {
			found++
			continue
		}
		if err := s.CheckPages(t.Context()); err != nil {
			found++
		} else {
			readAll(t, s)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if found < 50 {
		t.Errorf("it was found in %d of 100 damaged files", found)
	}
}

// readAll reads every record of a store, in order, and each by its key.
func readAll(t *testing.T, s traintravel.Store) {
	t.Helper()
	for _, table := range traintravel.Tables() {
		records, err := s.List(t.Context(), traintravel.Range{Table: table})
		if err != nil {
			t.Errorf("a damaged file passed the check: %v", err)
		}
		for _, r := range records {
			if v, err := s.Get(t.Context(), traintravel.Key{Table: table, ID: r.ID}); err != nil || v[0] == nil {
				t.Errorf("a damaged file passed the check: a record is not found by its key, %v", err)
			}
		}
	}
}

// The check agrees with bbolt's own on sound files, also those of which much was deleted
// and those with values of many pages.
func TestSoundPages(t *testing.T) {
	t.Parallel()
	path := stocked(t, 50)
	s := opened(t, path, nil)
	for round := range 30 {
		err := s.Update(t.Context(), func(tx traintravel.Tx) error {
			for range 40 {
				value := make([]byte, rand.IntN(1+rand.IntN(30_000)))
				if rand.IntN(3) == 0 {
					value = nil
				}
				tx.Put(key(rand.IntN(300)), value)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if round%5 == 0 {
			if err := s.CheckPages(t.Context()); err != nil {
				t.Fatalf("after round %d: %v", round, err)
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.View(func(tx *bolt.Tx) error {
		for err := range tx.Check() {
			t.Error(err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
