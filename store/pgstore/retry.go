package pgstore

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/traintravel/traintravel"
)

// retry runs fn until it succeeds or fails for a reason that does not pass, for
// RetryFor at most, and says in our words why it did not.
func (s *Store) retry(ctx context.Context, fn func(context.Context) error) error {
	limit := max(s.retryFor, 0)
	began := time.Now()
	pause := 10 * time.Millisecond
	for {
		// A database that hangs must not hang its callers.
		try, stop := context.WithTimeout(ctx, max(limit-time.Since(began), time.Second))
		err := fn(try)
		stop()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil, !passes(err), time.Since(began)+pause >= limit:
			return failure(ctx, err)
		}
		if onStandby(err) {
			if s.readOnly(ctx) {
				return fmt.Errorf("pgstore: %w: default_transaction_read_only is on, in the URL or for the user or the database, or in the server's settings: %w", traintravel.ErrUnavailable, err)
			}
			s.pool.Reset() // the other connections may be there too
		}
		t := time.NewTimer(pause/2 + rand.N(pause))
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		}
		pause = min(2*pause, time.Second)
	}
}

// passes says whether a failure is one that a database gets over.
func passes(err error) bool {
	var server *pgconn.PgError
	if !errors.As(err, &server) {
		// The connection was lost or not made; or the answer was none that the
		// driver understands, which happens when the other end is cut off.
		return !untrusted(err) && !errors.Is(err, traintravel.ErrNewerData) && !errors.Is(err, traintravel.ErrUnknownOutcome) && !isOurs(err)
	}
	switch server.Code {
	case "40001", "40P01", // serialization failure, deadlock
		"25006",                            // a standby: it was the primary, or is going to be; see readOnly
		"25P03",                            // we were taken for dead
		"55P03",                            // the lock was not to be had
		"57014",                            // cancelled
		"57P01", "57P02", "57P03", "57P05": // shuts down, crashed, starts up
		return true
	}
	switch server.Code[:2] {
	case "08", "53": // the connection; room, memory or connections
		return true
	}
	return false
}

// untrusted says whether the server does not encrypt, or is not who it should be. It
// goes by the driver's words where that has no type for the error.
func untrusted(err error) bool {
	_, bad := errors.AsType[*tls.CertificateVerificationError](err)
	return bad || strings.Contains(err.Error(), "server refused TLS connection")
}

// readOnly says whether it is by a setting that the database takes no writes, and not
// because it is a standby.
func (s *Store) readOnly(ctx context.Context) (set bool) {
	ctx, stop := context.WithTimeout(ctx, time.Second)
	defer stop()
	err := s.pool.QueryRow(ctx, "select not pg_is_in_recovery() and current_setting('default_transaction_read_only') = 'on'").Scan(&set)
	return err == nil && set
}

func onStandby(err error) bool {
	var server *pgconn.PgError
	return errors.As(err, &server) && server.Code == "25006"
}

// failure says what a caller is told of an error.
func failure(ctx context.Context, err error) error {
	var server *pgconn.PgError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, traintravel.ErrUnknownOutcome), isOurs(err):
		return err
	case passes(err):
		return fmt.Errorf("pgstore: %w: %w", traintravel.ErrUnavailable, err)
	case errors.As(err, &server) && server.Code == "42501":
		return fmt.Errorf("pgstore: the user of the URL may not do that: %w", err)
	case errors.As(err, &server) && (server.Code == "26000" || server.Code == "42P05"):
		return fmt.Errorf("pgstore: a pooler gives each transaction another connection, so add default_query_exec_mode=exec to the URL: %w", err)
	}
	return fmt.Errorf("pgstore: %w", err)
}

// ours is an error that is no failure of the database.
type ours struct{ error }

func (o ours) Unwrap() error { return o.error }

func isOurs(err error) bool {
	var o ours
	return errors.As(err, &o)
}
