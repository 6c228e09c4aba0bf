package pgstore_test

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/pgtest"
	"github.com/traintravel/traintravel/store/pgstore"
)

// hostile are settings that an administrator may have made for other programs, each of
// which would change what the store reads, keep it from its work, or make it less durable.
var hostile = [][2]string{
	{"bytea_output", "escape"},
	{"standard_conforming_strings", "off"},
	{"client_encoding", "LATIN1"},
	{"client_encoding", "SQL_ASCII"},
	{"client_min_messages", "error"},
	{"default_transaction_isolation", "serializable"},
	{"default_transaction_deferrable", "on"},
	{"idle_in_transaction_session_timeout", "0"},
	{"idle_session_timeout", "1min"},
	{"lock_timeout", "1min"},
	{"statement_timeout", "1min"},
	{"synchronous_commit", "off"},
	{"array_nulls", "off"},
	{"backslash_quote", "off"},
	{"DateStyle", "SQL, DMY"},
	{"TimeZone", "Asia/Kathmandu"},
	{"session_replication_role", "local"},
	{"transform_null_equals", "on"},
	{"plan_cache_mode", "force_generic_plan"},
	{"search_path", "elsewhere, public"},
}

// wanted is what the store's transactions have in place of those.
var wanted = map[string]string{
	"bytea_output": "hex", "standard_conforming_strings": "on", "client_encoding": "UTF8", "client_min_messages": "warning",
	"default_transaction_isolation": "read committed", "default_transaction_deferrable": "off",
	"idle_in_transaction_session_timeout": "5s", "idle_session_timeout": "0", "lock_timeout": "0", "statement_timeout": "0",
	"synchronous_commit": "on", "search_path": "public",
}

// octets are bytes of every kind that one of the text forms of bytea has to escape.
func octets() string {
	var b []byte
	for i := range 256 {
		b = append(b, byte(i), '\\', byte(i))
	}
	return `\x` + string(b) + `\\134'"`
}

// watch has a database note the settings of each transaction that writes bookings.
func watch(t *testing.T, admin *pgx.Conn) {
	t.Helper()
	exec(t, admin, "create table seen (name text primary key, value text)")
	exec(t, admin, `create function watch() returns trigger language plpgsql as $$
begin
	insert into public.seen select name, current_setting(name) from unnest('{`+strings.Join(slices.Collect(maps.Keys(wanted)), ",")+`}'::text[]) as name
	on conflict (name) do update set value = excluded.value;
	return null;
end $$`)
	exec(t, admin, "create trigger watch after insert or update on traintravel_bookings for each statement execute function watch()")
}

// seen checks what was noted.
func seen(t *testing.T, admin *pgx.Conn, want map[string]string) {
	t.Helper()
	rows, err := admin.Query(t.Context(), "select name, value from public.seen")
	if err != nil {
		t.Fatal(err)
	}
	var name, value string
	got := map[string]string{}
	if _, err := pgx.ForEachRow(rows, []any{&name, &value}, func() error {
		if _, ok := want[name]; ok {
			got[name] = value
		}
		return nil
	}); err != nil || !maps.Equal(got, want) {
		t.Errorf("the session has %v, %v; want %v", got, err, want)
	}
}

// exercise has a store read and write in every way.
func exercise(t *testing.T, s traintravel.Store, value string) {
	t.Helper()
	if err := s.Update(t.Context(), func(tx traintravel.Tx) error {
		if _, err := tx.Get(t.Context(), key("a"), key("none")); err != nil {
			return err
		}
		tx.Put(key("a"), []byte(value))
		tx.Put(key(value[:100]), nil)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	has(t, s, "a", value)
	if v, err := s.Get(t.Context(), key("a"), key(value[:100]), key("none")); err != nil || string(v[0]) != value || v[1] == nil || v[2] != nil {
		t.Fatalf("%q, %v", v, err)
	}
	if err := s.View(t.Context(), func(r traintravel.Reader) error {
		records, err := r.List(t.Context(), traintravel.Range{Table: traintravel.TableBookings, From: "\\", To: "b", Limit: 2})
		if err != nil || len(records) != 2 || records[0].ID != value[:100] || records[1].ID != "a" || string(records[1].Value) != value {
			t.Errorf("%q, %v", records, err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

var modes = []string{"cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol"}

// Whatever settings a database has for other programs, in whichever mode the driver
// sends statements, the store sets what it depends on.
func TestSettings(t *testing.T) {
	t.Parallel()
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			db := pgtest.Shared(t).NewDatabase(t)
			admin := connect(t, db)
			name := admin.Config().Database
			exec(t, admin, "create schema elsewhere")
			db += "&pool_max_conns=2&default_query_exec_mode=" + mode
			openFor(t, db, -1).Close()
			watch(t, admin)
			for i, set := range hostile {
				value := "'" + set[1] + "'"
				if set[0] == "search_path" { // a list
					value = set[1]
				}
				exec(t, admin, fmt.Sprintf("alter database %s set %s = %s", name, set[0], value))
				s := openFor(t, db, -1)
				exercise(t, s, fmt.Sprint(octets(), i))
				seen(t, admin, wanted)
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				exec(t, admin, fmt.Sprintf("alter database %s reset %s", name, set[0]))
			}
			answers(t, admin, "select count(*)::text from pg_tables where schemaname = 'elsewhere'", "0")
		})
	}
}

// A pooler may lead each transaction to a session that the store has not set up. What it
// reads there is right, and updates are as durable as ever.
func TestSettingsOfAnotherSession(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"exec", "simple_protocol"} {
		db := pgtest.Shared(t).NewDatabase(t)
		s := openFor(t, db+"&pool_max_conns=1&default_query_exec_mode="+mode, -1)
		admin := connect(t, db)
		watch(t, admin)
		var b strings.Builder
		b.WriteString("create function public.another() returns trigger language plpgsql as $$ begin\n")
		for _, set := range [][2]string{{"bytea_output", "escape"}, {"client_min_messages", "error"}, {"synchronous_commit", "off"}, {"idle_in_transaction_session_timeout", "1h"}} {
			fmt.Fprintf(&b, "perform set_config('%s', '%s', false);\n", set[0], set[1])
		}
		b.WriteString("return null; end $$")
		exec(t, admin, b.String())
		exec(t, admin, "create trigger another after insert or update on traintravel_meta execute function public.another()")
		err := s.Update(t.Context(), func(tx traintravel.Tx) error {
			tx.Put(traintravel.Key{Table: traintravel.TableMeta, ID: "a"}, nil)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		exercise(t, s, octets())
		seen(t, admin, map[string]string{"bytea_output": "escape", "client_min_messages": "warning", "synchronous_commit": "on", "idle_in_transaction_session_timeout": "5s"})
	}
}

// What the URL says of limits is left as it is.
func TestSettingsOfTheURL(t *testing.T) {
	t.Parallel()
	db := pgtest.Shared(t).NewDatabase(t)
	openURL(t, db)
	admin := connect(t, db)
	watch(t, admin)
	limits := map[string]string{"statement_timeout": "1min", "lock_timeout": "2min", "idle_session_timeout": "3min", "idle_in_transaction_session_timeout": "4min"}
	s := openFor(t, with(t, db, func(u *url.URL) {
		q := u.Query()
		for name, value := range limits {
			q.Set(name, value)
		}
		q.Set("bytea_output", "escape")
		q.Set("synchronous_commit", "off")
		q.Set("default_query_exec_mode", "exec")
		u.RawQuery = q.Encode()
	}), -1)
	exercise(t, s, octets())
	seen(t, admin, limits)
	seen(t, admin, map[string]string{"bytea_output": "hex", "synchronous_commit": "on"})
}

// A search_path that is changed while a store is open leads none of its connections to
// the tables of another installation.
func TestSearchPathChanges(t *testing.T) {
	t.Parallel()
	db := pgtest.Shared(t).NewDatabase(t)
	admin := connect(t, db)
	exec(t, admin, `create schema "The other"`)
	other := openFor(t, with(t, db, func(u *url.URL) { u.RawQuery += "&search_path=" + url.PathEscape(`"The other"`) }), never)
	s := openFor(t, db+"&pool_max_conns=1", never)
	for i, store := range []traintravel.Store{s, other} {
		if err := put(t.Context(), store, "a", fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	exec(t, admin, `alter database `+admin.Config().Database+` set search_path = "The other"`)
	exec(t, admin, "select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = current_database() and application_name = 'traintravel'")
	for i, store := range []traintravel.Store{s, other} {
		has(t, store, "a", fmt.Sprint(i))
	}
}

// A pooler that does not pass on a parameter of the URL is not a database that is away: the
// error says so at once, and what to do. The store itself asks for nothing but its name.
func TestPoolerRefusesParameter(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			back := pgproto3.NewBackend(c, c)
			if m, err := back.ReceiveStartupMessage(); err == nil {
				for name := range m.(*pgproto3.StartupMessage).Parameters {
					if !slices.Contains([]string{"user", "database", "application_name"}, name) {
						back.Send(&pgproto3.ErrorResponse{Severity: "FATAL", SeverityUnlocalized: "FATAL", Code: "08P01", Message: "unsupported startup parameter: " + name})
					}
				}
				back.Send(&pgproto3.ErrorResponse{Severity: "FATAL", SeverityUnlocalized: "FATAL", Code: "42501", Message: "no parameter was refused"})
				_ = back.Flush()
			}
			c.Close()
		}
	}()
	db := "postgres://anna:open-sesame@" + l.Addr().String() + "/db?sslmode=disable"
	for params, want := range map[string]string{
		"":                           "no parameter was refused",
		"&statement_timeout=1min":    `a pooler does not pass on statement_timeout: remove it from the URL and, as an administrator of the database, run ALTER ROLE "anna" SET statement_timeout = '1min'; or add it`,
		"&search_path=traintravel,x": `ALTER ROLE "anna" SET search_path = traintravel,x;`,
	} {
		_, err := pgstore.Open(t.Context(), db+params, &pgstore.Options{RetryFor: never})
		if err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, traintravel.ErrUnavailable) || strings.Contains(err.Error(), "sesame") {
			t.Errorf("%v; want %s", err, want)
		}
	}
}
