package pgstore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/traintravel/traintravel"
)

// migrations bring the schema from one version to the next, by steps that never
// change once they were released. The first makes all tables; a table of a later
// version of the root package is made by a migration of its own.
//
// What of a table the database has to know is little: bytea compares by bytes;
// values are stored as they are, for they are dense; and those tables whose
// records change or go all the time are vacuumed early, with room in their pages
// for a changed record beside the old one.
var migrations = []string{
	`
create table traintravel_lock (id smallint primary key);
insert into traintravel_lock values (1);
create table traintravel_lanes (id uuid primary key, last bigint not null, at timestamptz not null) with (fillfactor = 50);
create table traintravel_meta (id bytea primary key, value bytea not null) with (fillfactor = 50);
create table traintravel_timetable (id bytea primary key, value bytea not null);
create table traintravel_bookings (id bytea primary key, value bytea not null) with (fillfactor = 85);
create table traintravel_owned (id bytea primary key, value bytea not null);
create table traintravel_runs (id bytea primary key, value bytea not null) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02);
create table traintravel_payments (id bytea primary key, value bytea not null) with (fillfactor = 85);
create table traintravel_idempotency (id bytea primary key, value bytea not null) with (autovacuum_vacuum_scale_factor = 0.05);
create table traintravel_agenda (id bytea primary key, value bytea not null) with (autovacuum_vacuum_scale_factor = 0.02);
alter table traintravel_timetable alter column value set storage external;
alter table traintravel_runs alter column value set storage external;
`,
	`
create table traintravel_sandbox (id bytea primary key, value bytea not null) with (fillfactor = 85);
create table traintravel_webhooks (id bytea primary key, value bytea not null);
create table traintravel_deliveries (id bytea primary key, value bytea not null) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
`,
	`
create table traintravel_references (id bytea primary key, value bytea not null);
`,
}

// prepare makes the schema, or brings it up to date. Of several servers that
// start at once one does it, and the others wait.
//
// A database that does not answer is given up when try ends. Making tables is not:
// it takes as long as it takes, and whoever cuts it short begins anew each time.
func (s *Store) prepare(try, ctx context.Context) error {
	conn, err := s.pool.Acquire(try)
	if err != nil {
		return err
	}
	defer conn.Release()
	version, err := schemaVersion(try, conn)
	if err != nil {
		return err
	}
	if version > 0 { // or else its tables could be divided among two schemas
		if err := s.stay(try, conn.Conn()); err != nil {
			return err
		}
	}
	if version != len(migrations) {
		if err := s.mayNot(s.migrate(ctx, conn.Conn())); err != nil {
			return err
		}
		return s.stay(ctx, conn.Conn())
	}
	// Whoever used these lanes knows by now what became of its updates.
	_, err = conn.Exec(try, "delete from traintravel_lanes where at < now() - interval '7 days'")
	return err
}

// stay has this connection and all later ones use the schema that the tables were
// found in, whatever the role's search_path becomes while the store is open: another
// one could have such tables too.
func (s *Store) stay(ctx context.Context, conn *pgx.Conn) error {
	var schema string
	const where = "select relnamespace::regnamespace::text from pg_class where oid = to_regclass('traintravel_schema')"
	if err := conn.QueryRow(ctx, where).Scan(&schema); err != nil {
		return err
	}
	s.schema.Store(&schema)
	return s.session.apply(ctx, conn, schema)
}

// schemaVersion is zero for a database without a schema of ours.
func schemaVersion(ctx context.Context, q querier) (version int, err error) {
	rows, err := q.Query(ctx, "select version from traintravel_schema")
	if err == nil {
		version, err = pgx.CollectExactlyOneRow(rows, pgx.RowTo[int])
	}
	var server *pgconn.PgError
	switch {
	case errors.As(err, &server) && server.Code == "42P01": // no such table
		return 0, nil
	case err == nil && version > len(migrations):
		return 0, ours{fmt.Errorf("pgstore: the database has schema version %d, but this program supports only versions up to %d: %w", version, len(migrations), traintravel.ErrNewerData)}
	}
	return version, err
}

func (s *Store) migrate(ctx context.Context, conn *pgx.Conn) error {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback(ctx)
	// Two processes that make the same table at once collide in the catalogue, even with
	// "if not exists"; the one that loses tries again.
	if _, err := tx.Exec(ctx, "create table if not exists traintravel_schema (id smallint primary key check (id = 1), version integer not null)"); err != nil {
		return collision(err)
	}
	if _, err := tx.Exec(ctx, "insert into traintravel_schema values (1, 0) on conflict do nothing"); err != nil {
		return err
	}
	var version int
	if err := tx.QueryRow(ctx, "select version from traintravel_schema where id = 1 for update").Scan(&version); err != nil {
		return err
	}
	for ; version < len(migrations); version++ {
		if _, err := tx.Exec(ctx, migrations[version], pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(ctx, "update traintravel_schema set version = $1 where version < $1", len(migrations)); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// mayNot adds what an administrator must do if the user may not make tables.
func (s *Store) mayNot(err error) error {
	var server *pgconn.PgError
	if !errors.As(err, &server) || server.Code != "42501" {
		return err
	}
	c := s.pool.Config().ConnConfig
	schema := c.RuntimeParams["search_path"]
	if schema == "" {
		schema = "public"
	}
	user := pgx.Identifier{c.User}.Sanitize()
	return ours{fmt.Errorf("pgstore: the user in the URL may not make tables: as an administrator of the database, run ALTER DATABASE %s OWNER TO %s or, in that database, GRANT CREATE ON SCHEMA %s TO %s: %w",
		pgx.Identifier{c.Database}.Sanitize(), user, schema, user, err)}
}

// collision makes the failure of whoever was second to make a table, its row type
// or its rows in the catalogue one that passes.
func collision(err error) error {
	var server *pgconn.PgError
	if errors.As(err, &server) && slices.Contains([]string{"23505", "42P07", "42710"}, server.Code) {
		server.Code = "40001"
	}
	return err
}
