package pgstore

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
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
			return s.failure(ctx, err)
		}
		if onStandby(err) {
			if s.readOnly(ctx) {
				return fmt.Errorf("pgstore: %w: default_transaction_read_only is on: turn it off in the URL, for the user, for the database, or in the server's settings: %w", traintravel.ErrUnavailable, err)
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

// A verdict is what a failure means for the call that met it.
type verdict uint8

const (
	fault   verdict = iota // of this program, or of the data: no later call is better
	refused                // the database refuses until its administrator does something
	passing                // the database gets over it
)

// judge says what a failure means. What is not known is a fault.
func judge(err error) verdict {
	_, unread := errors.AsType[pgx.ScanArgError](err)
	switch {
	case unread, isOurs(err), errors.Is(err, traintravel.ErrNewerData),
		errors.Is(err, traintravel.ErrUnknownOutcome): // whatever it wraps: nothing may be done again
		return fault
	case untrusted(err), refusedParameter(err) != "":
		return refused
	}
	server, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		// The connection was lost or not made; or the answer was none that the
		// driver understands, which happens when the other end is cut off.
		return passing
	}
	if v, ok := verdicts[server.Code]; ok {
		return v
	}
	return verdicts[server.Code[:min(2, len(server.Code))]]
}

func passes(err error) bool { return judge(err) == passing }

// verdicts are those on the states of SQL, and on classes of them that have none of
// their own.
var verdicts = map[string]verdict{
	"08":    passing, // the connection, or a pooler is full; see refusedParameter
	"25006": passing, // a standby: it was the primary, or is going to be; see readOnly
	"25P03": passing, // we were taken for dead
	"25P04": passing, // the transaction took too long
	"28":    refused, // the role may not log in, pg_hba.conf does not let it, the password is another
	"3D":    refused, // the database does not exist
	"3F":    refused, // nor such a schema
	"40001": passing, // serialization failure
	"40P01": passing, // deadlock
	"42501": refused, // a permission is missing
	"42P01": refused, // the table does not exist, or the role cannot see it
	"53":    passing, // room, memory or connections
	"55000": refused, // the database accepts no connections
	"55006": passing, // somebody uses the database as a template
	"55P03": passing, // the lock was not available
	"57":    passing, // cancelled, shuts down, crashed, starts up
	"57P04": refused, // the database is dropped
	"58":    passing, // the disk, or the server behind a pooler
}

// refusedParameter returns the parameter of the URL that a pooler does not pass on, empty if
// the error is another one. Most errors of a pooler have the same SQLSTATE, so this compares
// the message.
func refusedParameter(err error) string {
	if server, ok := errors.AsType[*pgconn.PgError](err); ok && server.Code == "08P01" {
		if name, ok := strings.CutPrefix(server.Message, "unsupported startup parameter: "); ok {
			return name
		}
	}
	return ""
}

// untrusted says whether the server does not encrypt, or its certificate is not valid for it.
// It compares the driver's message where the driver has no type for the error.
func untrusted(err error) bool {
	_, bad := errors.AsType[*tls.CertificateVerificationError](err)
	return bad || strings.Contains(err.Error(), "server refused TLS connection")
}

// readOnly says whether the database is read-only because of a setting, and not because it is
// a standby.
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

// failure returns the error that callers get. If the database refuses an open store, the
// store is unavailable: it works again once the administrator has fixed the cause.
func (s *Store) failure(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, traintravel.ErrUnknownOutcome), isOurs(err):
		return err
	case passes(err), judge(err) == refused && s.opened.Load():
		return fmt.Errorf("pgstore: %w: %w", traintravel.ErrUnavailable, s.advised(err))
	}
	return fmt.Errorf("pgstore: %w", s.advised(err))
}

// advised adds a remedy to an error, if one is known.
func (s *Store) advised(err error) error {
	server, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return err
	}
	c := s.pool.Config().ConnConfig
	user, database := pgx.Identifier{c.User}.Sanitize(), pgx.Identifier{c.Database}.Sanitize()
	if name := refusedParameter(err); name != "" {
		value := c.RuntimeParams[name]
		if name != "search_path" { // a list of identifiers
			value = "'" + strings.ReplaceAll(value, "'", "''") + "'"
		}
		return fmt.Errorf("a pooler does not pass on %s: remove it from the URL and, as an administrator of the database, run ALTER ROLE %s SET %[1]s = %[3]s; or add it to the pooler's ignore_startup_parameters if it is not needed: %[4]w", name, user, value, err)
	}
	advice := ""
	switch server.Code {
	case "26000", "42P05":
		advice = "a pooler gives each transaction another connection: add default_query_exec_mode=exec to the URL"
	case "28000":
		advice = "the user in the URL may not connect: allow it in pg_hba.conf or, as an administrator of the database, run ALTER ROLE " + user + " LOGIN"
	case "28P01":
		advice = "the password in the URL is wrong: correct it, or set the user's password in the database"
	case "3D000", "57P04":
		advice = "the database " + database + " does not exist: restore it, or give another URL"
	case "3F000":
		advice = "the schema does not exist: create it, or correct the search_path of the URL or of the user"
	case "42501":
		advice = "the user in the URL lacks a permission: grant it"
	case "42P01":
		advice = "a table does not exist, or the user in the URL may not use its schema: restore the table, or grant usage of the schema"
	case "55000":
		advice = "the database accepts no connections: as an administrator of the server, run ALTER DATABASE " + database + " ALLOW_CONNECTIONS true"
	}
	if advice == "" {
		return err
	}
	return fmt.Errorf("%s: %w", advice, err)
}

// ours is an error that is not a failure of the database.
type ours struct{ error }

func (o ours) Unwrap() error { return o.error }

func isOurs(err error) bool {
	var o ours
	return errors.As(err, &o)
}
