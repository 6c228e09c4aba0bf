package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/store/boltstore"
	"github.com/traintravel/traintravel/store/pgstore"
)

// storage are the flags that say where the data is: in a file, which belongs to
// one process at a time, or in a database, which servers share.
type storage struct {
	data, postgres string
	given          bool          // a flag says where; check sets it
	lockWait       time.Duration // until another process lets go of the file; zero is a second
}

const defaultData = "traintravel.db"

func (s *storage) flags(f *pflag.FlagSet) {
	s.bothFlags(f)
	exclude(f, "data", "postgres")
}

// bothFlags are the flags of a command that takes data from a file to a database.
func (s *storage) bothFlags(f *pflag.FlagSet) {
	f.StringVar(&s.data, "data", defaultData, "data `file`")
	f.StringVar(&s.postgres, "postgres", "", "`URL` of a PostgreSQL database to use instead of the data file, such as postgres://user@host/database; the password may be in the URL, in PGPASSWORD or in a password file")
}

// check returns an error if the flags name two places for the data, or none.
func (s *storage) check(f *pflag.FlagSet) error {
	s.given = s.shared() || f.Changed("data")
	if s.data == "" {
		return usagef("--data is empty: give the path of a file, or leave the flag out to use %s", defaultData)
	}
	if s.shared() && f.Changed("data") {
		return usagef("--data and --postgres (or TRAINTRAVEL_DATA and TRAINTRAVEL_POSTGRES) exclude each other: give one of them")
	}
	if f.Changed("postgres") && !s.shared() {
		return usagef("--postgres is empty: give the URL of a database, or leave the flag out to use a data file")
	}
	if strings.Contains(s.data, "://") {
		return usagef("invalid --data %.200q: want a file, not a URL; for a PostgreSQL database give --postgres", withoutSecrets(s.data))
	}
	return s.checkURL()
}

// checkURL returns an error if the URL of the database is invalid.
func (s *storage) checkURL() error {
	if !s.shared() {
		return nil
	}
	return postgresError(pgstore.CheckURL(s.postgres))
}

// shared says whether the data is in a database.
func (s *storage) shared() bool { return s.postgres != "" }

// named says which data it is.
func (s *storage) named() string {
	if s.shared() {
		return "this database"
	}
	return "the data file " + s.data
}

// A closableStore is a store that is open.
type closableStore interface {
	traintravel.Store
	Close() error
}

// open opens the store, or makes it. committed is told of its commits, unless it is nil.
func (s *storage) open(ctx context.Context, log *slog.Logger, committed func(int, time.Duration, error)) (closableStore, error) {
	if s.shared() {
		opts := saying(log)
		opts.Committed = committed
		store, err := openPostgres(ctx, s.postgres, opts)
		if err != nil { // not a nil *pgstore.Store
			return nil, err
		}
		return store, nil
	}
	if err := dataFolder(s.data); err != nil {
		return nil, err
	}
	store, err := boltstore.Open(s.data, &boltstore.Options{LockTimeout: s.lockWait, Committed: committed})
	if err != nil {
		return nil, err
	}
	return store, nil
}

// saying are options that log when the store waits for the database.
func saying(log *slog.Logger) *pgstore.Options {
	return &pgstore.Options{Waiting: func(reason error) {
		log.Warn("waiting for PostgreSQL", "reason", oneLine{reason})
	}}
}

func openPostgres(ctx context.Context, url string, opts *pgstore.Options) (*pgstore.Store, error) {
	store, err := pgstore.Open(ctx, url, opts)
	if err != nil {
		return nil, postgresError(err)
	}
	return store, nil
}

// postgresError is an error of the package of the database, with the flag that it is about.
func postgresError(err error) error {
	if e, ok := errors.AsType[*traintravel.InvalidError](err); ok {
		return usagef("invalid --postgres: %s", e.Reason)
	}
	if err != nil {
		return fmt.Errorf("cannot open --postgres: %w", oneLine{err})
	}
	return nil
}

// oneLine is an error in one line: the driver writes one for each address that
// it has tried.
type oneLine struct{ error }

func (e oneLine) Error() string {
	var all []string
	for line := range strings.Lines(e.error.Error()) { // the same address is tried with and without TLS
		if line = strings.Join(strings.Fields(line), " "); !slices.Contains(all, line) {
			all = append(all, line)
		}
	}
	return strings.TrimPrefix(strings.Join(all, " "), "pgstore: ")
}

func (e oneLine) Unwrap() error { return e.error }

// explain says what to do about a store that is closed.
func (s *storage) explain(err error) error {
	switch {
	case errors.Is(err, traintravel.ErrCopying):
		return fmt.Errorf("%w: run '%s migrate' again to finish it, or give another database", err, ourName())
	case errors.Is(err, traintravel.ErrMoved) && !s.shared():
		return fmt.Errorf("%w: give serve --postgres, or run '%s migrate' again if it was interrupted. To use the file again, without what the database has sold since, run '%[2]s migrate --undo --data %s'",
			err, ourName(), shellWord(s.data))
	}
	return err
}

// dataFolder returns an error unless the folder of a data file exists.
func dataFolder(data string) error {
	dir := filepath.Dir(data)
	switch info, err := os.Stat(dir); {
	case err != nil:
		return fmt.Errorf("--data %s: cannot use its folder: %w", data, err)
	case !info.IsDir():
		return fmt.Errorf("--data %s: %s is not a folder", data, dir)
	}
	return nil
}
