package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/keys"
	"github.com/traintravel/traintravel/store/boltstore"
)

func (p *program) restore() *cobra.Command {
	var set restoring
	c := &cobra.Command{
		Use:   "restore FILE",
		Short: "Put a backup in force, as a data file or in PostgreSQL",
		Long: `Make the data file, or fill an empty PostgreSQL database, with what is in a backup,
which is checked before. No server may have the data file, and one that is there is
replaced only with --force. A database that holds something is refused.

What was sold after the backup was made is not in it: places may be sold again that
passengers have, and payments and refunds that the backup has under way are looked up
at the gateway. Put back the keys file of the time too: it is in no backup.`,
		Args: args(cobra.ExactArgs(1)),
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
	c.Flags().StringVar(&set.keys, "keys", "", "`file` of keys that the servers will have, to see whether it is that of the backup")
	c.Flags().BoolVar(&set.force, "force", false, "replace the data file if it is there")
	c.Flags().BoolVar(&set.faulty, "faulty", false, "restore a backup with faults in it too")
	c.Flags().BoolVar(&set.anyAmount, "any-amount", false, "as for check")
	return c
}

// restoring are the settings of restore.
type restoring struct {
	storage
	keys                     string
	force, faulty, anyAmount bool
}

func (p *program) restoreFrom(ctx context.Context, set restoring, file string) error {
	if !set.shared() && sameFile(set.data, file) {
		return usagef("%s is the data file itself", file)
	}
	if half, _ := boltstore.Drafts(filepath.Dir(file)); slices.Contains(half, filepath.Clean(file)) {
		return usagef("%s is half a file, of a command that was killed: give another", file)
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
		err := p.printChecked(rep, false)
		if !set.faulty {
			return fmt.Errorf("%s is not restored: %w; --faulty restores it all the same", file, err)
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
	fmt.Fprintf(p.stdout, "%s has the data of %s: %s\n", target, file, howMany(rep.Records[traintravel.TableBookings.String()], "booking", "bookings"))
	return p.warnOfKeys(context.WithoutCancel(ctx), set, from) // it is restored, whoever interrupts now
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
		return fmt.Errorf("%s is there already: give another --data, or --force to replace it", set.data)
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
		return "", fmt.Errorf("%w: give an empty one", oneLine{err})
	}
	if err != nil {
		return "", oneLine{err}
	}
	return to.String(), nil
}

// warnOfKeys warns unless the keys file is that of the servers that had the data.
func (p *program) warnOfKeys(ctx context.Context, set restoring, from *boltstore.Store) error {
	recorded, err := traintravel.Agreed(ctx, from)
	if err != nil || recorded == nil {
		return err
	}
	var before agreement
	if err := json.Unmarshal(recorded, &before); err != nil {
		return fmt.Errorf("what servers of the data have in common: %w", err)
	}
	file := set.keysFile(set.keys)
	ring, err := keys.Load(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fmt.Fprintf(p.stdout, "There is no keys file %s: put there the one that the servers of the data had, before one is started\n", file)
		return nil
	case err != nil:
		return err
	}
	if own := (agreement{Prints: ring.Prints()}); !own.agrees(before, true) {
		fmt.Fprintf(p.stdout, "The keys in %s are not those that the servers of the data had: put theirs there, before one is started, or start the first with --new-keys\n", file)
	} else if err := set.refuseTaken(ring, file, ring.Use(), set.use(before.ID, file)); err != nil {
		fmt.Fprintf(p.stdout, "No server can be started yet: %v\n", err)
	}
	return nil
}
