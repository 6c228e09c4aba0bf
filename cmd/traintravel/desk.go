package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/traintravel/traintravel"
)

// What the desk of an operator asks: who sits in which train, and what becomes of it.

// A runRequest names a run as people do, and says what is to be done with it.
type runRequest struct {
	Train, Date, Departs string
	JSON                 bool     // of the manifest
	Places               []string // to be blocked
	From, To             string   // between which stations
	Undo, Yes, Past      bool
}

// runCommand makes a command on one run.
func (p *program) runCommand(c *cobra.Command, name string, req *runRequest) *cobra.Command {
	var where storage
	c.RunE = func(c *cobra.Command, a []string) error {
		req.Train, req.Date, req.Places = a[0], a[1], a[2:]
		return p.errand(c, where, name, req)
	}
	c.Flags().StringVar(&req.Departs, "departs", "", "`time` such as 08:05 at which the train leaves its first station, where its number is several trains'")
	where.flags(c.Flags())
	return c
}

func (p *program) manifest() *cobra.Command {
	var req runRequest
	c := p.runCommand(&cobra.Command{
		Use:   "manifest TRAIN DATE",
		Short: "Say who sits where in a train, and what is free",
		Long: `Say who sits where in a train on a date, such as 'manifest "ICE 575" 2026-12-31', and
how many places are taken, blocked and free between each two stations.

While a server has the data file, it answers. On trains without numbered places all
bookings are looked through.`,
		Args: args(cobra.ExactArgs(2)),
	}, "manifest", &req)
	c.Flags().BoolVar(&req.JSON, "json", false, "print JSON")
	return c
}

func (p *program) block() *cobra.Command {
	var req runRequest
	c := p.runCommand(&cobra.Command{
		Use:   "block TRAIN DATE COACH:SEAT…",
		Short: "Take places of a train out of sale, or put them back",
		Long: `Take places of a train on a date out of sale, such as 'block "ICE 575" 2026-12-31
7:11 7:12', all of them or none: for staff, or because they are broken. COACH:* is a
whole coach. A place that somebody has is refused.

While a server has the data file, it does so.`,
		Args: args(cobra.MinimumNArgs(3)),
	}, "block", &req)
	c.Flags().StringVar(&req.From, "from", "", "`station` at which it begins (default: the first)")
	c.Flags().StringVar(&req.To, "to", "", "`station` at which it ends (default: the last)")
	c.Flags().BoolVar(&req.Undo, "undo", false, "put places back into sale that were taken out so")
	return c
}

func (p *program) cancelRun() *cobra.Command {
	var req runRequest
	c := p.runCommand(&cobra.Command{
		Use:   "cancel-run TRAIN DATE",
		Short: "Cancel a train on a date: its bookings end and are refunded in full",
		Long: `Cancel a train on a date: nobody can book it any more, its bookings are cancelled and
refunded in full, whatever the terms of sale say, and webhooks tell of each. Without
--yes it only says what it would do. Broken off, it goes on when it is called again. A
train that has arrived by the timetable takes --past: it did not run, say, and its
passengers are to have their money back.

While a server has the data file, it does so. Refunds are made by servers, in the
background.`,
		Args: args(cobra.ExactArgs(2)),
	}, "cancel-run", &req)
	c.Flags().BoolVar(&req.Yes, "yes", false, "do it")
	c.Flags().BoolVar(&req.Past, "past", false, "also if the train has arrived at its last stop by the timetable")
	c.Flags().BoolVar(&req.Undo, "undo", false, "sell the train again; bookings that were cancelled stay so")
	return c
}

// find finds the run that is meant.
func (q *runRequest) find(ctx context.Context, service *traintravel.Service) (traintravel.Run, error) {
	date, err := traintravel.ParseDate(q.Date)
	if err != nil {
		return traintravel.Run{}, usagef("%.100q is no date such as 2026-12-31", q.Date)
	}
	runs, err := service.Runs(ctx, q.Train, date)
	if err != nil {
		return traintravel.Run{}, err
	}
	if q.Departs != "" {
		const clock = "15:04"
		departs, err := time.Parse(clock, q.Departs)
		if err != nil {
			return traintravel.Run{}, usagef("--departs: %.100q is no time such as 08:05", q.Departs)
		}
		runs = slices.DeleteFunc(runs, func(r traintravel.Run) bool { return r.Calls[0].Depart.Format(clock) != departs.Format(clock) })
	}
	switch len(runs) {
	case 0:
		return traintravel.Run{}, fmt.Errorf("no train %.100q runs on %v", q.Train, date)
	case 1:
		return runs[0], nil
	}
	var all []string
	for _, r := range runs {
		all = append(all, runTitle(r))
	}
	return traintravel.Run{}, usagef("%d trains are called so that day: say which with --departs\n%s", len(runs), strings.Join(all, "\n"))
}

func runTitle(r traintravel.Run) string {
	first, last := r.Calls[0], r.Calls[len(r.Calls)-1]
	title := fmt.Sprintf("%s of %s on %v, %s %s to %s %s", r.Number, r.Operator, r.ID.Date,
		first.Name, first.Depart.Format("15:04"), last.Name, last.Arrive.Format("15:04"))
	if r.Cancelled {
		title += ": CANCELLED"
	}
	if r.Unreadable {
		title += ": what is sold of it cannot be read by this version, run check"
	}
	return title
}

// onManifest prints the manifest of a run.
func onManifest(ctx context.Context, service *traintravel.Service, req runRequest, tell teller) error {
	run, err := req.find(ctx, service)
	if err != nil {
		return err
	}
	m, err := service.Manifest(ctx, run.ID)
	if err != nil {
		return err
	}
	if req.JSON {
		text, err := json.Marshal(manifestJSON(m))
		tell.say(string(text))
		return err
	}
	tell.say(runTitle(m.Run))
	rows := [][]string{{"coach", "seat", "passenger", "from", "to", "status", "with", "booking"}}
	for _, r := range m.Riders {
		seat := "-"
		if r.Seat > 0 {
			seat = strconv.Itoa(r.Seat)
		}
		status := r.Status.String()
		if r.Stranded {
			status += ", as sold before the timetable changed"
		}
		var with []string
		if r.HasBicycle {
			with = append(with, "bicycle")
		}
		if r.HasDog {
			with = append(with, "dog")
		}
		name := cmp.Or(r.PassengerName, erasedName)
		if r.Unreadable {
			name = "(booking unreadable)"
		}
		rows = append(rows, []string{r.Coach, seat, name, r.From, r.To, status, strings.Join(with, "+"), r.Booking.String()})
	}
	for _, b := range m.Blocks {
		rows = append(rows, []string{b.Coach, strconv.Itoa(b.Seat), "", m.Run.Calls[b.Board].Name, m.Run.Calls[b.Alight].Name, "blocked"})
	}
	if len(rows) == 1 {
		tell.say("Nobody has booked it.")
	} else {
		sayTable(tell, rows)
	}
	rows = [][]string{{"from", "to", "confirmed", "held", "blocked", "free", "bicycles"}}
	for _, s := range m.Sections {
		free := strconv.Itoa(s.Free)
		if len(m.Run.Coaches) == 0 {
			free = "-"
		}
		rows = append(rows, []string{s.From, s.To, strconv.Itoa(s.Confirmed), strconv.Itoa(s.Held), strconv.Itoa(s.Blocked), free, strconv.Itoa(s.Bicycles)})
	}
	sayTable(tell, rows)
	if left := unreadable(m.Unreadable, " and may be of this train"); left != "" {
		tell.say(left)
	}
	return nil
}

// sayTable says rows in columns.
func sayTable(tell teller, rows [][]string) {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	_ = w.Flush() // into memory
	for line := range strings.Lines(b.String()) {
		tell.say(strings.TrimRight(line, " \n"))
	}
}

// manifestJSON is a manifest with the names of the API.
func manifestJSON(m traintravel.Manifest) any {
	type object = map[string]any
	riders, blocks, sections := []object{}, []object{}, []object{}
	for _, r := range m.Riders {
		riders = append(riders, object{
			"booking_id": r.Booking, "passenger_name": r.PassengerName, "status": r.Status.String(), "coach": r.Coach, "seat": r.Seat,
			"from": r.From, "to": r.To, "has_bicycle": r.HasBicycle, "has_dog": r.HasDog, "stranded": r.Stranded, "unreadable": r.Unreadable,
		})
	}
	for _, b := range m.Blocks {
		blocks = append(blocks, object{"coach": b.Coach, "seat": b.Seat, "from": m.Run.Calls[b.Board].Name, "to": m.Run.Calls[b.Alight].Name})
	}
	for _, s := range m.Sections {
		sections = append(sections, object{
			"from": s.From, "to": s.To, "confirmed": s.Confirmed, "held": s.Held, "blocked": s.Blocked, "free": s.Free, "bicycles": s.Bicycles,
		})
	}
	return object{
		"train": m.Run.Number, "operator": m.Run.Operator, "date": m.Run.ID.Date.String(), "cancelled": m.Run.Cancelled,
		"riders": riders, "blocks": blocks, "sections": sections, "unreadable": m.Unreadable,
	}
}

// onBlock takes places out of sale, or puts them back.
func onBlock(ctx context.Context, service *traintravel.Service, req runRequest, tell teller) error {
	run, err := req.find(ctx, service)
	if err != nil {
		return err
	}
	from, to := 0, len(run.Calls)-1
	for _, end := range []struct {
		flag, name string
		call       *int
	}{{"--from", req.From, &from}, {"--to", req.To, &to}} {
		if end.name == "" {
			continue
		}
		*end.call = slices.IndexFunc(run.Calls, func(c traintravel.RunCall) bool { return strings.EqualFold(c.Name, end.name) })
		if *end.call < 0 {
			var names []string
			for _, c := range run.Calls {
				names = append(names, c.Name)
			}
			return usagef("%s: the train does not call at %.100q, but at %s", end.flag, end.name, strings.Join(names, ", "))
		}
	}
	var blocks []traintravel.Block
	for _, place := range req.Places {
		coach, seat, _ := strings.Cut(place, ":")
		n, err := strconv.Atoi(seat)
		if err != nil && seat != "*" {
			return usagef("%.100q is no place such as 7:11", place)
		}
		at := slices.IndexFunc(run.Coaches, func(c traintravel.Coach) bool { return c.Number == coach })
		if seat == "*" && at < 0 {
			return usagef("the train has no coach %.100q", coach)
		}
		if seat != "*" {
			blocks = append(blocks, traintravel.Block{Coach: coach, Seat: n, Board: from, Alight: to})
			continue
		}
		for n := range run.Coaches[at].Seats {
			blocks = append(blocks, traintravel.Block{Coach: coach, Seat: n + 1, Board: from, Alight: to})
		}
	}
	do, done := service.Block, "out of sale"
	if req.Undo {
		do, done = service.Unblock, "for sale again"
	}
	err = do(ctx, run.ID, blocks...)
	if wrong, ok := errors.AsType[*traintravel.InvalidError](err); ok {
		return errors.New(wrong.Reason) // its field is the number of a block
	}
	if req.Undo && errors.Is(err, traintravel.ErrNotFound) {
		return fmt.Errorf("%w: 'manifest' lists what is blocked, and from where to where (--from, --to)", err)
	}
	if err != nil {
		return err
	}
	tell.say(fmt.Sprintf("%s: %s %s", runTitle(run), howMany(len(blocks), "place is", "places are"), done))
	return nil
}

// onCancelRun cancels a run, or says what that would do.
func onCancelRun(ctx context.Context, service *traintravel.Service, req runRequest, tell teller) error {
	run, err := req.find(ctx, service)
	if err != nil {
		return err
	}
	if req.Undo {
		if !run.Cancelled {
			return fmt.Errorf("%s: it is not cancelled", runTitle(run))
		}
		if err := service.RestoreRun(ctx, run.ID); err != nil {
			return err
		}
		run.Cancelled = false
		tell.say(runTitle(run) + ": for sale again")
		return nil
	}
	if run.Arrived && !run.Cancelled && !req.Past {
		return fmt.Errorf("%s: %w; if its passengers are to have their money back all the same, give --past", runTitle(run), traintravel.ErrArrived)
	}
	if !req.Yes {
		m, err := service.Manifest(ctx, run.ID)
		if err != nil {
			return err
		}
		tell.say(fmt.Sprintf("%s: %s would be cancelled; give --yes to do it", runTitle(m.Run), howMany(len(m.Riders), "booking", "bookings")))
		if left := unreadable(m.Unreadable, " and may be of this train"); left != "" {
			tell.say(left)
		}
		return nil
	}
	done, err := service.CancelRun(ctx, run.ID, traintravel.CancelRunOptions{
		Past: req.Past, Progress: func(looked int) { tell.progress(int64(looked), 0) },
	})
	if errors.Is(err, traintravel.ErrArrived) { // meanwhile
		return err
	}
	refunds := "no refund"
	if len(done.Refunds) > 0 {
		refunds = "refunds of"
		for _, currency := range slices.Sorted(maps.Keys(done.Refunds)) {
			refunds += " " + traintravel.Money{Amount: done.Refunds[currency], Currency: currency}.String()
		}
	}
	run.Cancelled = true
	tell.say(fmt.Sprintf("%s: %s cancelled, %s", runTitle(run), howMany(done.Bookings, "booking", "bookings"), refunds))
	if done.Paying > 0 {
		tell.say(howMany(done.Paying, "of them is", "of them are") + " being paid for at this moment: what is taken is given back")
	}
	if err != nil {
		return fmt.Errorf("it was broken off, call it again: %w", err)
	}
	if n := len(done.Unreadable); n > 0 {
		for i, id := range done.Unreadable {
			if i == listed {
				tell.say(fmt.Sprintf("  and %d more", n-listed))
				break
			}
			tell.say("  not cancelled, if it is of this train: " + id.String())
		}
		return errors.New(howMany(n, "booking", "bookings") + " could not be read, or what changes with them: run check, which names the records, and cancel the train again when they can be read")
	}
	return nil
}
