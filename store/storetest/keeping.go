package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/traintravel/traintravel"
)

// keeping is that keys and values come back byte by byte, and keys in order.
var keeping = []check{
	{"Keys", oddKeys},
	{"Values", oddValues},
}

// oddIDs returns keys that stores are known to confuse, each pair of them a
// reason: collations, case folding, normal forms, trimming, terminators,
// wildcards, quoting, numbers, paths, and plain length.
func oddIDs() []string {
	long := strings.Repeat("k", traintravel.MaxKey)
	ids := []string{
		"\x00\x00", "a\x00", "a\x00b", "a\x01", "\xff\xff", strings.Repeat("\xff", traintravel.MaxKey),
		"\xc3(", "\xc3", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xef\xbf\xbd", "\xef\xbb\xbf", // not UTF-8, or nearly
		"Zürich", "zürich", "ZÜRICH", "Zu\u0308rich", "Zurich", "Straße", "Strasse", "STRASSE",
		"I", "i", "İ", "ı", "K", "k", "\u212a", "ﬁ", "fi", "Ω", "\u2126", "日本", "🚆", "\uffff",
		"a", "A", "aa", "aA", "Aa", "b", "B", "a ", " a", "a\t", "a\n", "a\r\n",
		"%", "_", "*", "?", "[a]", "a%", "a_", "'", "''", `"`, "`", `\`, `\\`, `\x00`, "%00", "a/b", "a/", "/a", ".", "..", "a:b", "a,b",
		"0", "00", "1", "01", "10", "9", "-1", "1.0", "1e0", "NaN", "null", "NULL", "true",
		long, long[1:], long[:1] + "K" + long[2:],
	}
	for b := range 256 {
		ids = append(ids, string([]byte{byte(b)}))
	}
	slices.Sort(ids) // Go compares strings as bytes
	return slices.Compact(ids)
}

// oddKeys: every key is its own record, found by Get, in List in the order of
// bytes, as a bound, and by Delete, which takes no other with it.
func oddKeys(ctx context.Context, s traintravel.Store) error {
	ids := oddIDs()
	var records []traintravel.Record
	for _, id := range ids {
		records = append(records, record(id, fmt.Sprintf("value of %q", id)))
	}
	if err := put(ctx, s, shuffled(records)...); err != nil {
		return err
	}
	err := everyReader(ctx, s, func(r traintravel.Reader) error {
		values, err := r.Get(ctx, keys(ids...)...)
		if err != nil {
			return err
		}
		for i, v := range values {
			if !bytes.Equal(v, records[i].Value) {
				return fmt.Errorf("Get of %q returned %s", ids[i], text(v))
			}
		}
		for i, id := range ids {
			after, err := r.List(ctx, traintravel.Range{Table: table, From: id, Limit: 2})
			before, err2 := r.List(ctx, traintravel.Range{Table: table, To: id, Reverse: true, Limit: 1})
			if err := errors.Join(err, err2); err != nil {
				return doing(err, "List from and to %q", id)
			}
			if err := errors.Join(
				recordsDiffer("the two records from it on", records[i:min(i+2, len(ids))], after),
				recordsDiffer("the record before it", records[max(0, i-1):i], before),
			); err != nil {
				return doing(err, "List from and to %q", id)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := holds(ctx, s, records...); err != nil {
		return err
	}
	var odd []traintravel.Record
	err = s.Update(ctx, func(tx traintravel.Tx) error {
		odd = nil
		for i, r := range records {
			if i%2 == 0 {
				tx.Delete(key(r.ID))
			} else {
				odd = append(odd, r)
			}
		}
		return nil
	})
	if err != nil {
		return doing(err, "an update that deletes every second key")
	}
	return doing(holds(ctx, s, odd...), "after every second key was deleted")
}

// oddValues: any bytes up to MaxValue come back; nil and empty alike are a
// value, which is empty and not absent.
func oddValues(ctx context.Context, s traintravel.Store) error {
	every := make([]byte, 256)
	for b := range every {
		every[b] = byte(b)
	}
	long := bytes.Repeat(every, traintravel.MaxValue/len(every))
	for id, value := range map[string][]byte{
		"nil, put as empty": nil, "empty": {}, "zero": {0}, "zeros": make([]byte, 1000), "every byte": every,
		"not UTF-8": []byte("\xc3("), "text": []byte(" null\r\n"), "longest": long, "one less": long[1:],
		"incompressible": noise(traintravel.MaxValue),
	} {
		if err := put(ctx, s, record(id, "former")); err != nil {
			return err
		}
		err := s.Update(ctx, func(tx traintravel.Tx) error {
			tx.Put(key(id), bytes.Clone(value)) // nil stays nil
			return nil
		})
		if err != nil {
			return doing(err, "an update that puts the value %q", id)
		}
		err = everyReader(ctx, s, func(r traintravel.Reader) error {
			got, err := r.Get(ctx, key(id))
			if err != nil {
				return err
			}
			if len(got) != 1 || got[0] == nil || !bytes.Equal(got[0], value) {
				return fmt.Errorf("Get returned %s, not the one value put, %s", texts(got), text(append([]byte{}, value...)))
			}
			records, err := r.List(ctx, traintravel.Range{Table: table, From: id, Limit: 1})
			if err != nil {
				return err
			}
			if len(records) != 1 || records[0].ID != id || !bytes.Equal(records[0].Value, value) {
				return errors.New("List did not return the value put")
			}
			return nil
		})
		if err != nil {
			return doing(err, "the value %q of %d bytes", id, len(value))
		}
	}
	return nil
}

// noise returns n bytes without a pattern, the same each time.
func noise(n int) []byte {
	b, x := make([]byte, n), uint32(2463534242)
	for i := range b {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		b[i] = byte(x)
	}
	return b
}
