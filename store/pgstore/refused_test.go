package pgstore_test

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/pgtest"
	"github.com/traintravel/traintravel/store/pgstore"
)

// ask has a store do one of each, and returns what came of them.
func ask(ctx context.Context, s traintravel.Store) map[string]error {
	_, get := s.Get(ctx, key("a"))
	_, list := s.List(ctx, traintravel.Range{Table: traintravel.TableBookings})
	view := s.View(ctx, func(r traintravel.Reader) error { _, err := r.Get(ctx, key("a")); return err })
	return map[string]error{"Get": get, "List": list, "View": view, "Update": count(ctx, s, "n"), "an Update that reads nothing": put(ctx, s, "a", "1")}
}

// What an administrator does to the role, the database or the tables makes an open store
// unavailable, at once and with what is to be done; when that is undone, the store goes on.
func TestRefusedUntilMended(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		do, undo, says string
		wait           time.Duration
	}{
		"the role lost LOGIN":         {"alter role ANNA nologin", "alter role ANNA login", `ALTER ROLE "ANNA" LOGIN: `, never},
		"it has another password":     {"alter role ANNA password 'other'", "alter role ANNA password 'open-sesame'", "the password in the URL is wrong", never},
		"it may not connect any more": {"revoke connect on database TRAINS from public, ANNA", "grant connect on database TRAINS to ANNA", "the user in the URL lacks a permission", never},
		"no connections are allowed":  {"alter database TRAINS allow_connections false", "alter database TRAINS allow_connections true", `ALTER DATABASE "TRAINS" ALLOW_CONNECTIONS true`, never},
		"none are left for the role":  {"alter role ANNA connection limit 0", "alter role ANNA connection limit -1", "the store is unavailable", -1},
		"the database was renamed":    {"alter database TRAINS rename to TRAINS_away", "alter database TRAINS_away rename to TRAINS", `the database "TRAINS" does not exist`, never},
		"it may not read or write":    {"in revoke all on all tables in schema public from ANNA", "in grant all on all tables in schema public to ANNA", "the user in the URL lacks a permission", never},
		"it does not see the schema":  {"in revoke all on schema public from public, ANNA", "in grant all on schema public to ANNA", "a table does not exist", never},
		"tables are being replaced":   {"in alter schema public rename to away", "in alter schema away rename to public", "a table does not exist", never},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			server := pgtest.Shared(t)
			role := "role_" + strings.ReplaceAll(uuid.NewString(), "-", "")
			server.Query("create role " + role + " login password 'open-sesame'")
			t.Cleanup(func() { server.Query("drop role " + role) }) // when its database is gone
			db := server.NewDatabase(t)
			u, err := url.Parse(db)
			if err != nil {
				t.Fatal(err)
			}
			named := strings.NewReplacer("ANNA", role, "TRAINS", strings.Trim(u.Path, "/"))
			run := func(sql string) {
				t.Helper()
				sql, in := strings.CutPrefix(named.Replace(sql), "in ")
				if !in {
					server.Query(sql)
					return
				}
				admin := connect(t, db)
				exec(t, admin, sql)
				admin.Close(t.Context())
			}
			openFor(t, db, never).Close()
			run("in grant all on schema public to ANNA")
			run("in grant all on all tables in schema public to ANNA")
			u.User = url.UserPassword(role, "open-sesame")
			s := openFor(t, u.String(), c.wait)
			for what, err := range ask(t.Context(), s) {
				if err != nil {
					t.Fatal(what, err)
				}
			}
			const end = "select count(pg_terminate_backend(pid, 10000)) from pg_stat_activity where usename = 'ANNA'"
			run(end)
			run(c.do)
			says := named.Replace(c.says)
			for what, err := range ask(t.Context(), s) {
				if !errors.Is(err, traintravel.ErrUnavailable) || errors.Is(err, traintravel.ErrUnknownOutcome) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "sesame") {
					t.Errorf("%s: %v; want %s", what, err, says)
				}
			}
			if _, err := pgstore.Open(t.Context(), u.String(), &pgstore.Options{RetryFor: c.wait}); err == nil || errors.Is(err, traintravel.ErrUnavailable) != (c.wait < 0) {
				t.Errorf("Open: %v", err)
			}
			run(c.undo)
			if c.wait > 0 {
				run(end) // and not only on the connections that it has
			}
			for what, err := range ask(t.Context(), s) {
				if err != nil {
					t.Errorf("%s, when it is mended: %v", what, err)
				}
			}
		})
	}
}

// The SQLSTATE of an error says whether the store waits, the administrator must fix it, or it is
// a bug.
func TestStates(t *testing.T) {
	t.Parallel()
	db := pgtest.Shared(t).NewDatabase(t)
	waits, refuses := openFor(t, db, -1), openFor(t, db, never)
	admin := connect(t, db)
	exec(t, admin, "create function fail() returns trigger language plpgsql as $$ begin raise exception using errcode = convert_from(new.value, 'UTF8'), message = 'on purpose'; end $$")
	exec(t, admin, "create trigger fail before insert on traintravel_bookings for each row execute function fail()")
	const unavailable, faulty = true, false
	for state, want := range map[string]bool{
		"08000": unavailable, "08006": unavailable, // the connection
		"22003": faulty, "23514": faulty, "25P02": faulty, "42703": faulty, "42883": faulty, "54000": faulty, "0A000": faulty, "P0001": faulty,
		"25006": unavailable, // it takes no writes
		"25P03": unavailable, "25P04": unavailable, "40001": unavailable, "40P01": unavailable,
		"28000": unavailable, "28P01": unavailable, // who may connect
		"3D000": unavailable, "3F000": unavailable, "42P01": unavailable, "42501": unavailable,
		"53000": unavailable, "53100": unavailable, "53200": unavailable, "53300": unavailable, "53400": unavailable, // room, memory, connections
		"55000": unavailable, "55006": unavailable, "55P03": unavailable,
		"57000": unavailable, "57014": unavailable, "57P01": unavailable, "57P02": unavailable, "57P03": unavailable, "57P04": unavailable, "57P05": unavailable,
		"58000": unavailable, "58030": unavailable, // its disk
		"XX000": faulty, "XX001": faulty,
	} {
		s := waits
		if slices.Contains([]string{"28000", "28P01", "3D000", "3F000", "42P01", "42501", "55000", "57P04"}, state) {
			s = refuses // nobody waits for an administrator
		}
		err := put(t.Context(), s, "a", state)
		if err == nil || errors.Is(err, traintravel.ErrUnavailable) != want || errors.Is(err, traintravel.ErrUnknownOutcome) || !strings.Contains(err.Error(), "on purpose") {
			t.Errorf("%s: %v; want it unavailable: %t", state, err, want)
		}
	}
	has(t, waits, "a", "")
}
