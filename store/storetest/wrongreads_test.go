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

// wrongGet is a store whose reads answer what answer makes of the truth.
func wrongGet(answer func(keys []traintravel.Key, values [][]byte) [][]byte) func() traintravel.Store {
	return func() traintravel.Store {
		return &faulty{
			Store: sound(),
			get: func(ctx context.Context, r traintravel.Reader, keys []traintravel.Key) ([][]byte, error) {
				values, err := r.Get(ctx, keys...)
				return answer(keys, slices.Clone(values)), err
			},
		}
	}
}

// wrongList is a store whose List answers another range, or answers it
// otherwise.
func wrongList(ask func(traintravel.Range) traintravel.Range, answer func(traintravel.Range, []traintravel.Record) []traintravel.Record) func() traintravel.Store {
	return func() traintravel.Store {
		return &faulty{
			Store: sound(),
			list: func(ctx context.Context, r traintravel.Reader, rg traintravel.Range) ([]traintravel.Record, error) {
				asked := rg
				if ask != nil {
					asked = ask(rg)
				}
				records, err := r.List(ctx, asked)
				if answer != nil {
					records = answer(rg, records)
				}
				return records, err
			},
		}
	}
}

var wrongReads = []mistake{
	{"an absent key reads as empty", wrongGet(func(_ []traintravel.Key, values [][]byte) [][]byte {
		for i, v := range values {
			values[i] = append([]byte{}, v...)
		}
		return values
	}), []string{"Empty", "Get", "Tables", "LastWrite", "FirstOnly"}},
	{"an empty value reads as absent", wrongGet(func(_ []traintravel.Key, values [][]byte) [][]byte {
		for i, v := range values {
			if len(v) == 0 {
				values[i] = nil
			}
		}
		return values
	}), []string{"Get", "Values"}},
	{"Get leaves out absent keys", wrongGet(func(_ []traintravel.Key, values [][]byte) [][]byte {
		return slices.DeleteFunc(values, func(v []byte) bool { return v == nil })
	}), []string{"Empty", "Get"}},
	{"Get answers a repeated key once", wrongGet(func(keys []traintravel.Key, values [][]byte) [][]byte {
		seen := make(map[traintravel.Key]bool)
		for i, k := range keys {
			if seen[k] {
				values[i] = nil
			}
			seen[k] = true
		}
		return values
	}), []string{"Get"}},
	{"Get answers in the order of keys", wrongGet(func(keys []traintravel.Key, values [][]byte) [][]byte {
		order := make([]int, len(keys))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(keys[a].ID, keys[b].ID) })
		sorted := make([][]byte, len(values))
		for i, o := range order {
			sorted[i] = values[o]
		}
		return sorted
	}), []string{"Get"}},

	{"To is included", wrongList(func(r traintravel.Range) traintravel.Range {
		if r.To != "" {
			r.To += "\x00"
		}
		return r
	}, nil), []string{"Range", "Pages", "Keys"}},
	{"From is left out", wrongList(func(r traintravel.Range) traintravel.Range {
		if r.From != "" {
			r.From += "\x00"
		}
		return r
	}, nil), []string{"Range", "Pages", "Keys"}},
	{"a long bound is cut to the length of a key", wrongList(func(r traintravel.Range) traintravel.Range {
		r.From = r.From[:min(len(r.From), traintravel.MaxKey)]
		return r
	}, nil), []string{"Range"}},
	{"Reverse is ignored", wrongList(func(r traintravel.Range) traintravel.Range { r.Reverse = false; return r }, nil),
		[]string{"Range", "Pages", "Keys"}},
	{"the limit is applied before the order is reversed", wrongList(
		func(r traintravel.Range) traintravel.Range { r.Reverse = false; return r },
		func(r traintravel.Range, records []traintravel.Record) []traintravel.Record {
			if r.Reverse {
				slices.Reverse(records)
			}
			return records
		}), []string{"Range", "Pages", "Keys"}},
	{"Limit is ignored", wrongList(func(r traintravel.Range) traintravel.Range { r.Limit = 0; return r }, nil),
		[]string{"Range", "Keys"}},
	{"the limit is one too few", wrongList(func(r traintravel.Range) traintravel.Range { r.Limit = max(r.Limit-1, 0); return r }, nil),
		[]string{"Range"}},
	{"no limit means a thousand", wrongList(func(r traintravel.Range) traintravel.Range {
		if r.Limit == 0 {
			r.Limit = 1000
		}
		return r
	}, nil), []string{"ManyWrites"}},
	{"a page that ends on the last record lacks it", wrongList(nil, func(r traintravel.Range, records []traintravel.Record) []traintravel.Record {
		if r.Limit > 1 && len(records) == r.Limit && strings.HasPrefix(records[len(records)-1].ID, "1499") {
			return records[:len(records)-1]
		}
		return records
	}), []string{"Pages"}},
	{"List is in no order", wrongList(nil, func(r traintravel.Range, records []traintravel.Record) []traintravel.Record {
		return shuffled(records)
	}), []string{"Pages", "Keys", "ManyWrites"}},
	{"List is in the order of small letters", wrongList(nil, func(r traintravel.Range, records []traintravel.Record) []traintravel.Record {
		slices.SortStableFunc(records, func(a, b traintravel.Record) int {
			return strings.Compare(strings.ToLower(a.ID), strings.ToLower(b.ID))
		})
		return records
	}), []string{"Keys"}},

	{"View wraps its closure's error", wrongView(func(ctx context.Context, s traintravel.Store, fn func(traintravel.Reader) error) error {
		return doing(s.View(ctx, fn), "view")
	}), []string{"View"}},
	{"View runs its closure twice", wrongView(func(ctx context.Context, s traintravel.Store, fn func(traintravel.Reader) error) error {
		return errors.Join(s.View(ctx, fn), s.View(ctx, fn))
	}), []string{"View"}},
	{"each read of a View sees another moment", wrongView(func(ctx context.Context, s traintravel.Store, fn func(traintravel.Reader) error) error {
		return fn(s)
	}), []string{"Snapshot", "Transfers"}},
	{"Get returns a buffer that the next one uses", func() traintravel.Store {
		var buffer []byte
		return &faulty{
			Store: sound(),
			get: func(ctx context.Context, r traintravel.Reader, keys []traintravel.Key) ([][]byte, error) {
				values, err := r.Get(ctx, keys...)
				total := len(bytes.Join(values, nil))
				if cap(buffer) < total {
					buffer = make([]byte, 0, total)
				}
				b := buffer[:0]
				lent := make([][]byte, len(values))
				for i, v := range values {
					if v != nil {
						b = append(b, v...)
						lent[i] = b[len(b)-len(v):]
					}
				}
				return lent, err
			},
		}
	}, []string{"OwnValues"}},
	{"views see every fourth update only", func() traintravel.Store {
		return &replica{Store: sound(), old: sound()}
	}, []string{"Update", "RealTime"}},
}

func wrongView(view func(context.Context, traintravel.Store, func(traintravel.Reader) error) error) func() traintravel.Store {
	return func() traintravel.Store { return &faulty{Store: sound(), view: view} }
}

func sameKey(k traintravel.Key) traintravel.Key { return k }

// keyed is a store that takes for an ID what id makes of it.
func keyed(id func(string) string) func() traintravel.Store {
	return func() traintravel.Store {
		return mangled(func(k traintravel.Key) traintravel.Key { k.ID = id(k.ID); return k }, func(v []byte) []byte { return v })
	}
}

func valued(value func([]byte) []byte) func() traintravel.Store {
	return func() traintravel.Store { return mangled(sameKey, value) }
}

var wrongKeeping = []mistake{
	{"letter case is folded", keyed(strings.ToLower), []string{"Get", "Keys"}},
	{"keys end at a zero byte", keyed(func(id string) string {
		if i := strings.IndexByte(id, 0); i > 0 {
			id = id[:i]
		}
		return id
	}), []string{"Keys"}},
	{"blanks at the end are trimmed", keyed(func(id string) string { return id[:max(1, len(strings.TrimRight(id, " ")))] }), []string{"Keys"}},
	{"what is not UTF-8 is replaced", keyed(func(id string) string { return strings.ToValidUTF8(id, "?") }), []string{"Keys"}},
	{"text is composed", keyed(func(id string) string { return strings.ReplaceAll(id, "u\u0308", "ü") }), []string{"Keys"}},
	{"keys are cut", keyed(func(id string) string { return id[:min(len(id), traintravel.MaxKey-1)] }), []string{"Keys"}},
	{"keys that look like numbers are numbers", keyed(func(id string) string {
		var n int
		if _, err := fmt.Sscanf(id+" ", "%d ", &n); err == nil && fmt.Sprintf("%02d", n) == id {
			return fmt.Sprint(n)
		}
		return id
	}), []string{"Keys"}},
	{"all tables are one", func() traintravel.Store {
		return mangled(func(k traintravel.Key) traintravel.Key { k.Table = table; return k }, func(v []byte) []byte { return v })
	}, []string{"Tables"}},

	{"values are cut", valued(func(v []byte) []byte { return v[:min(len(v), traintravel.MaxValue-1)] }), []string{"Values"}},
	{"values end at a zero byte", valued(func(v []byte) []byte { return bytes.SplitN(v, []byte{0}, 2)[0] }), []string{"Values"}},
	{"values are trimmed", valued(func(v []byte) []byte { return append([]byte{}, bytes.TrimSpace(v)...) }), []string{"Values"}},
	{"values that are not UTF-8 are repaired", valued(func(v []byte) []byte { return bytes.ToValidUTF8(v, []byte("?")) }), []string{"Values"}},
}
