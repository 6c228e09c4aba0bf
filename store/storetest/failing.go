package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/traintravel/traintravel"
)

// failing is what an update that is given up leaves behind: nothing.
var failing = []check{
	{"Refusal", refusal},
	{"ReadAfterWrite", readAfterWrite},
	{"CheckKey", checkKey},
	{"Panic", panics},
	{"Context", contextEnds},
}

// untouched runs try on a table with one record, and returns an error if that
// table changed or if the store does not work afterwards.
func untouched(ctx context.Context, s traintravel.Store, try func() error) error {
	if err := put(ctx, s, record("a", "before")); err != nil {
		return err
	}
	if err := try(); err != nil {
		return err
	}
	if err := holds(ctx, s, record("a", "before")); err != nil {
		return doing(err, "after an update that was given up")
	}
	if err := put(ctx, s, record("b", "after")); err != nil {
		return doing(err, "after an update that was given up")
	}
	if err := holds(ctx, s, record("a", "before"), record("b", "after")); err != nil {
		return doing(err, "after the update that followed one given up")
	}
	return doing(s.Update(ctx, func(tx traintravel.Tx) error {
		tx.Delete(key("b"))
		return nil
	}), "an update that deletes")
}

// scribble writes a bit of everything, for an update that will be given up.
func scribble(tx traintravel.Tx) {
	tx.Put(key("a"), []byte("scribbled"))
	tx.Put(key("new"), []byte("scribbled"))
	tx.Delete(key("a"))
	tx.Put(traintravel.Key{Table: traintravel.TableMeta, ID: "new"}, []byte("scribbled"))
}

// refusal: an error of the closure comes back as it is, and nothing is written.
func refusal(ctx context.Context, s traintravel.Store) error {
	for _, want := range []error{errRefused, fmt.Errorf("wrapped: %w", errRefused), context.Canceled, &traintravel.InvalidError{Field: "f"}} {
		for _, write := range []bool{false, true} {
			err := untouched(ctx, s, func() error {
				err := s.Update(ctx, func(tx traintravel.Tx) error {
					if _, err := tx.Get(ctx, keys("a", "new")...); err != nil {
						return err
					}
					if write {
						scribble(tx)
					}
					return want
				})
				if err != want {
					return fmt.Errorf("Update returned %v (%T), not the closure's error as it is, %v (%T)", err, err, want, want)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// readAfterWrite: a closure that reads after its first write is told so, and
// its update fails for that, whatever it returns.
func readAfterWrite(ctx context.Context, s traintravel.Store) error {
	reads := map[string]func(traintravel.Reader) error{
		"Get":         func(r traintravel.Reader) error { _, err := r.Get(ctx, key("a")); return err },
		"Get another": func(r traintravel.Reader) error { _, err := r.Get(ctx, key("elsewhere")); return err },
		"Get no key":  func(r traintravel.Reader) error { _, err := r.Get(ctx); return err },
		"List":        func(r traintravel.Reader) error { _, err := r.List(ctx, traintravel.Range{Table: table}); return err },
		"List another": func(r traintravel.Reader) error {
			_, err := r.List(ctx, traintravel.Range{Table: table + 1})
			return err
		},
	}
	writes := map[string]func(traintravel.Tx){
		"Put":              func(tx traintravel.Tx) { tx.Put(key("new"), nil) },
		"Delete":           func(tx traintravel.Tx) { tx.Delete(key("a")) },
		"Delete an absent": func(tx traintravel.Tx) { tx.Delete(key("absent")) },
	}
	answers := map[string]func(told error) error{
		"it":            func(told error) error { return told },
		"it wrapped":    func(told error) error { return fmt.Errorf("x: %w", told) },
		"nil":           func(error) error { return nil },
		"another error": func(error) error { return errors.New("other") },
	}
	for readName, read := range reads {
		for writeName, write := range writes {
			for returns, answer := range answers {
				err := untouched(ctx, s, func() error {
					var told error
					err := s.Update(ctx, func(tx traintravel.Tx) error {
						if err := read(tx); err != nil {
							return doing(err, "before the first write")
						}
						write(tx)
						told = read(tx)
						return answer(told)
					})
					if !errors.Is(told, traintravel.ErrReadAfterWrite) {
						return fmt.Errorf("the read returned %v, not ErrReadAfterWrite", told)
					}
					if !errors.Is(err, traintravel.ErrReadAfterWrite) {
						return fmt.Errorf("Update returned %v, not ErrReadAfterWrite", err)
					}
					return nil
				})
				if err != nil {
					return doing(err, "%s after %s, in a closure that returns %s", readName, writeName, returns)
				}
			}
		}
	}
	return nil
}

// checkKey: a key or value beyond the limits fails the update with the error
// of CheckKey, though other writes of it are lawful.
func checkKey(ctx context.Context, s traintravel.Store) error {
	last := traintravel.Tables()[len(traintravel.Tables())-1]
	for _, c := range []struct {
		name  string
		key   traintravel.Key
		value []byte
	}{
		{"no table", traintravel.Key{ID: "a"}, nil},
		{"a table that is not", traintravel.Key{Table: last + 1, ID: "a"}, nil},
		{"the greatest table", traintravel.Key{Table: 255, ID: "a"}, nil},
		{"no ID", key(""), nil},
		{"an ID too long", key(strings.Repeat("a", traintravel.MaxKey+1)), nil},
		{"a value too long", key("a"), make([]byte, traintravel.MaxValue+1)},
	} {
		want := traintravel.CheckKey(c.key, c.value)
		if want == nil {
			return fmt.Errorf("%s: CheckKey allows it", c.name)
		}
		writes := map[string]func(traintravel.Tx){"Put": func(tx traintravel.Tx) { tx.Put(c.key, c.value) }}
		if c.value == nil {
			writes["Delete"] = func(tx traintravel.Tx) { tx.Delete(c.key) }
		}
		for name, write := range writes {
			err := untouched(ctx, s, func() error {
				err := s.Update(ctx, func(tx traintravel.Tx) error {
					tx.Put(key("new"), []byte("lawful"))
					write(tx)
					tx.Put(key("a"), []byte("lawful"))
					return nil
				})
				if err == nil || !strings.Contains(err.Error(), want.Error()) {
					return fmt.Errorf("Update returned %v, not %v", err, want)
				}
				return nil
			})
			if err != nil {
				return doing(err, "%s with %s", name, c.name)
			}
		}
	}
	return nil
}

// panics: a panic in a closure arrives at the caller with its value, writes
// nothing and leaves the store in working order.
func panics(ctx context.Context, s traintravel.Store) error {
	value := &struct{ text string }{"the closure's own"}
	runs := map[string]func(){
		"Update": func() {
			_ = s.Update(ctx, func(traintravel.Tx) error { panic(value) })
		},
		"Update after reads and writes": func() {
			_ = s.Update(ctx, func(tx traintravel.Tx) error {
				if _, err := tx.Get(ctx, key("a")); err != nil {
					return err
				}
				scribble(tx)
				panic(value)
			})
		},
		"View": func() {
			_ = s.View(ctx, func(r traintravel.Reader) error {
				if _, err := r.Get(ctx, key("a")); err != nil {
					return err
				}
				panic(value)
			})
		},
	}
	for name, run := range runs {
		err := untouched(ctx, s, func() error {
			if got := recovered(run); got != any(value) {
				return fmt.Errorf("the caller recovered %#v, not the value of the panic", got)
			}
			return nil
		})
		if err != nil {
			return doing(err, "a panic in %s", name)
		}
	}
	return nil
}

// recovered returns the value that fn panics with, or nil.
func recovered(fn func()) (value any) {
	defer func() { value = recover() }()
	fn()
	return nil
}

// errEndedAndWrote is the mistake that costs most: the caller tries again.
var errEndedAndWrote = errors.New("Update returned the context's error and wrote")

// contextEnds: an update whose context ends, before it starts or while its
// closure runs, either took place in full and says so, or returns the
// context's error and wrote nothing. A closure's own error goes before.
func contextEnds(ctx context.Context, s traintravel.Store) error {
	for _, before := range []bool{true, false} {
		for i := range 20 {
			id := fmt.Sprintf("%t %d", before, i)
			ending, end := context.WithCancel(ctx)
			if before {
				end()
			}
			err := s.Update(ending, func(tx traintravel.Tx) error {
				end()
				tx.Put(key(id), []byte("1"))
				tx.Put(key(id+" too"), []byte("2"))
				return nil
			})
			end()
			if err != nil && !errors.Is(err, context.Canceled) {
				return fmt.Errorf("Update returned %v, not the error of its context", err)
			}
			values, err2 := s.Get(ctx, keys(id, id+" too")...)
			if err2 != nil {
				return err2
			}
			if err != nil && slices.ContainsFunc(values, func(v []byte) bool { return v != nil }) {
				return doing(errEndedAndWrote, "two records were put and are now %s", texts(values))
			}
			if err == nil {
				if err := differ("values", []string{`"1"`, `"2"`}, texts(values)); err != nil {
					return doing(err, "Update, whose context had ended, returned nil")
				}
			}
		}
	}
	ended, end := context.WithCancel(ctx)
	end()
	refused := s.Update(ended, func(traintravel.Tx) error { return errRefused })
	if refused != errRefused && !errors.Is(refused, context.Canceled) {
		return fmt.Errorf("Update returned %v, neither its closure's error nor its context's", refused)
	}
	return nil
}
