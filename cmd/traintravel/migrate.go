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
	"github.com/traintravel/traintravel/store/boltstore"
)

func (p *program) migrate() *cobra.Command {
	var where storage
	var undo bool
	c := &cobra.Command{
		Use:   "migrate --postgres URL",
		Short: "Move all data from a file into PostgreSQL",
		Long: `Move all data from a file into an empty PostgreSQL database: bookings, payments,
the timetable, and what is due. IDs stay as they are. No server may have the file.

It may be stopped at any moment and run again: then it starts over. Until all is
copied and verified no server sells from the database, and from the moment it
begins none sells from the file. Stopped in order it gives the file back; killed,
it leaves both closed until it is run again.

The file is left as it was, but marked. --undo removes the mark, so that servers
use the file again: nothing is in it of what was sold from the database. With
--postgres it closes the database before; without, see to it that no server uses
that: two that sell from both sell places twice.

Keys are in no database: give serve the keys file that it had.`,
		Args: args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case undo:
				return p.undoMigration(c.Context(), where)
			case !where.shared():
				return usagef("give --postgres URL, where the data is to go, or else --undo")
			}
			return p.migrateFile(c.Context(), where)
		},
	}
	where.flags(c.Flags())
	c.Flags().BoolVar(&undo, "undo", false, "let servers use the file again")
	return c
}

// openFile opens a data file that there is.
func openFile(path string) (*boltstore.Store, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("--data: %w", err)
	}
	return boltstore.Open(path, nil)
}

func (p *program) migrateFile(ctx context.Context, where storage) error {
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
		return fmt.Errorf("stopped before the end: %w", err)
	case errors.Is(err, traintravel.ErrMoved) && !errors.Is(err, traintravel.ErrHoldsData):
		return fmt.Errorf("%w. Name the database that has its data; or, if none has, have servers use the file again: %s migrate --undo --data %s", oneLine{err}, ourName(), shellWord(where.data))
	case err != nil:
		return oneLine{err}
	case moves:
		fmt.Fprintf(p.stdout, "%s moved to %s, from %s\n", howMany(records, "record has", "records have"), to, where.data)
	default:
		fmt.Fprintf(p.stdout, "%s has moved to %s already\n", where.data, to)
	}
	fmt.Fprintf(p.stdout, "Go on with:\n%s", where.goOn())
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
	if base != "URL" && !loopbackURL(base) { // so they had the built-in sign-in
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

func (p *program) undoMigration(ctx context.Context, where storage) error {
	store, err := openFile(where.data)
	if err != nil {
		return err
	}
	defer store.Close()
	advice := "no server uses the database any more"
	var target traintravel.Store
	if where.shared() {
		to, err := openPostgres(ctx, where.postgres, saying(p.log))
		if err != nil {
			return fmt.Errorf("%w: without --postgres the database is left as it is", err)
		}
		defer to.Close()
		target = to
	} else {
		advice = "let none use the database that it had moved to"
	}
	if err := traintravel.Reopen(ctx, store, target); err != nil {
		return fmt.Errorf("%s: %w", where.data, err)
	}
	fmt.Fprintf(p.stdout, "servers may use %s again: %s\n", where.data, advice)
	return nil
}
