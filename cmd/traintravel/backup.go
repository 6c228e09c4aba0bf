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
	var force bool
	c := &cobra.Command{
		Use:   "backup FILE",
		Short: "Write all data to a file, also while servers sell",
		Long: `Write all data, as it is at one instant, to a data file, whose pages are then
checked: FILE is whole, or is not there. It must not be a symbolic link. Of a database it is a data file too. Servers
sell on meanwhile.

Keys are not in it. Keep a copy of the keys file beside it, under lock: whoever has
it can make tokens and tickets, and without it those that were given out are no good.`,
		Example: `  traintravel backup /backups/trains-$(date +%F).db
  traintravel backup --postgres postgres://user@host/trains trains.db`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, files []string) error {
			if err := where.check(c.Flags()); err != nil {
				return err
			}
			defer p.nameDrafts(files[0])
			return unchanged(c.Context(), files[0], p.backUp(c.Context(), where, files[0], force))
		},
	}
	where.flags(c.Flags())
	c.Flags().BoolVar(&force, "force", false, "replace FILE if it is there")
	return c
}

func (p *program) backUp(ctx context.Context, where storage, file string, force bool) error {
	if !where.shared() && sameFile(where.data, file) {
		return usagef("%s is the data file itself: give another file", file)
	}
	if err := spareKeys(file); err != nil {
		return err
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
		return fmt.Errorf("%s is there already: give another file, or --force to replace it", file)
	}
	if err != nil {
		return where.explain(oneLine{err})
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "%s has all data, %d bytes\nThe keys are not in it: keep a copy of %s too\n", file, info.Size(), where.keysFile(""))
	return nil
}

// unchanged says of a file what became of it when its making was interrupted.
func unchanged(ctx context.Context, file string, err error) error {
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("interrupted: %s is as it was", file)
	}
	return err
}

// nameDrafts names what lies beside a file of those whose making was broken off, by a
// kill or a loss of power: nothing else removes it but the making of the same file.
func (p *program) nameDrafts(file string) {
	drafts, err := boltstore.Drafts(filepath.Dir(file))
	if err != nil {
		return // there is no such folder, which was said
	}
	for _, draft := range drafts {
		fmt.Fprintf(p.stderr, "%s is half a file, of a backup, restore or compact that was killed or is under way: remove it if none is\n", draft)
	}
}

// spareKeys refuses to put data in place of keys, which no backup has, be they damaged:
// no data begins like them.
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
		return usagef("%s is a keys file: give another file", path)
	}
	return nil
}

// writeBackup writes data to a new file: a server does that has the data file.
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
	from, err := boltstore.Open(where.data, readOnly)
	if err != nil {
		return fmt.Errorf("--data: %w", err)
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
		err = fmt.Errorf("it has %d bytes of %d: %w", n, size, io.ErrUnexpectedEOF)
	}
	return errors.Join(err, f.Close())
}

// A counted writer tells how much of all is written, and ends with its context.
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

// checkPages checks the pages of a file that nobody writes to.
func checkPages(ctx context.Context, path string) error {
	file, err := boltstore.Open(path, readOnly)
	if err != nil {
		return err
	}
	return errors.Join(file.CheckPages(ctx), file.Close())
}

func (p *program) compact() *cobra.Command {
	var data string
	c := &cobra.Command{
		Use:   "compact",
		Short: "Make a data file smaller",
		Long: `Rewrite a data file without the space that removed records have left. No server
may have it, and there must be room beside it for the new one, which takes its place
when it is whole: whoever stops half-way leaves the file as it was.

A file does not have to be compacted: the space is used again. PostgreSQL sees to its
own.`,
		Args: args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if _, err := os.Stat(data); err != nil {
				return fmt.Errorf("--data: %w", err)
			}
			bar := newProgress(p.stderr, "")
			bar.then = "compacting"
			bar.show(1, 1)
			before, after, err := boltstore.Compact(c.Context(), data)
			bar.end()
			if err != nil {
				return unchanged(c.Context(), data, busy(err))
			}
			fmt.Fprintf(p.stdout, "%s had %d bytes, and has %d\n", data, before, after)
			return nil
		},
	}
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
