package storetest

import (
	"context"
	"errors"
	"fmt"

	"github.com/traintravel/traintravel"
)

// updating is what an update that succeeds leaves behind.
var updating = []check{
	{"Update", updateSeen},
	{"LastWrite", lastWrite},
	{"ManyWrites", manyWrites},
}

// updateSeen: what an update wrote is there when it returns, for every reader;
// and one that writes nothing is none the worse for it.
func updateSeen(ctx context.Context, s traintravel.Store) error {
	for i := range 20 {
		value := fmt.Sprint(i)
		var former []byte
		err := s.Update(ctx, func(tx traintravel.Tx) (err error) {
			if former, err = get(ctx, tx, key("counter")); err != nil {
				return err
			}
			tx.Put(key("counter"), []byte(value))
			return nil
		})
		if err != nil {
			return doing(err, "update %d", i)
		}
		if i > 0 && string(former) != fmt.Sprint(i-1) {
			return fmt.Errorf("update %d read %s, not what the update before it wrote", i, text(former))
		}
		err = everyReader(ctx, s, func(r traintravel.Reader) error {
			got, err := get(ctx, r, key("counter"))
			if err != nil {
				return err
			}
			if string(got) != value {
				return fmt.Errorf("the value is %s, and the last update put %q", text(got), value)
			}
			return nil
		})
		if err != nil {
			return err
		}
		if err := s.Update(ctx, func(traintravel.Tx) error { return nil }); err != nil {
			return doing(err, "an update that does nothing")
		}
	}
	return nil
}

// lastWrite: of several writes to one key in one update the last counts,
// whether the key was there before or not.
func lastWrite(ctx context.Context, s traintravel.Store) error {
	for _, c := range []struct {
		writes string // a letter is a value to put, "-" is a deletion
		want   string // "" is none
	}{
		{"a", "a"}, {"ab", "b"}, {"ba", "a"}, {"aba", "a"},
		{"-", ""}, {"--", ""},
		{"a-", ""}, {"ab-", ""}, {"-a-", ""},
		{"-a", "a"}, {"a-b", "b"}, {"a--b", "b"}, {"-a-b", "b"},
	} {
		for _, before := range []string{"", "former"} {
			id := c.writes + " on an absent key"
			if before != "" {
				id = c.writes + " on a key that is there"
				if err := put(ctx, s, record(id, before)); err != nil {
					return err
				}
			}
			err := s.Update(ctx, func(tx traintravel.Tx) error {
				for _, w := range c.writes {
					tx.Put(key("neighbour "+id), []byte("there")) // writes in between do not matter
					if w == '-' {
						tx.Delete(key(id))
					} else {
						tx.Put(key(id), []byte(string(w)))
					}
				}
				return nil
			})
			if err != nil {
				return doing(err, "the writes %s", id)
			}
			values, err := s.Get(ctx, keys(id, "neighbour "+id)...)
			if err != nil {
				return err
			}
			want := text([]byte(c.want))
			if c.want == "" {
				want = text(nil)
			}
			if err := differ("values", []string{want, `"there"`}, texts(values)); err != nil {
				return doing(err, "the writes %s", id)
			}
		}
	}
	return nil
}

// manyWrites: one update may write some thousand records over several tables,
// and leaves all of them.
func manyWrites(ctx context.Context, s traintravel.Store) error {
	const n = 2000
	tables := []traintravel.Table{traintravel.TableTimetable, traintravel.TableRuns, traintravel.TableAgenda}
	id := func(i int) string { return fmt.Sprintf("%06d", i*7919%n) }
	err := s.Update(ctx, func(tx traintravel.Tx) error {
		for i := range n {
			for _, t := range tables {
				tx.Put(traintravel.Key{Table: t, ID: id(i)}, fmt.Appendf(nil, "%v %s", t, id(i)))
			}
		}
		return nil
	})
	if err != nil {
		return doing(err, "an update of %d records", n*len(tables))
	}
	return s.View(ctx, func(r traintravel.Reader) error {
		for _, t := range tables {
			records, err := r.List(ctx, traintravel.Range{Table: t})
			if err != nil {
				return err
			}
			if len(records) != n {
				return fmt.Errorf("table %v holds %d records of %d", t, len(records), n)
			}
			for i, rec := range records {
				if want := fmt.Sprintf("%06d", i); rec.ID != want || string(rec.Value) != t.String()+" "+want {
					return fmt.Errorf("table %v: record %d is %q with value %q", t, i, rec.ID, rec.Value)
				}
			}
		}
		return nil
	})
}

// errRefused is the closures' own error in checks.
var errRefused = errors.New("refused")
