package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/keys"
	"github.com/traintravel/traintravel/internal/pgtest"
	"github.com/traintravel/traintravel/store/boltstore"
	"github.com/traintravel/traintravel/store/pgstore"
)

// Servers that start together on an empty database load one demo network and sell the same
// trains, also after an import.
func TestServePostgres(t *testing.T) {
	t.Parallel()
	database := pgtest.Shared(t).NewDatabase(t)
	ring := filepath.Join(t.TempDir(), "keys.json")
	if _, err := keys.Create(ring); err != nil {
		t.Fatal(err)
	}
	var servers [3]*running
	var all sync.WaitGroup
	for i := range servers {
		all.Go(func() {
			servers[i] = start(t, "serve", "--postgres", database, "--keys", ring, "--base-url", shownBase)
		})
	}
	if all.Wait(); t.Failed() {
		return
	}
	_, token, stderr := once(t, []string{"TRAINTRAVEL_POSTGRES=" + database}, "token", "--user", "anna", "--keys", ring)
	token = strings.TrimSpace(token)
	day := time.Now().AddDate(0, 0, 2).Format(time.DateOnly)
	id := servers[0].book(token, day, "")
	for _, s := range servers[1:] {
		s.call(token, "GET", "/bookings/"+id, "", http.StatusOK)
		if got := s.stderr.String(); strings.Contains(got, "level=ERROR") || strings.Contains(got, "base URL") {
			t.Errorf("it says %s%s", stderr, got)
		}
	}
	if out := servers[0].stdout.String(); !strings.Contains(out, `--scope "read write" --keys `+ring+")") {
		t.Errorf("it says how to make a token: %s", out)
	}

	code, out, stderr := once(t, nil, "import", writeFeed(t, "1"), "--postgres", database)
	if code != 0 || !strings.Contains(out, "2 stations") {
		t.Fatalf("import: %d, %s%s", code, out, stderr)
	}
	for _, s := range servers {
		for len(s.call(token, "GET", "/stations", "", http.StatusOK)["data"].([]any)) != 2 {
			time.Sleep(50 * time.Millisecond)
		}
		s.call(token, "GET", "/bookings/"+id, "", http.StatusOK)
		if code := s.stop(); code != 0 {
			t.Errorf("stopped, it ends with %d: %s", code, s.stderr)
		}
	}
	// One that starts now leaves the timetable as it is.
	late := start(t, "serve", "--postgres", database, "--keys", ring)
	if !strings.Contains(late.stderr.String(), "--base-url and --keys") {
		t.Errorf("it does not say what servers share: %s", late.stderr)
	}
	store, err := openPostgres(t.Context(), database, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	service, err := traintravel.New(store, traintravel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if list, err := service.Stations(t.Context(), traintravel.StationQuery{}); err != nil || len(list.Items) != 2 {
		t.Errorf("%d stations, %v", len(list.Items), err)
	}
}

// An error about the database is one line, without the password.
func TestPostgresErrors(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	database := server.NewDatabase(t)
	wrong, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := wrong.User.Password()
	wrong.User = url.UserPassword(wrong.User.Username(), "geheim")
	nowhere := *wrong
	nowhere.Path = "/nowhere"
	nowhere.User = url.UserPassword(wrong.User.Username(), password)
	newer := *wrong // the one that Query is for
	newer.User, newer.Path = nowhere.User, "/postgres"
	store, err := openPostgres(t.Context(), newer.String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	store.Close()
	server.Query("update traintravel_schema set version = 999")
	both := []string{"--data and --postgres", "give one of them"}
	for _, c := range []struct {
		args    []string
		environ []string
		code    int
		want    []string
	}{
		{[]string{"serve", "--postgres", ""}, nil, 2, []string{"--postgres is empty"}},
		{[]string{"serve", "--data", "x.db", "--postgres", database}, nil, 2, both},
		{[]string{"import", "feed.zip", "--data", "x.db", "--postgres", database}, nil, 2, both},
		{[]string{"token", "--user", "anna", "--data", "x.db", "--postgres", database}, nil, 2, both},
		{[]string{"serve"}, []string{"TRAINTRAVEL_DATA=x.db", "TRAINTRAVEL_POSTGRES=" + database}, 2, both},
		{[]string{"serve", "--postgres", wrong.String()}, nil, 1, []string{"--postgres: ", "password authentication failed"}},
		{[]string{"import", writeFeed(t, "1")}, []string{"TRAINTRAVEL_POSTGRES=" + wrong.String()}, 1, []string{"--postgres: ", "password authentication failed"}},
		{[]string{"serve", "--postgres", nowhere.String()}, nil, 1, []string{"--postgres: ", `"nowhere" does not exist`}},
		{[]string{"serve", "--postgres", newer.String()}, nil, 1, []string{"--postgres: ", "schema version 999", "newer version"}},
		{[]string{"serve", "--postgres", "postgres://u:geheim@h:x/db"}, nil, 2, []string{"invalid --postgres: want a URL such as"}},
		{[]string{"serve", "--postgres", "postgres://u@h/db?password=geheim&sslmode=nope"}, nil, 2, []string{"invalid --postgres: ", "sslmode"}},
		{[]string{"migrate", "--postgres", database, "--data", filepath.Join(t.TempDir(), "none.db")}, nil, 1, []string{"data file ", "none.db not found"}},
		{[]string{"migrate"}, nil, 2, []string{"--postgres", "--undo"}},
	} {
		if c.args[0] == "serve" {
			c.args = append(c.args, "--addr", "127.0.0.1:0", "--keys", filepath.Join(t.TempDir(), "keys.json"))
		}
		code, stdout, stderr := once(t, c.environ, c.args...)
		said, _, _ := strings.Cut(stderr, "\nTry '")
		lines := strings.Split(strings.TrimSpace(said), "\n")
		last := lines[len(lines)-1]
		for _, want := range c.want {
			if !strings.Contains(last, want) {
				t.Errorf("%v: %s, without %q", c.args, stderr, want)
			}
		}
		if code != c.code || stdout != "" || strings.Contains(stderr, "geheim") || strings.Contains(stderr, password) {
			t.Errorf("%v: %d, %s%s", c.args, code, stdout, stderr)
		}
	}

	// As those that wait for a database that is away.
	for _, bad := range []string{
		"postgres://u:geheim@127.0.0.1:1/db", "postgres://u:geheim@127.0.0.1:1,127.0.0.1:2/db", "postgres://u:1/geheim@h/db", "postgres://u:gehe/im@h/db",
		"postgres://u:ge%heim@h/db", "mysql://u:geheim@h/db", "host=h password=geheim port=x", "host=h password='geheim", "geheim",
		"postgres://u:geheim@127.0.0.1:1/db?pool_max_conns=x", "postgres://u:geheim@127.0.0.1:1/db?connect_timeout=x",
	} {
		_, err := openPostgres(t.Context(), bad, &pgstore.Options{RetryFor: -1})
		if err == nil || strings.Contains(err.Error(), "geh") || strings.Contains(err.Error(), "heim") ||
			!strings.Contains(err.Error(), " --postgres: ") || strings.ContainsAny(err.Error(), "\n\t") {
			t.Errorf("%s: %v", bad, err)
		}
		if away := strings.Contains(bad, ":1/db") && !strings.Contains(bad, "=x"); away && (!errors.Is(err, traintravel.ErrUnavailable) || !strings.Contains(err.Error(), "127.0.0.1:1")) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// A file is sold from, moved, and sold from where it is then: bookings, tokens and
// keys of requests are good as before.
func TestMigrate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, database := filepath.Join(dir, "trains.db"), pgtest.Shared(t).NewDatabase(t)
	ring := ownKeys(data)
	file := start(t, "serve", "--data", data, "--base-url", shownBase)
	_, token, _ := once(t, nil, "token", "--user", "anna", "--data", data)
	token = strings.TrimSpace(token)
	day := time.Now().AddDate(0, 0, 2).Format(time.DateOnly)
	trips := "/trips?origin=" + berlin + "&destination=" + paris + "&date=" + day
	trip := file.call(token, "GET", trips, "", 200)["data"].([]any)[0].(map[string]any)
	order := fmt.Sprintf(`{"trip_id": %q, "passenger_name": "John Doe"}`, trip["id"])
	held := file.call(token, "POST", "/bookings", order, 201)["id"].(string)
	paid := file.book(token, day, "")

	move := []string{"migrate", "--data", data, "--postgres", database}
	if code, _, stderr := once(t, nil, move...); code != 1 || !strings.Contains(stderr, "in use") {
		t.Errorf("while it is served: %d, %s", code, stderr)
	}
	file.stop()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var out, errs output
	if code := run(ctx, move, &out, &errs, nil); code != 1 {
		t.Errorf("stopped at once: %d, %s%s", code, &out, &errs)
	}
	code, stdout, stderr := once(t, nil, move...)
	bare, hidden := withoutPassword(database)
	next := "export TRAINTRAVEL_POSTGRES=" + shellWord(bare) + " PGPASSWORD=…\n  "
	if code != 0 || !hidden || !strings.Contains(stdout, " records to PostgreSQL database test_") || !strings.Contains(stdout, next) ||
		!strings.Contains(stdout, " serve --base-url "+shownBase+" --keys "+ring+"\n") {
		t.Fatalf("%d, %s%s", code, stdout, stderr)
	}
	if code, stdout, stderr := once(t, nil, move...); code != 0 || !strings.Contains(stdout, data+" was already moved to PostgreSQL database test_") ||
		!strings.Contains(stdout, "already") || !strings.Contains(stdout, next) || stderr != "" {
		t.Errorf("again: %d, %s%s", code, stdout, stderr)
	}
	elsewhere := pgtest.Shared(t).NewDatabase(t)
	if code, _, stderr := once(t, nil, "migrate", "--data", data, "--postgres", elsewhere); code != 1 || !strings.Contains(stderr, "give --postgres the database that has the data") ||
		!strings.Contains(stderr, "migrate --undo --data "+data) {
		t.Errorf("elsewhere: %d, %s", code, stderr)
	}
	for _, args := range [][]string{
		{"serve", "--data", data, "--addr", "127.0.0.1:0"},
		{"import", writeFeed(t, "1"), "--data", data},
	} {
		code, stdout, stderr := once(t, nil, args...)
		if code != 1 || !strings.Contains(stderr, "was moved to PostgreSQL database test_") || !strings.Contains(stderr, "migrate --undo --data "+data) {
			t.Errorf("%v: %d, %s%s", args, code, stdout, stderr)
		}
	}

	server := start(t, "serve", "--postgres", database, "--keys", ring, "--base-url", shownBase)
	if again := server.call(token, "GET", trips, "", 200)["data"].([]any)[0].(map[string]any); again["id"] != trip["id"] {
		t.Errorf("the trip was %v and is %v", trip["id"], again["id"])
	}
	server.call(token, "GET", "/bookings/"+held, "", 200)
	pay := fmt.Sprintf(`{"amount": %v, "currency": %q, "source": {"object": "card", "name": "J. Doe", "number": "4242424242424242",
		"cvc": "123", "exp_month": 12, "exp_year": 2099, "address_country": "gb"}}`, trip["price"], trip["currency"])
	if p := server.call(token, "POST", "/bookings/"+held+"/payment", pay, 200); p["status"] != "succeeded" {
		t.Errorf("paying: %v", p)
	}
	server.call(token, "DELETE", "/bookings/"+paid, "", 204)
	server.book(token, day, "")
	server.stop()

	// Gone back to on purpose, the file is as it was.
	if code, _, stderr := once(t, []string{"TRAINTRAVEL_POSTGRES=" + database}, "migrate", "--undo", "--data", data); code != 0 {
		t.Fatalf("undo: %d, %s", code, stderr)
	}
	if code, _, stderr := once(t, nil, "migrate", "--undo", "--data", data); code != 1 || !strings.Contains(stderr, "has not moved") {
		t.Errorf("undo again: %d, %s", code, stderr)
	}
	if code, _, stderr := once(t, nil, move...); code != 1 || !strings.Contains(stderr, "the target is not empty") || !strings.Contains(stderr, "the data of this store was moved") {
		t.Errorf("into a database that was given up: %d, %s", code, stderr)
	}
	if code, _, stderr := once(t, nil, "serve", "--postgres", database, "--keys", ring); code != 1 || !strings.Contains(stderr, "was moved to the store that it had come from") {
		t.Errorf("the database: %d, %s", code, stderr)
	}
	file = start(t, "serve", "--data", data, "--base-url", shownBase)
	file.call(token, "GET", "/bookings/"+paid, "", 200)
	file.stop()
}

// The printed URL of a database has no password.
func TestWithoutPassword(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"postgres://u@h/d":                                   "postgres://u@h/d",
		"postgres://u:geheim@h/d?sslmode=require":            "postgres://u@h/d?sslmode=require",
		"postgres://u:geheim@h,i/d":                          "postgres://u@h,i/d",
		"postgresql://h/d?password=geheim&user=u":            "postgresql://h/d?user=u",
		"host=h password=geheim":                             "URL",
		"host=h password='geheim' dbname=d user=u":           "URL",
		"postgres://u:ge%20heim@10.0.0.1:5432,10.0.0.2:5/db": "URL",
	} {
		got, hidden := withoutPassword(text)
		if got != want && (want != "URL" || strings.Contains(got, "heim")) || hidden != strings.Contains(text, "heim") {
			t.Errorf("%s: %s, %v", text, got, hidden)
		}
	}
}

// A server that finds half of a copy does not sell it.
func TestServeHalfACopy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, database := filepath.Join(dir, "trains.db"), pgtest.Shared(t).NewDatabase(t)
	if code, _, stderr := once(t, nil, "import", writeFeed(t, "1"), "--data", data); code != 0 {
		t.Fatal(stderr)
	}
	from, err := boltstore.Open(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	to, err := openPostgres(t.Context(), database, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	err = traintravel.Copy(ctx, to, from, traintravel.CopyOptions{Progress: func(int64, int64) { stop() }})
	if err := errors.Join(from.Close(), to.Close()); err != nil || ctx.Err() == nil {
		t.Fatal(err)
	}
	if err == nil {
		t.Fatal("it was not stopped")
	}
	serve := []string{"serve", "--postgres", database, "--keys", filepath.Join(dir, "keys.json"), "--addr", "127.0.0.1:0"}
	if code, _, stderr := once(t, nil, serve...); code != 1 || !strings.Contains(stderr, "has not completed") || !strings.Contains(stderr, "migrate' again") {
		t.Errorf("%d, %s", code, stderr)
	}
	if code, _, stderr := once(t, nil, "migrate", "--data", data, "--postgres", database); code != 0 {
		t.Errorf("%d, %s", code, stderr)
	}
	if _, err := os.Stat(data); err != nil {
		t.Error(err)
	}
	start(t, "serve", "--postgres", database, "--keys", filepath.Join(dir, "keys.json")).stop()
}
