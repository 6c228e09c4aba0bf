package pgstore_test

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/pgtest"
	"github.com/traintravel/traintravel/store/pgstore"
)

// connect opens a connection that knows nothing of a store.
func connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func exec(t testing.TB, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

// answers expects what a query returns, as text.
func answers(t testing.TB, conn *pgx.Conn, sql, want string) {
	t.Helper()
	var got string
	if err := conn.QueryRow(t.Context(), sql).Scan(&got); err != nil || got != want {
		t.Errorf("%s: %q, %v; want %q", sql, got, err, want)
	}
}

// Many servers that start at once on an empty database make its schema once.
func TestOpenAtOnce(t *testing.T) {
	t.Parallel()
	db := pgtest.Shared(t).NewDatabase(t)
	var wg sync.WaitGroup
	start := make(chan struct{})
	for range 20 {
		wg.Go(func() {
			<-start
			s, err := pgstore.Open(t.Context(), db+"&pool_max_conns=2", &pgstore.Options{RetryFor: never})
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			if err := count(t.Context(), s, "n"); err != nil {
				t.Error(err)
			}
		})
	}
	close(start)
	wg.Wait()
	has(t, openURL(t, db), "n", "20")
	conn := connect(t, db)
	answers(t, conn, "select string_agg(id || ' ' || version, ',') from traintravel_schema", "1 3")
	answers(t, conn, "select string_agg(id::text, ',') from traintravel_lock", "1")
	for _, table := range traintravel.Tables() {
		answers(t, conn, "select count(*)::text from pg_tables where tablename = 'traintravel_"+table.String()+"'", "1")
	}
}

// A schema of version 1 lacks the tables of the sandbox, of webhooks and of references, and gets them;
// what is in the others stays.
func TestOlderSchema(t *testing.T) {
	t.Parallel()
	db := pgtest.Shared(t).NewDatabase(t)
	s := openURL(t, db)
	if err := count(t.Context(), s, "n"); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, db)
	exec(t, conn, "drop table traintravel_sandbox, traintravel_webhooks, traintravel_deliveries, traintravel_references")
	exec(t, conn, "update traintravel_schema set version = 1")
	s = openURL(t, db)
	has(t, s, "n", "1")
	answers(t, conn, "select version::text from traintravel_schema", "3")
	k := traintravel.Key{Table: traintravel.TableSandbox, ID: "id"}
	err := s.Update(t.Context(), func(tx traintravel.Tx) error {
		tx.Put(k, []byte("value"))
		return nil
	})
	if v, errGet := s.Get(t.Context(), k); err != nil || errGet != nil || string(v[0]) != "value" {
		t.Errorf("%q, %v, %v", v, err, errGet)
	}
}

// A schema that a newer version made is left alone.
func TestNewerData(t *testing.T) {
	t.Parallel()
	db := pgtest.Shared(t).NewDatabase(t)
	openURL(t, db)
	exec(t, connect(t, db), "update traintravel_schema set version = 77")
	_, err := pgstore.Open(t.Context(), db, &pgstore.Options{RetryFor: never})
	if !errors.Is(err, traintravel.ErrNewerData) || !strings.Contains(err.Error(), "version 77") || !strings.Contains(err.Error(), "versions up to 3") {
		t.Errorf("%v", err)
	}
}

// with changes a URL.
func with(t testing.TB, text string, change func(*url.URL)) string {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	change(u)
	return u.String()
}

// What does not pass is told at once, without the password.
func TestOpenRefused(t *testing.T) {
	t.Parallel()
	db := pgtest.Shared(t).NewDatabase(t)
	made := pgtest.Shared(t).NewDatabase(t)
	openURL(t, made)
	const secret = "open-sesame"
	conn := connect(t, made)
	name := strings.TrimPrefix(conn.Config().Database, "test_")
	nobody, reader := "nobody_"+name, "reader_"+name
	for _, role := range []string{nobody, reader} {
		exec(t, conn, "create role "+role+" login password '"+secret+"'")
		t.Cleanup(func() {
			for _, sql := range []string{"drop owned by " + role, "drop role " + role} {
				if _, err := conn.Exec(context.Background(), sql); err != nil {
					t.Error(err)
				}
			}
		})
	}
	exec(t, conn, "grant select on all tables in schema public to "+reader)
	user := func(name string) func(*url.URL) {
		return func(u *url.URL) { u.User = url.UserPassword(name, secret) }
	}
	const notURL = "want a URL such as postgres://user:password@host"
	for what, c := range map[string]struct{ url, want string }{
		"a wrong password":           {with(t, db, user("postgres")), "password authentication failed"},
		"a user that is not":         {with(t, db, user("nemo")), "password authentication failed"},
		"a database that is not":     {with(t, db, func(u *url.URL) { u.Path = "nemo" }), `database "nemo" does not exist`},
		"may not make tables":        {with(t, db, user(nobody)), "GRANT CREATE ON SCHEMA public TO \"" + nobody + "\""},
		"may not read":               {with(t, made, user(nobody)), "the user in the URL lacks a permission"},
		"may not write":              {with(t, made, user(reader)), "the user in the URL lacks a permission"},
		"a schema that is not":       {db + "&search_path=nemo", "no schema has been selected"},
		"a setting that is not":      {db + "&nemo=1", `unrecognized configuration parameter "nemo"`},
		"no URL":                     {"postgres://anna:" + secret + "@[/db", notURL},
		"a port that is none":        {"postgres://anna:" + secret + "@localhost:x/db", notURL},
		"a number that is none":      {"postgres://anna:" + secret + "@localhost/db?pool_max_conns=x", "cannot parse"},
		"keywords":                   {"user=anna password=" + secret + " port=x", notURL},
		"keywords, a number is none": {"user=anna password=" + secret + " pool_max_conns=x", "cannot parse"},
		"no TLS":                     {strings.Replace(db, "sslmode=disable", "sslmode=require", 1), "server refused TLS connection"},
		"a word":                     {"traintravel", notURL},
		"a blank":                    {"postgres://anna:open sesame@localhost/db", "%20 for a blank"},
		"a percent sign":             {"postgres://anna:open%sesame@localhost/db", "%25 for %"},
	} {
		s, err := pgstore.Open(t.Context(), c.url, &pgstore.Options{RetryFor: never})
		if err == nil {
			s.Close()
		}
		u, _ := url.Parse(db)
		password, _ := u.User.Password()
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, traintravel.ErrUnavailable) {
			t.Errorf("%s: %v; want %s", what, err, c.want)
		} else if strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), password) {
			t.Errorf("%s: the password is told: %v", what, err)
		}
	}
}

// Nobody at the address is what may pass.
func TestOpenUnreachable(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	_, err = pgstore.Open(t.Context(), "postgres://anna:open-sesame@"+addr+"/db?sslmode=disable", &pgstore.Options{RetryFor: -1})
	if !errors.Is(err, traintravel.ErrUnavailable) || !strings.Contains(err.Error(), addr) || strings.Contains(err.Error(), "sesame") {
		t.Errorf("%v", err)
	}
}

// A database that takes no writes by a setting is not waited for as a standby is.
func TestOpenReadOnly(t *testing.T) {
	t.Parallel()
	db := pgtest.Shared(t).NewDatabase(t)
	setting := db + "&default_transaction_read_only=on"
	for range 2 { // without tables, and with them
		_, err := pgstore.Open(t.Context(), setting, &pgstore.Options{RetryFor: time.Hour})
		if !errors.Is(err, traintravel.ErrUnavailable) || !strings.Contains(err.Error(), "default_transaction_read_only is on") {
			t.Errorf("%v", err)
		}
		openURL(t, db)
	}
}

// Open reports the reason while it waits for a database, and when it gives up.
func TestOpenWaits(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // which answers nobody
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for _, l := range []struct{ addr, reason string }{
		{closed.Addr().String(), "refused"},
		{silent.Addr().String(), "no response from"},
	} {
		ctx, stop := context.WithCancel(t.Context())
		var told []error
		_, err := pgstore.Open(ctx, "postgres://anna:open-sesame@"+l.addr+"/db?sslmode=disable", &pgstore.Options{
			RetryFor: time.Hour,
			Waiting: func(reason error) {
				told = append(told, reason)
				stop()
			},
		})
		if len(told) != 1 || !errors.Is(err, context.Canceled) {
			t.Fatalf("told %v, and %v", told, err)
		}
		for _, err := range []error{told[0], err} {
			if !strings.Contains(err.Error(), l.addr) || !strings.Contains(err.Error(), l.reason) || strings.Contains(err.Error(), "sesame") {
				t.Errorf("%v", err)
			}
		}
	}
}
