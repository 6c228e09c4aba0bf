package pgstore_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/pgtest"
	"github.com/traintravel/traintravel/store/pgstore"
)

// A store is not ready while its database takes no writes.
func TestReady(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	db := server.NewDatabase(t)
	u, err := url.Parse(db)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.Trim(u.Path, "/")
	s := openFor(t, db, never)
	for _, setting := range []string{"on", "off"} {
		server.Query("alter database " + name + " set default_transaction_read_only = " + setting)
		server.Query("select count(pg_terminate_backend(pid, 10000)) from pg_stat_activity where datname = '" + name + "'")
		err := s.Ready(t.Context())
		if setting == "on" && !errors.Is(err, traintravel.ErrUnavailable) || setting == "off" && err != nil {
			t.Errorf("%s: %v", setting, err)
		}
	}
	s.Close()
	if err := s.Ready(t.Context()); err != pgstore.ErrClosed {
		t.Errorf("closed, it says %v", err)
	}
}
