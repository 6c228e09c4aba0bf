// Package pgstore keeps the records of a traintravel service in PostgreSQL, with
// [github.com/jackc/pgx/v5]. Any number of servers may share one database.
//
// When [Store.Update] returns nil, its writes and all it has read are on stable
// storage, on a synchronous standby too if the database has one. If the primary is lost and
// that standby is promoted, every update that returned is still there.
//
// Each table of the store is a table of the database with a key and a value, both
// bytea, whose order is that of bytes. Updates that wait at the same time share
// one transaction, as in package boltstore: its first statement takes the one row
// of traintravel_lock, so that the groups of all servers run one after another, no group fails
// because of another, and the records that a group reads cannot change before it commits. A
// group takes two round trips: the lock with the first reads of its closures, and its writes
// with the commit. Each further read that depends on an earlier one takes one more, for all
// closures of the group together; the closures run again then. Decision 0012 explains why.
//
// Notes:
//
//   - If a connection is lost, the server restarts or a standby takes over, calls wait for at
//     most [Options.RetryFor] and then continue. After that time they fail with
//     [traintravel.ErrUnavailable].
//   - If the response to a commit is lost, the store asks the database whether it took place.
//     Only if the store cannot find out in time, Update returns
//     [traintravel.ErrUnknownOutcome].
//   - A process that hangs in the middle of an update, with its connection open, blocks all
//     others until idle_in_transaction_session_timeout: five seconds unless the URL sets it.
//   - Each connection sets the parameters that the store depends on, whatever the server, the
//     database and the role set for other programs: bytea_output,
//     standard_conforming_strings, client_encoding, client_min_messages and the defaults of
//     transactions; and timeouts (statement_timeout, lock_timeout and so on), which
//     parameters of the URL override. It does not override default_transaction_read_only:
//     Open refuses such a database.
//   - The store overrides the setting off of synchronous_commit, which does not wait for the
//     disk, but not local, which does not wait for the standby.
//   - Errors that an administrator has to fix (a role that may not log in, a changed
//     password, a missing permission or database) make calls fail immediately: Open with the
//     reason, any other call with [traintravel.ErrUnavailable] and the reason. An open store
//     works again once the error is fixed.
//   - [Open] makes the schema and migrates it. The user in the URL must own the schema, or its
//     owner must open the store once after each upgrade.
package pgstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/group"
)

// ErrClosed is returned by every method of a Store after Close.
var ErrClosed = errors.New("pgstore: the store is closed")

// Options configures Open. The zero value is valid.
type Options struct {
	// RetryFor is how long a call waits for a database that is down, restarts or fails over.
	// Zero means 15 seconds; a negative duration means no wait.
	RetryFor time.Duration
	// Waiting, if not nil, is called when Open has waited for the database for a
	// second, with the reason, on a goroutine that has ended when Open returns.
	Waiting func(reason error)
	// Committed, if not nil, is called after each commit, or failed one, with how many
	// updates shared it and how long it took, including their reads and retries. The next
	// commit waits for it to return.
	Committed func(updates int, took time.Duration, err error)
}

// A Store is a [traintravel.Store] in a PostgreSQL database. It is safe for
// concurrent use.
type Store struct {
	pool     *pgxpool.Pool
	session  session
	schema   atomic.Pointer[string] // where the tables are, as SQL writes it; nil until that is known
	opened   atomic.Bool            // Open has succeeded
	retryFor time.Duration
	told     func(updates int, took time.Duration, err error) // Options.Committed, or nil
	queue    group.Queue
	lane     lane         // of the one who leads
	reading  sync.RWMutex // held by reads and views
	closed   atomic.Bool
	ready    atomic.Pointer[time.Time] // when the database last said that it takes writes
}

var _ traintravel.ReadyStore = (*Store)(nil)

// poolSize is how many connections a store opens unless the URL says
// pool_max_conns.
const poolSize = 16

// A lane is where one group at a time is committed. Its row in the database
// says which one was last.
type lane struct {
	id   uuid.UUID
	last int64
}

// Open connects to a database and makes or migrates its schema. Nil Options are the zero
// value.
//
// The URL is one of libpq's, as in
// postgres://user:password@host:5432/database?sslmode=verify-full, or a string of
// keywords and values. It may name several hosts, of which with
// target_session_attrs=read-write the one that accepts writes is used. Besides
// libpq's parameters it may have those of pgxpool (pool_max_conns, 16 by default)
// and settings of the session, such as search_path or statement_timeout.
//
// Parameters that the URL does not set come, as in other programs that use PostgreSQL, from
// the environment of the process (PGHOST, PGPASSWORD, PGSSLMODE and so on) and from the files
// of its user (~/.pgpass, ~/.pg_service.conf, ~/.postgresql). Open refuses an invalid URL with
// a [*traintravel.InvalidError]. No error shows the password.
//
// Open refuses a database that a newer version of this package wrote with an error that wraps
// [traintravel.ErrNewerData].
func Open(ctx context.Context, url string, opts *Options) (*Store, error) {
	if opts == nil {
		opts = &Options{}
	}
	config, err := parse(url)
	if err != nil {
		return nil, badURL(err)
	}
	s := &Store{session: newSession(config.ConnConfig.RuntimeParams), retryFor: opts.RetryFor, told: opts.Committed, lane: lane{id: uuid.New()}}
	s.session.configure(config, s.tables)
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, fmt.Errorf("pgstore: %w", err)
	}
	if s.retryFor == 0 {
		s.retryFor = 15 * time.Second
	}
	if err := s.connect(ctx, opts.Waiting); err != nil {
		s.pool.Close()
		return nil, err
	}
	s.opened.Store(true)
	return s, nil
}

// connect waits for the database and prepares it. If the context ends, the error includes the
// last error of the database.
func (s *Store) connect(ctx context.Context, waiting func(error)) error {
	var mu sync.Mutex
	reason := fmt.Errorf("no response from %v", s)
	var told sync.WaitGroup
	if waiting != nil {
		told.Add(1)
		tell := time.AfterFunc(time.Second, func() {
			defer told.Done()
			mu.Lock()
			why := reason
			mu.Unlock()
			waiting(why)
		})
		defer func() {
			if !tell.Stop() {
				told.Wait()
			}
		}()
	}
	err := s.retry(ctx, func(try context.Context) error {
		err := s.prepare(try, ctx)
		if err != nil && try.Err() == nil {
			mu.Lock()
			reason = err
			mu.Unlock()
		}
		return err
	})
	if ctx.Err() != nil && err != nil {
		return fmt.Errorf("pgstore: %w while waiting for the database: %w", ctx.Err(), reason)
	}
	return err
}

// tables is the schema that the tables are in, empty until that is known.
func (s *Store) tables() string {
	if schema := s.schema.Load(); schema != nil {
		return *schema
	}
	return ""
}

// parse reads a URL.
func parse(url string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	if splitPassword(url, &config.ConnConfig.Config) {
		return nil, errors.New(noURL)
	}
	if !given(url, "pool_max_conns") {
		config.MaxConns = poolSize
	}
	params := config.ConnConfig.RuntimeParams
	if _, ok := params["application_name"]; !ok {
		params["application_name"] = "traintravel"
	}
	return config, nil
}

// given says whether a URL, or a string of keywords and values, has a parameter.
func given(url, name string) bool {
	config, err := pgconn.ParseConfig(url) // which takes pgxpool's for the session's
	if err != nil {
		return false
	}
	_, ok := config.RuntimeParams[name]
	return ok
}

// Close waits for the updates, reads and views under way, and disconnects. Every
// later call is refused with ErrClosed; a second Close does nothing. Close must
// not be called in a closure given to View or Update.
func (s *Store) Close() error {
	s.closed.Store(true)
	s.queue.Close(ErrClosed)
	s.reading.Lock() // a view may not have a connection yet that the pool would wait for
	defer s.reading.Unlock()
	s.pool.Close()
	return nil
}

// Get implements [traintravel.Reader] on a snapshot of its own: it is one
// statement.
func (s *Store) Get(ctx context.Context, keys ...traintravel.Key) (values [][]byte, err error) {
	if len(keys) == 0 {
		return nil, ctx.Err()
	}
	err = s.read(ctx, func(ctx context.Context) error {
		values, err = get(ctx, s.pool, keys)
		return err
	})
	return values, err
}

// List implements [traintravel.Reader] on a snapshot of its own.
func (s *Store) List(ctx context.Context, r traintravel.Range) (records []traintravel.Record, err error) {
	err = s.read(ctx, func(ctx context.Context) error {
		records, err = list(ctx, s.pool, r)
		return err
	})
	return records, err
}

// View implements [traintravel.Store]. Its transaction begins with the first read.
func (s *Store) View(ctx context.Context, fn func(traintravel.Reader) error) error {
	s.reading.RLock()
	defer s.reading.RUnlock()
	if err := s.usable(ctx); err != nil {
		return err
	}
	v := &view{store: s}
	defer v.end()
	return fn(v)
}

// usable returns the error of a context that has ended or of a closed store.
func (s *Store) usable(ctx context.Context) error {
	if s.closed.Load() {
		return ErrClosed
	}
	return ctx.Err()
}

// read runs a read until it succeeds.
func (s *Store) read(ctx context.Context, fn func(context.Context) error) error {
	s.reading.RLock()
	defer s.reading.RUnlock()
	if err := s.usable(ctx); err != nil {
		return err
	}
	return s.retry(ctx, fn)
}

// A view reads one snapshot: a transaction that has one.
type view struct {
	store *Store
	conn  *pgxpool.Conn // nil before the first read
	dead  bool
}

const beginView = "begin isolation level repeatable read read only"

// Get implements [traintravel.Reader].
func (v *view) Get(ctx context.Context, keys ...traintravel.Key) (values [][]byte, err error) {
	if len(keys) == 0 {
		return nil, ctx.Err()
	}
	err = v.read(ctx, func(ctx context.Context, q querier) error {
		values, err = get(ctx, q, keys)
		return err
	})
	return values, err
}

// List implements [traintravel.Reader].
func (v *view) List(ctx context.Context, r traintravel.Range) (records []traintravel.Record, err error) {
	err = v.read(ctx, func(ctx context.Context, q querier) error {
		records, err = list(ctx, q, r)
		return err
	})
	return records, err
}

// read runs a read, the first one until it succeeds: nothing was seen before.
func (v *view) read(ctx context.Context, fn func(context.Context, querier) error) error {
	if v.dead {
		return group.ErrDead
	}
	if v.conn != nil {
		if err := fn(ctx, v.conn); err != nil {
			return v.store.failure(ctx, err)
		}
		return nil
	}
	return v.store.retry(ctx, func(ctx context.Context) error {
		conn, err := v.store.pool.Acquire(ctx)
		if err != nil {
			return err
		}
		if _, err = conn.Exec(ctx, beginView); err == nil {
			err = fn(ctx, conn)
		}
		if err != nil {
			conn.Release() // which closes what is in a transaction
			return err
		}
		v.conn = conn
		return nil
	})
}

func (v *view) end() {
	v.dead = true
	if v.conn == nil {
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	_, _ = v.conn.Exec(ctx, "rollback")
	v.conn.Release()
}
