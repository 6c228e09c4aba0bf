package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/agreed"
	"github.com/traintravel/traintravel/internal/keys"
	"github.com/traintravel/traintravel/store/boltstore"
)

func (p *program) restore() *cobra.Command {
	var set restoring
	c := &cobra.Command{
		Use:   "restore FILE",
		Short: "Restore a backup, as a data file or into PostgreSQL",
		Long: `Check a backup, and make the data file or fill an empty PostgreSQL database with it.
Stop the server of the data file first. An existing data file is replaced only with
--force, and a database that is not empty never.

Sales after the backup are not in it: places that passengers have may be sold again.
Payments and refunds that were in progress at the time of the backup are looked up at
the gateway. Restore the keys file of that time too: backups do not contain it.`,
		Args: takes("FILE"), ValidArgsFunction: completeFiles,
		RunE: func(c *cobra.Command, files []string) error {
			if err := set.check(c.Flags()); err != nil {
				return err
			}
			err := p.restoreFrom(c.Context(), set, files[0])
			if set.shared() {
				return err
			}
			p.nameDrafts(set.data)
			return unchanged(c.Context(), set.data, err)
		},
	}
	set.flags(c.Flags())
	c.Flags().StringVar(&set.keys, "keys", "", "keys `file` that the servers will use, to check that it belongs to the backup")
	c.Flags().BoolVar(&set.force, "force", false, "replace the data file if it exists")
	c.Flags().BoolVar(&set.faulty, "faulty", false, "restore a backup even if it has faults")
	jsonFlag(c.Flags(), &set.json)
	c.Flags().BoolVar(&set.anyAmount, "any-amount", false, "accept payments that differ from the price, as check --any-amount does")
	return c
}

// restoring are the settings of restore.
type restoring struct {
	storage
	keys                     string
	force, faulty, anyAmount bool
	json                     bool
}

func (p *program) restoreFrom(ctx context.Context, set restoring, file string) error {
	if !set.shared() && sameFile(set.data, file) {
		return usagef("%s is the data file itself: give a backup", file)
	}
	if half, _ := boltstore.Drafts(filepath.Dir(file)); slices.Contains(half, filepath.Clean(file)) {
		return usagef("%s is an incomplete file of a command that was killed: give another backup", file)
	}
	if !exists(file) {
		return fmt.Errorf("backup %s not found", file)
	}
	from, err := boltstore.Open(file, readOnly)
	if err != nil {
		return busy(err)
	}
	defer from.Close()
	bar := newProgress(p.stderr, "checking")
	rep, err := checkFile(ctx, from, checkRequest{AnyAmount: set.anyAmount}, bar.show)
	bar.end()
	if err != nil {
		return err
	}
	if rep.Found > 0 {
		err := rep.faulty()
		if !set.json { // else standard output has the result alone
			err = p.printChecked(rep, false)
		}
		if !set.faulty {
			return fmt.Errorf("%s not restored: %w; give --faulty to restore it all the same", file, err)
		}
	}
	if !set.shared() {
		if err := p.asker(set.data).refuseLost(ctx); err != nil {
			fmt.Fprintf(p.stderr, "warning: %v\n", err)
		}
	}
	bar = newProgress(p.stderr, "restoring")
	target := set.data
	if set.shared() {
		target, err = p.restoreDatabase(ctx, set, from, bar.show)
	} else {
		err = p.restoreFile(ctx, set, from, bar.show)
	}
	bar.end()
	if err != nil {
		return err
	}
	bookings := rep.Records[traintravel.TableBookings.String()]
	if !set.json {
		fmt.Fprintf(p.stdout, "restored %s from %s: %s\n", target, file, howMany(bookings, "booking", "bookings"))
	}
	warning, err := warningOfKeys(context.WithoutCancel(ctx), set, from) // it is restored, also if the command is interrupted now
	if err != nil {
		return err
	}
	if set.json {
		return p.printJSON(object{"restored": target, "from": file, "bookings": bookings, "faults": rep.Found, "warning": warning})
	}
	if warning != "" {
		fmt.Fprintln(p.stdout, warning)
	}
	return nil
}

func (p *program) restoreFile(ctx context.Context, set restoring, from *boltstore.Store, progress func(done, total int64)) error {
	if err := spareKeys(set.data); err != nil {
		return err
	}
	if err := dataFolder(set.data); err != nil {
		return err
	}
	// A data file may be opened through a link, so it is restored where that leads. What
	// else a command writes is refused a link: see boltstore.Make.
	data := set.data
	if real, err := filepath.EvalSymlinks(data); err == nil {
		data = real
	}
	err := boltstore.Make(data, set.force, func(draft string) error {
		if err := boltstore.OneName(data); err != nil { // two files could be served then
			return err
		}
		if err := writeSnapshot(ctx, from, draft, progress); err != nil {
			return err
		}
		return checkPages(ctx, draft)
	})
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists: give another --data, or --force to replace it", set.data)
	}
	return busy(err)
}

func (p *program) restoreDatabase(ctx context.Context, set restoring, from *boltstore.Store, progress func(done, total int64)) (string, error) {
	to, err := openPostgres(ctx, set.postgres, saying(p.log))
	if err != nil {
		return "", err
	}
	defer to.Close()
	err = traintravel.Backup(ctx, to, from, traintravel.CopyOptions{Progress: progress})
	if errors.Is(err, traintravel.ErrHoldsData) {
		return "", fmt.Errorf("%w: give an empty database", oneLine{err})
	}
	if err != nil {
		return "", oneLine{err}
	}
	return to.String(), nil
}

// warningOfKeys is a warning unless the keys file is that of the servers of the data, else "".
func warningOfKeys(ctx context.Context, set restoring, from *boltstore.Store) (string, error) {
	before, err := agreed.Read(ctx, from)
	if err != nil || before == nil {
		return "", err
	}
	file := set.keysFile(set.keys)
	ring, err := keys.Load(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("Keys file %s not found: restore the one of the servers of this data before you start one", file), nil
	case err != nil:
		return "", err
	}
	if own := (agreed.Record{Prints: ring.Prints()}); !own.Agrees(*before, true) {
		return fmt.Sprintf("The keys in %s are not those of the servers of this data: restore theirs before you start one, or start the first with --new-keys", file), nil
	} else if err := set.refuseTaken(ring, file, ring.Use(), set.use(before.ID, file)); err != nil {
		return fmt.Sprintf("No server can be started yet: %v", err), nil
	}
	return "", nil
}
