package pgstore_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/pgtest"
	"github.com/traintravel/traintravel/store/pgstore"
)

const never = time.Hour // what a test would wait for in vain

func key(id string) traintravel.Key {
	return traintravel.Key{Table: traintravel.TableBookings, ID: id}
}

// openFor opens a database with a time to retry.
func openFor(t testing.TB, url string, retry time.Duration) *pgstore.Store {
	t.Helper()
	s, err := pgstore.Open(t.Context(), url, &pgstore.Options{RetryFor: retry})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// put puts a value, whatever was there.
func put(ctx context.Context, s traintravel.Store, id, value string) error {
	return s.Update(ctx, func(tx traintravel.Tx) error {
		tx.Put(key(id), []byte(value))
		return nil
	})
}

// count adds one to a number.
func count(ctx context.Context, s traintravel.Store, id string) error {
	return s.Update(ctx, func(tx traintravel.Tx) error {
		v, err := tx.Get(ctx, key(id))
		if err != nil {
			return err
		}
		n, _ := strconv.Atoi(string(v[0]))
		tx.Put(key(id), strconv.AppendInt(nil, int64(n+1), 10))
		return nil
	})
}

func has(t testing.TB, s traintravel.Reader, id, want string) {
	t.Helper()
	v, err := s.Get(t.Context(), key(id))
	if err != nil || string(v[0]) != want {
		t.Fatalf("%s is %q, %v; want %q", id, v, err, want)
	}
}

// proxied makes a database behind a proxy.
func proxied(t testing.TB) (*pgtest.Proxy, string) {
	t.Helper()
	s := pgtest.Shared(t)
	p := pgtest.NewProxy(t, s.Addr())
	return p, pgtest.Via(s.NewDatabase(t), p.Addr())
}

// A connection that is lost at any moment of an update costs time and nothing
// else: it is done, and done once.
func TestConnectionIsLost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		moment pgtest.Moment
		text   string // of the message: the key that is read, or the value that is written
	}{
		{"before it begins", pgtest.BeforeRequest, "counter-"},
		{"when it has the lock", pgtest.BeforeAnswer, "counter-"},
		{"before the commit", pgtest.BeforeRequest, "-written"},
		{"when it is committed", pgtest.BeforeAnswer, "-written"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, url := proxied(t)
			s := openFor(t, url, never)
			runs, want := 0, ""
			for i := range 6 {
				if i%2 == 1 {
					want += "x"
				}
				sprung := make(<-chan struct{})
				if i%2 == 1 { // on new connections and on known ones
					sprung = p.CutAt(c.moment, c.text)
				}
				err := s.Update(t.Context(), func(tx traintravel.Tx) error {
					v, err := tx.Get(t.Context(), key("counter-"))
					if err != nil {
						return err
					}
					runs++
					if i%2 == 1 {
						tx.Put(key("counter-"), append(v[0][:len(v[0]):len(v[0])], 'x'))
						tx.Put(key("mark"), []byte("-written"))
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				if i%2 == 1 {
					<-sprung
				}
				has(t, s, "counter-", want)
			}
			if runs < 6 {
				t.Errorf("the closures ran %d times", runs)
			}
		})
	}
}

// The same for updates that read nothing, which take one round trip.
func TestConnectionIsLostWithoutReading(t *testing.T) {
	t.Parallel()
	p, url := proxied(t)
	s := openFor(t, url, never)
	for i, moment := range []pgtest.Moment{pgtest.BeforeRequest, pgtest.BeforeAnswer, pgtest.BeforeRequest, pgtest.BeforeAnswer} {
		value := "written-" + strconv.Itoa(i)
		sprung := p.CutAt(moment, value)
		if err := put(t.Context(), s, "a", value); err != nil {
			t.Fatal(err)
		}
		<-sprung
		has(t, s, "a", value)
	}
}

// Reads and the first read of a view are tried again as well.
func TestConnectionIsLostReading(t *testing.T) {
	t.Parallel()
	p, url := proxied(t)
	s := openFor(t, url, never)
	if err := put(t.Context(), s, "wanted", "1"); err != nil {
		t.Fatal(err)
	}
	for _, moment := range []pgtest.Moment{pgtest.BeforeRequest, pgtest.BeforeAnswer} {
		sprung := p.CutAt(moment, "wanted")
		has(t, s, "wanted", "1")
		<-sprung
		sprung = p.CutAt(moment, "wanted")
		err := s.View(t.Context(), func(r traintravel.Reader) error {
			has(t, r, "wanted", "1")
			<-sprung
			p.Cut()
			_, err := r.Get(t.Context(), key("wanted"))
			return err
		})
		if !errors.Is(err, traintravel.ErrUnavailable) {
			t.Errorf("a view that has lost its snapshot: %v", err)
		}
	}
}

// A database that does not come back in time is unavailable, and nothing was
// written; when it is back, all goes on.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	p, url := proxied(t)
	s := openFor(t, url, 50*time.Millisecond)
	if err := put(t.Context(), s, "a", "before"); err != nil {
		t.Fatal(err)
	}
	p.Refuse(true)
	p.Cut()
	_, get := s.Get(t.Context(), key("a"))
	_, list := s.List(t.Context(), traintravel.Range{Table: traintravel.TableBookings})
	_, opening := pgstore.Open(t.Context(), url, &pgstore.Options{RetryFor: -1})
	for what, err := range map[string]error{
		"Get": get, "List": list, "Open": opening, "Update": count(t.Context(), s, "a"), "an Update that reads nothing": put(t.Context(), s, "a", "meanwhile"),
		"View": s.View(t.Context(), func(r traintravel.Reader) error { _, err := r.Get(t.Context(), key("a")); return err }),
	} {
		if !errors.Is(err, traintravel.ErrUnavailable) || errors.Is(err, traintravel.ErrUnknownOutcome) {
			t.Errorf("%s: %v", what, err)
		}
	}
	p.Refuse(false)
	has(t, s, "a", "before")
	if err := put(t.Context(), s, "a", "after"); err != nil {
		t.Fatal(err)
	}
	has(t, s, "a", "after")
}

// If the database stays away when it was asked to commit, nobody knows.
func TestUnknownOutcome(t *testing.T) {
	t.Parallel()
	for moment, want := range map[pgtest.Moment]string{pgtest.BeforeRequest: "", pgtest.BeforeAnswer: "after"} {
		p, url := proxied(t)
		s := openFor(t, url+"&pool_max_conns=1", 50*time.Millisecond)
		if err := put(t.Context(), s, "a", "before"); err != nil {
			t.Fatal(err)
		}
		p.Refuse(true) // from the next connection on
		sprung := p.CutAt(moment, "after")
		if err := put(t.Context(), s, "b", "after"); !errors.Is(err, traintravel.ErrUnknownOutcome) {
			t.Errorf("%v", err)
		}
		<-sprung
		p.Refuse(false)
		if got, err := s.Get(t.Context(), key("b")); err != nil || string(got[0]) != want {
			t.Errorf("b is %q, %v; want %q", got[0], err, want)
		}
		if err := put(t.Context(), s, "a", "later"); err != nil {
			t.Fatal(err)
		}
		has(t, s, "a", "later")
	}
}
