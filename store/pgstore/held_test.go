package pgstore_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/pgtest"
	"github.com/traintravel/traintravel/store/pgstore"
)

// A closure that panics, ends its goroutine or refuses, with the lock or
// without, holds nobody up.
func TestClosureEnds(t *testing.T) {
	t.Parallel()
	s := openFor(t, pgtest.Shared(t).NewDatabase(t)+"&pool_max_conns=2", never)
	refused := errors.New("refused")
	for round := range 5 {
		for _, end := range []func() error{
			func() error { panic("on purpose") },
			func() error { runtime.Goexit(); return nil },
			func() error { return refused },
		} {
			for _, locked := range []bool{true, false} {
				done := make(chan error, 1)
				go func() {
					defer close(done)
					defer func() { _ = recover() }()
					done <- s.Update(t.Context(), func(tx traintravel.Tx) error {
						if locked {
							if _, err := tx.Get(t.Context(), key("n")); err != nil {
								return err
							}
						}
						tx.Put(key("n"), []byte("scribbled"))
						return end()
					})
				}()
				if err := <-done; err != nil && err != refused {
					t.Fatal(err)
				}
				<-done
			}
		}
		if err := count(t.Context(), s, "n"); err != nil {
			t.Fatal(err)
		}
		has(t, s, "n", strconv.Itoa(round+1))
	}
}

// A process that hangs in the middle of an update blocks others only until the timeout.
func TestHangingUpdateTimesOut(t *testing.T) {
	t.Parallel()
	db := pgtest.Shared(t).NewDatabase(t)
	s := openFor(t, db, never)
	hanging := connect(t, db+"&idle_in_transaction_session_timeout=200ms")
	exec(t, hanging, "begin")
	exec(t, hanging, "select from traintravel_lock for update")
	if err := count(t.Context(), s, "n"); err != nil {
		t.Fatal(err)
	}
	has(t, s, "n", "1")
	if err := hanging.Ping(t.Context()); err == nil {
		t.Error("the lock was had by two")
	}
	answers(t, connect(t, db+"&idle_in_transaction_session_timeout=1h"), "show idle_in_transaction_session_timeout", "1h")
}

// Every update that was answered is there, once, whatever is ended or cancelled.
func TestEndedAtRandom(t *testing.T) {
	t.Parallel()
	db := pgtest.Shared(t).NewDatabase(t)
	stores := []*pgstore.Store{openFor(t, db+"&pool_max_conns=4", never), openFor(t, db+"&pool_max_conns=4&statement_timeout=100ms", never)}
	ctx, stop := context.WithCancel(t.Context())
	killed := make(chan int)
	killer := connect(t, db)
	go func() {
		n := 0
		for ; ctx.Err() == nil; time.Sleep(rand.N(20 * time.Millisecond)) {
			how := []string{"pg_terminate_backend", "pg_cancel_backend"}[n%2]
			tag, err := killer.Exec(context.Background(), "select "+how+"(pid) from (select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and application_name = 'traintravel' order by random() limit 1) as one")
			if err != nil {
				t.Error(err)
				break
			}
			n += int(tag.RowsAffected())
		}
		killed <- n
	}()
	const workers, each = 8, 40
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			s := stores[w%2]
			for i := range each {
				err := s.Update(ctx, func(tx traintravel.Tx) error {
					own := key(fmt.Sprint("own ", w))
					v, err := tx.Get(ctx, key("n"), own)
					if err != nil {
						return err
					}
					if string(v[1]) != string(number(i)) {
						return fmt.Errorf("worker %d has done %d updates and finds %q", w, i, v[1])
					}
					n, _ := strconv.Atoi(string(v[0]))
					tx.Put(key("n"), number(n+1))
					tx.Put(own, number(i+1))
					return nil
				})
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	stop()
	if n := <-killed; n == 0 {
		t.Error("nobody was ended")
	} else {
		t.Logf("%d times something was ended or cancelled", n)
	}
	has(t, stores[0], "n", strconv.Itoa(workers*each))
}

// number is a number as text, nothing for zero.
func number(n int) []byte {
	if n == 0 {
		return nil
	}
	return strconv.AppendInt(nil, int64(n), 10)
}

// Close waits for a view, though it has not read yet.
func TestViewWhileClosing(t *testing.T) {
	t.Parallel()
	s := openFor(t, pgtest.Shared(t).NewDatabase(t), never)
	closed := make(chan error)
	err := s.View(t.Context(), func(r traintravel.Reader) error {
		go func() { closed <- s.Close() }()
		nothing := func(traintravel.Tx) error { return nil }
		for s.Update(t.Context(), nothing) == nil { // until it is being closed
			runtime.Gosched()
		}
		_, err := r.Get(t.Context(), key("a"))
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if _, err := s.Get(t.Context(), key("a")); !errors.Is(err, pgstore.ErrClosed) {
		t.Errorf("%v", err)
	}
}
