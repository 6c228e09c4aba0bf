package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/store/boltstore"
)

func (p *program) check() *cobra.Command {
	var where storage
	var req checkRequest
	var asJSON bool
	c := &cobra.Command{
		Use:   "check",
		Short: "Check all data for inconsistencies",
		Long: `Read all data as it is at one instant, and report inconsistencies: between places and
bookings, payments and bookings, scheduled work and its cause, events and what happened,
and so on. Nothing is changed, and servers continue to sell meanwhile. The exit code is
1 if a fault is found.

The pages of a data file are checked too, unless a server has the file open: to check
those, check a backup.`,
		Args: takes(),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := where.check(c.Flags()); err != nil {
				return err
			}
			bar := newProgress(p.stderr, "checking")
			rep, err := p.checkStorage(c.Context(), where, req, bar.show)
			bar.end()
			if err != nil {
				return where.explain(err)
			}
			return p.printChecked(rep, asJSON)
		},
	}
	where.flags(c.Flags())
	c.Flags().BoolVar(&req.AnyAmount, "any-amount", false, "the data was served with --any-amount: accept payments that differ from the price")
	jsonFlag(c.Flags(), &asJSON)
	return c
}

// A checkRequest asks a server to check its data.
type checkRequest struct{ AnyAmount bool }

// A checked is what a check found, as it is printed and goes over the control socket.
type checked struct {
	Records map[string]int64 `json:"records"` // by table
	Pages   bool             `json:"pages"`   // were checked, of a file
	Found   int64            `json:"found"`   // number of faults, which may be more than are listed
	Faults  []fault          `json:"faults"`
}

type fault struct {
	Kind    string `json:"kind"`
	Table   string `json:"table,omitempty"`
	Key     string `json:"key,omitempty"`
	Problem string `json:"problem"`
	Meaning string `json:"meaning"`
}

// checkRecords checks what is in a store.
func checkRecords(ctx context.Context, store traintravel.Store, req checkRequest, progress func(done, total int64)) (*checked, error) {
	rep, err := traintravel.Check(ctx, store, traintravel.CheckOptions{AnyAmount: req.AnyAmount, Progress: progress})
	if err != nil {
		return nil, err
	}
	out := &checked{Records: map[string]int64{}, Found: rep.Found, Faults: []fault{}}
	for t, n := range rep.Records {
		out.Records[t.String()] = n
	}
	for _, f := range rep.Faults {
		table, key, _ := strings.Cut(f.Key.String(), " ")
		out.Faults = append(out.Faults, fault{string(f.Kind), table, key, f.Text, f.Kind.Meaning()})
	}
	return out, nil
}

// checkFile checks a file that no server has open, with its pages.
func checkFile(ctx context.Context, file *boltstore.Store, req checkRequest, progress func(done, total int64)) (*checked, error) {
	damage := file.CheckPages(ctx)
	if ctx.Err() != nil {
		return nil, damage
	}
	out, err := checkRecords(ctx, file, req, progress)
	if damage == nil {
		if out != nil {
			out.Pages = true
		}
		return out, err
	}
	if err != nil {
		out = &checked{Records: map[string]int64{}}
		damage = errors.Join(damage, err)
	}
	out.Pages = true
	for problem := range strings.Lines(damage.Error()) {
		out.Found++
		out.Faults = append([]fault{{Kind: "damaged-page", Problem: strings.TrimSpace(problem), Meaning: "The file itself is damaged, by its disk or by another program: restore a backup."}}, out.Faults...)
	}
	return out, nil
}

// checkStorage checks data in this process, or by the server that has the file open.
func (p *program) checkStorage(ctx context.Context, where storage, req checkRequest, progress func(done, total int64)) (*checked, error) {
	if where.shared() {
		store, err := where.open(ctx, p.log, nil)
		if err != nil {
			return nil, err
		}
		defer store.Close()
		return checkRecords(ctx, store, req, progress)
	}
	rep, err := askServer[checkRequest, checked](ctx, p.asker(where.data), "/check", req, teller{progress: progress})
	if !errors.Is(err, errNoServer) {
		return rep, err
	}
	file, err := readFile(where.data)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return checkFile(ctx, file, req, progress)
}

var readOnly = &boltstore.Options{ReadOnly: true}

// printChecked prints a report, and returns an error if there are faults in it.
func (p *program) printChecked(rep *checked, asJSON bool) error {
	if asJSON {
		if err := p.printJSON(rep); err != nil {
			return err
		}
		return rep.faulty()
	}
	for _, f := range rep.Faults {
		where := ""
		if f.Table != "" {
			where = f.Table + " " + f.Key + ": "
		}
		fmt.Fprintf(p.stdout, "%s: %s%s. %s\n", f.Kind, where, f.Problem, f.Meaning)
	}
	if more := rep.Found - int64(len(rep.Faults)); more > 0 {
		fmt.Fprintf(p.stdout, "and %s\n", howMany(more, "more fault", "more faults"))
	}
	records := int64(0)
	for _, n := range rep.Records {
		records += n
	}
	also := ""
	if rep.Pages {
		also = ", and all pages of the file"
	}
	fmt.Fprintf(p.stdout, "checked %s, of %s%s: %s\n", howMany(records, "record", "records"),
		howMany(rep.Records["bookings"], "booking", "bookings"), also, rep.verdict())
	return rep.faulty()
}

func (c *checked) verdict() string {
	switch c.Found {
	case 0:
		return "no faults found"
	case 1:
		return "1 fault found"
	}
	return fmt.Sprintf("%d faults found", c.Found)
}

func (c *checked) faulty() error {
	if c.Found == 0 {
		return nil
	}
	return errors.New(c.verdict())
}
