package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/store/boltstore"
)

func (p *program) backup() *cobra.Command {
	var where storage
	var force, asJSON bool
	c := &cobra.Command{
		Use:   "backup FILE",
		Short: "Write all data to a file, also while servers run",
		Long: `Write all data, as it is at one instant, to a data file, and check its pages. If the
backup fails, FILE is not made. FILE must not be a symbolic link. The backup of a
database is a data file too. Servers continue to sell meanwhile.

The keys are not in the backup. Keep a copy of the keys file too, in a safe place: with
it anyone can make tokens and tickets, and without it those issued so far are invalid.`,
		Example: `  traintravel backup /backups/trains-$(date +%F).db
  traintravel backup --postgres postgres://user@host/trains trains.db`,
		Args: takes("FILE"), ValidArgsFunction: completeFiles,
		RunE: func(c *cobra.Command, files []string) error {
			if err := where.check(c.Flags()); err != nil {
				return err
			}
			defer p.nameDrafts(files[0])
			return unchanged(c.Context(), files[0], p.backUp(c.Context(), where, files[0], force, asJSON))
		},
	}
	where.flags(c.Flags())
	c.Flags().BoolVar(&force, "force", false, "replace FILE if it exists")
	jsonFlag(c.Flags(), &asJSON)
	return c
}

func (p *program) backUp(ctx context.Context, where storage, file string, force, asJSON bool) error {
	if !where.shared() && sameFile(where.data, file) {
		return usagef("%s is the data file itself: give another file for the backup", file)
	}
	if err := spareKeys(file); err != nil {
		return err
	}
	if !where.shared() && errors.Is(p.asker(where.data).listens(ctx), errNoServer) {
		if err := dataExists(where.data); err != nil {
			return err
		}
	}
	bar := newProgress(p.stderr, "writing")
	err := boltstore.Make(file, force, func(draft string) error {
		err := p.writeBackup(ctx, where, draft, bar.show)
		if err != nil {
			return err
		}
		return checkPages(ctx, draft)
	})
	bar.end()
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists: give another file, or --force to replace it", file)
	}
	if err != nil {
		return where.explain(oneLine{err})
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	if asJSON {
		return p.printJSON(object{"file": file, "bytes": info.Size(), "keys_file": where.keysFile("")})
	}
	fmt.Fprintf(p.stdout, "%s has all data, %d bytes\nThe keys are not in it: keep a copy of %s too\n", file, info.Size(), where.keysFile(""))
	return nil
}

// unchanged says that a file is unchanged if the command was interrupted.
func unchanged(ctx context.Context, file string, err error) error {
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("interrupted: %s is unchanged", file)
	}
	return err
}

// nameDrafts names the drafts beside a file, which a kill or a loss of power has left: only the
// next attempt to make the same file removes them.
func (p *program) nameDrafts(file string) {
	drafts, err := boltstore.Drafts(filepath.Dir(file))
	if err != nil {
		return // the folder does not exist, which was reported
	}
	for _, draft := range drafts {
		fmt.Fprintf(p.stderr, "%s is an incomplete file of a backup, restore or compact that is in progress or was killed: remove it if none is in progress\n", draft)
	}
}

// spareKeys refuses to replace a keys file, also a damaged one, with data: no backup has the
// keys. Data never begins with a brace.
func spareKeys(path string) error {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil // nor can it be replaced, or it is no keys file of ours
	}
	defer f.Close()
	var first [1]byte
	if n, _ := f.Read(first[:]); n == 1 && first[0] == '{' {
		return usagef("%s is a keys file, not a data file: give another file", path)
	}
	return nil
}

// writeBackup writes data to a new file, from the server if one has the data file open.
func (p *program) writeBackup(ctx context.Context, where storage, draft string, progress func(done, total int64)) error {
	if where.shared() {
		from, err := where.open(ctx, p.log, nil)
		if err != nil {
			return err
		}
		defer from.Close()
		to, err := boltstore.Open(draft, nil)
		if err != nil {
			return err
		}
		err = traintravel.Backup(ctx, to, from, traintravel.CopyOptions{Progress: progress})
		return errors.Join(err, to.Close())
	}
	err := p.asker(where.data).do(ctx, http.MethodGet, "/backup", nil, func(resp *http.Response) error {
		return writeFile(ctx, draft, resp.ContentLength, progress, func(w io.Writer) (int64, error) { return io.Copy(w, resp.Body) })
	})
	if !errors.Is(err, errNoServer) {
		return err
	}
	from, err := readFile(where.data)
	if err != nil {
		return err
	}
	defer from.Close()
	return writeSnapshot(ctx, from, draft, progress)
}

// writeSnapshot writes a file as it is now to another one.
func writeSnapshot(ctx context.Context, from *boltstore.Store, path string, progress func(done, total int64)) error {
	return from.Snapshot(ctx, func(file io.WriterTo, size int64) error {
		return writeFile(ctx, path, size, progress, file.WriteTo)
	})
}

// writeFile makes a file of so many bytes, which write writes.
func writeFile(ctx context.Context, path string, size int64, progress func(done, total int64), write func(io.Writer) (int64, error)) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	n, err := write(&counted{ctx, f, 0, size, progress})
	if err == nil && n != size {
		err = fmt.Errorf("wrote %d of %d bytes: %w", n, size, io.ErrUnexpectedEOF)
	}
	return errors.Join(err, f.Close())
}

// A counted writer reports its progress, and fails when its context ends.
type counted struct {
	ctx         context.Context
	w           io.Writer
	done, total int64
	progress    func(done, total int64)
}

func (c *counted) Write(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.w.Write(b)
	c.done += int64(n)
	c.progress(c.done, c.total)
	return n, err
}

// checkPages checks the pages of a file that no process writes to.
func checkPages(ctx context.Context, path string) error {
	file, err := boltstore.Open(path, readOnly)
	if err != nil {
		return err
	}
	return errors.Join(file.CheckPages(ctx), file.Close())
}

func (p *program) compact() *cobra.Command {
	var data string
	var asJSON bool
	c := &cobra.Command{
		Use:   "compact",
		Short: "Make a data file smaller",
		Long: `Rewrite a data file without the space that removed records have left. Stop its server
first. The disk needs room for the new file, which replaces the old one when it is
complete: if the command is stopped, the file is unchanged.

You do not have to compact a file: free space in it is used again. PostgreSQL does this
by itself.`,
		Args: takes(),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := dataExists(data); err != nil {
				return err
			}
			bar := newProgress(p.stderr, "")
			bar.then = "compacting"
			bar.show(1, 1)
			before, after, err := boltstore.Compact(c.Context(), data)
			bar.end()
			if err != nil {
				return unchanged(c.Context(), data, busy(err))
			}
			if asJSON {
				return p.printJSON(object{"file": data, "bytes_before": before, "bytes_after": after})
			}
			fmt.Fprintf(p.stdout, "%s compacted from %d to %d bytes\n", data, before, after)
			return nil
		},
	}
	jsonFlag(c.Flags(), &asJSON)
	c.Flags().StringVar(&data, "data", defaultData, "`file` of data")
	return c
}

// busy says what to do about a file that is in use.
func busy(err error) error {
	if errors.Is(err, boltstore.ErrInUse) {
		return fmt.Errorf("%w: stop its server first", err)
	}
	return err
}
