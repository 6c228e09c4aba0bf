package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"

	"github.com/spf13/cobra"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/keys"
	"github.com/traintravel/traintravel/internal/thishost"
	"github.com/traintravel/traintravel/store/boltstore"
)

func (p *program) migrate() *cobra.Command {
	var where storage
	var undo, asJSON bool
	c := &cobra.Command{
		Use:   "migrate --postgres URL",
		Short: "Move all data from a file into PostgreSQL",
		Long: `Move all data from a file into an empty PostgreSQL database: bookings, payments, the
timetable and scheduled work. IDs do not change. Stop the server of the file first.

You can stop the command at any time and run it again: it then starts over. While it
runs, no server sells from the file or from the database. If you interrupt it, servers
can use the file again; if it is killed, both stay closed until you run it again.

Afterwards the file is unchanged, but marked as moved. --undo removes the mark, so that
servers use the file again, without what was sold from the database. With --postgres,
--undo first closes the database. Without it, make sure that no server uses the
database: otherwise places would be sold twice.

The keys are not moved: give serve the keys file that it had.`,
		Args: takes(),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := where.checkURL(); err != nil {
				return err
			}
			switch {
			case undo:
				return p.undoMigration(c.Context(), where, asJSON)
			case !where.shared():
				return usagef("missing --postgres URL: give the database to move the data to, or --undo")
			}
			return p.migrateFile(c.Context(), where, asJSON)
		},
	}
	where.bothFlags(c.Flags())
	c.Flags().BoolVar(&undo, "undo", false, "let servers use the file again")
	jsonFlag(c.Flags(), &asJSON)
	return c
}

// openFile opens a data file that exists.
func openFile(path string) (*boltstore.Store, error) {
	if err := dataExists(path); err != nil {
		return nil, err
	}
	return boltstore.Open(path, nil)
}

// readFile opens a data file that exists to be read.
func readFile(path string) (*boltstore.Store, error) {
	if err := dataExists(path); err != nil {
		return nil, err
	}
	return boltstore.Open(path, readOnly)
}

// dataExists returns an error unless there is a file at the path of a data file.
func dataExists(path string) error {
	_, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("data file %s not found: name the data with --data or --postgres", path)
	case err != nil:
		return fmt.Errorf("cannot use --data: %w", err)
	}
	return nil
}

func (p *program) migrateFile(ctx context.Context, where storage, asJSON bool) error {
	from, err := openFile(where.data)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := openPostgres(ctx, where.postgres, saying(p.log))
	if err != nil {
		return err
	}
	defer to.Close()
	bar := newProgress(p.stderr, "copying and verifying")
	var records int64
	moves := false // or else it has moved before
	err = traintravel.Copy(ctx, to, from, traintravel.CopyOptions{To: to.String(), Progress: func(done, total int64) {
		moves, records = true, total/2 // each counts when it is copied, and when it is verified
		bar.show(done, total)
	}})
	bar.end()
	switch {
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("interrupted: %w", err)
	case errors.Is(err, traintravel.ErrMoved) && !errors.Is(err, traintravel.ErrHoldsData):
		return fmt.Errorf("%w: give --postgres the database that has the data; or, if none has it, let servers use the file again: %s migrate --undo --data %s", oneLine{err}, ourName(), shellWord(where.data))
	case err != nil:
		return oneLine{err}
	case asJSON:
		return p.printJSON(object{"from": where.data, "to": to.String(), "records": records, "moved_before": !moves, "next": where.goOn()})
	case moves:
		fmt.Fprintf(p.stdout, "moved %s to %s, from %s\n", howMany(records, "record", "records"), to, where.data)
	default:
		fmt.Fprintf(p.stdout, "%s was already moved to %s\n", where.data, to)
	}
	fmt.Fprintf(p.stdout, "Next, start a server on the database:\n%s", where.goOn())
	return nil
}

// goOn are the commands that serve the database from now on, without its password.
func (s *storage) goOn() string {
	url, hidden := withoutPassword(s.postgres)
	set := "export TRAINTRAVEL_POSTGRES=" + shellWord(url)
	if hidden {
		set += " PGPASSWORD=…"
	}
	base, file := "URL", (&storage{data: s.data}).keysFile("")
	ring, err := keys.Load(file)
	switch {
	case errors.Is(err, fs.ErrNotExist): // the servers were given another
		file = "FILE"
	case err == nil && ring.Issuer() != "":
		base = ring.Issuer()
	}
	more := ""
	if base != "URL" && !thishost.URL(base) { // so they had the built-in sign-in
		more = " --public-signin"
	}
	return fmt.Sprintf("  %s\n  %s serve --base-url %s --keys %s%s\n", set, ourName(), shellWord(base), shellWord(file), more)
}

// withoutPassword leaves the password out of the URL of a database, and says whether
// there was one.
func withoutPassword(text string) (_ string, hidden bool) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" {
		return "URL", true // keywords and values, with or without
	}
	if _, hidden = u.User.Password(); hidden {
		u.User = url.User(u.User.Username())
	}
	q := u.Query()
	if q.Has("password") {
		hidden = true
		q.Del("password")
		u.RawQuery = q.Encode()
	}
	return u.String(), hidden
}

func (p *program) undoMigration(ctx context.Context, where storage, asJSON bool) error {
	store, err := openFile(where.data)
	if err != nil {
		return err
	}
	defer store.Close()
	advice := "the database is closed"
	var target traintravel.Store
	if where.shared() {
		to, err := openPostgres(ctx, where.postgres, saying(p.log))
		if err != nil {
			return fmt.Errorf("%w: leave out --postgres to reopen the file and leave the database as it is", err)
		}
		defer to.Close()
		target = to
	} else {
		advice = "make sure that no server uses the database that it was moved to"
	}
	if err := traintravel.Reopen(ctx, store, target); err != nil {
		return fmt.Errorf("%s: %w", where.data, err)
	}
	if asJSON {
		return p.printJSON(object{"reopened": where.data, "database_closed": where.shared()})
	}
	fmt.Fprintf(p.stdout, "servers may use %s again: %s\n", where.data, advice)
	return nil
}
