package main

import (
	"context"
	"encoding/json"
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
		Short: "Say whether everything in the data agrees",
		Long: `Read all data as it is at one instant, and say what does not agree: places with
bookings, payments and refunds with bookings, what is to be done with what it is of,
events with what has happened, and so on. Nothing is changed, and servers sell on
meanwhile. It ends with the code 1 if there is a fault.

The pages of a file are checked too, but while a server has it, which alone knows
its latest ones: check a backup of it.`,
		Args: args(cobra.NoArgs),
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
	c.Flags().BoolVar(&req.AnyAmount, "any-amount", false, "the data was served with --any-amount: a booking may have been paid with another sum than its price")
	c.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	return c
}

// A checkRequest asks a server to check its data.
type checkRequest struct{ AnyAmount bool }

// A checked is what a check found, as it is printed and goes over the control socket.
type checked struct {
	Records map[string]int64 `json:"records"` // by table
	Pages   bool             `json:"pages"`   // were checked, of a file
	Found   int64            `json:"found"`   // faults, those included of which there is no room below
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

// checkFile checks a file that nobody has, its pages too.
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
		out.Faults = append([]fault{{Kind: "damaged-page", Problem: strings.TrimSpace(problem), Meaning: "The file itself is damaged, by its disk or by a program: restore a backup."}}, out.Faults...)
	}
	return out, nil
}

// checkStorage checks data, by itself or by the server that has the file.
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
	file, err := boltstore.Open(where.data, readOnly)
	if err != nil {
		return nil, fmt.Errorf("--data: %w", err)
	}
	defer file.Close()
	return checkFile(ctx, file, req, progress)
}

var readOnly = &boltstore.Options{ReadOnly: true}

// printChecked prints a report; faults in it are an error.
func (p *program) printChecked(rep *checked, asJSON bool) error {
	if asJSON {
		out := json.NewEncoder(p.stdout)
		out.SetIndent("", "  ")
		if err := out.Encode(rep); err != nil {
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
		fmt.Fprintf(p.stdout, "and %s\n", howMany(more, "fault more", "faults more"))
	}
	records := int64(0)
	for _, n := range rep.Records {
		records += n
	}
	also := ""
	if rep.Pages {
		also = ", and all pages of the file"
	}
	fmt.Fprintf(p.stdout, "%s checked, of %s%s: %s\n", howMany(records, "record was", "records were"),
		howMany(rep.Records["bookings"], "booking", "bookings"), also, rep.verdict())
	return rep.faulty()
}

func (c *checked) verdict() string {
	switch c.Found {
	case 0:
		return "everything agrees"
	case 1:
		return "there is a fault"
	}
	return fmt.Sprintf("there are %d faults", c.Found)
}

func (c *checked) faulty() error {
	if c.Found == 0 {
		return nil
	}
	return errors.New(c.verdict())
}
