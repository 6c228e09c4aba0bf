package main

import (
	"cmp"
	"context"
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

// Commands on one run: its manifest, blocked places, and its cancellation.

// A runRequest names a run by train and date, and says what to do with it.
type runRequest struct {
	Train, Date, Departs string
	JSON                 bool
	Places               []string // to be blocked
	From, To             string   // between which stations
	Undo, Yes, Past      bool
}

// runCommand makes a command on one run.
func (p *program) runCommand(c *cobra.Command, name string, req *runRequest) *cobra.Command {
	var where storage
	c.ValidArgsFunction = completeRun
	c.RunE = func(c *cobra.Command, a []string) error {
		req.Train, req.Date, req.Places = a[0], a[1], a[2:]
		if err := req.check(); err != nil {
			return err
		}
		return p.errand(c, where, name, req)
	}
	c.Flags().StringVar(&req.Departs, "departs", "", "`time` such as 08:05 at which the train leaves its first station, if several trains have the number")
	where.flags(c.Flags())
	jsonFlag(c.Flags(), &req.JSON)
	return c
}

func (p *program) manifest() *cobra.Command {
	var req runRequest
	c := p.runCommand(&cobra.Command{
		Use:   "manifest TRAIN DATE",
		Short: "List the passengers and free places of a train",
		Long: `List the passengers of a train on a date with their places, as in
'manifest "ICE 575" 2026-12-31', and how many places are taken, blocked and free
between each two stations.

If a server has the data file open, it answers. For trains without numbered places, all
bookings are searched.`,
		Args: takes("TRAIN", "DATE"),
	}, "manifest", &req)
	return c
}

func (p *program) block() *cobra.Command {
	var req runRequest
	c := p.runCommand(&cobra.Command{
		Use:   "block TRAIN DATE COACH:SEAT…",
		Short: "Block places of a train, or unblock them",
		Long: `Block places of a train on a date, as in 'block "ICE 575" 2026-12-31 7:11 7:12', so
that they are not sold: for staff, or because they are broken. COACH:* is a whole coach.
Either all places are blocked or none: the command fails if a passenger has one of them.

If a server has the data file open, it does this.`,
		Args: takes("TRAIN", "DATE", "COACH:SEAT…"),
	}, "block", &req)
	c.Flags().StringVar(&req.From, "from", "", "`station` from which the places are blocked (default: the first)")
	c.Flags().StringVar(&req.To, "to", "", "`station` up to which the places are blocked (default: the last)")
	c.Flags().BoolVar(&req.Undo, "undo", false, "unblock places that were blocked from and to the same stations")
	return c
}

func (p *program) cancelRun() *cobra.Command {
	var req runRequest
	c := p.runCommand(&cobra.Command{
		Use:   "cancel-run TRAIN DATE",
		Short: "Cancel a train on a date, and refund its bookings in full",
		Long: `Cancel a train on a date: nobody can book it any more, its bookings are cancelled and
refunded in full, whatever the terms of sale say, and webhooks report each of them.
Without --yes the command only says what it would do. If it is interrupted, run it again.
A train that has arrived by the timetable needs --past, for example if it did not run.

If a server has the data file open, it does this. Servers make the refunds, in the
background.`,
		Args: takes("TRAIN", "DATE"),
	}, "cancel-run", &req)
	c.Flags().BoolVar(&req.Yes, "yes", false, "cancel the train, instead of only saying what that would do")
	c.Flags().BoolVar(&req.Past, "past", false, "cancel the train even if it has arrived by the timetable")
	c.Flags().BoolVar(&req.Undo, "undo", false, "sell the train again; its cancelled bookings stay cancelled")
	return c
}

// clock is the form of --departs.
const clock = "15:04"

// check finds mistakes in a request that can be found without the data.
func (q *runRequest) check() error {
	if _, err := traintravel.ParseDate(q.Date); err != nil {
		return invalidValue("DATE", q.Date, "a date such as 2026-12-31")
	}
	if _, err := time.Parse(clock, q.Departs); q.Departs != "" && err != nil {
		return invalidValue("--departs", q.Departs, "a time such as 08:05")
	}
	for _, place := range q.Places {
		_, seat, _ := strings.Cut(place, ":")
		if _, err := strconv.Atoi(seat); err != nil && seat != "*" {
			return invalidValue("place", place, "COACH:SEAT such as 7:11, or COACH:* for a coach")
		}
	}
	return nil
}

// find finds the run of the request.
func (q *runRequest) find(ctx context.Context, service *traintravel.Service) (traintravel.Run, error) {
	if err := q.check(); err != nil {
		return traintravel.Run{}, err
	}
	date, _ := traintravel.ParseDate(q.Date) // checked
	runs, err := service.Runs(ctx, q.Train, date)
	if err != nil {
		return traintravel.Run{}, err
	}
	if q.Departs != "" {
		departs, _ := time.Parse(clock, q.Departs) // checked
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
	return traintravel.Run{}, usagef("%d trains have the number %.100q on %v: name one with --departs\n%s", len(runs), q.Train, date, strings.Join(all, "\n"))
}

func runTitle(r traintravel.Run) string {
	first, last := r.Calls[0], r.Calls[len(r.Calls)-1]
	title := fmt.Sprintf("%s of %s on %v, %s %s to %s %s", r.Number, r.Operator, r.ID.Date,
		first.Name, first.Depart.Format("15:04"), last.Name, last.Arrive.Format("15:04"))
	if r.Cancelled {
		title += ": CANCELLED"
	}
	if r.Unreadable {
		title += ": its sales cannot be read; run 'traintravel check'"
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
		return sayJSON(tell, manifestJSON(m))
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
			status += ", sold before the timetable changed"
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
		tell.say("No bookings.")
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

// onBlock blocks places, or unblocks them.
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
			return usagef("invalid %s %.100q: the train calls at %s", end.flag, end.name, strings.Join(names, ", "))
		}
	}
	var blocks []traintravel.Block
	for _, place := range req.Places {
		coach, seat, _ := strings.Cut(place, ":")
		n, _ := strconv.Atoi(seat) // checked
		at := slices.IndexFunc(run.Coaches, func(c traintravel.Coach) bool { return c.Number == coach })
		if seat == "*" && at < 0 {
			return usagef("invalid place %.100q: the train has no coach %.100q", place, coach)
		}
		if seat != "*" {
			blocks = append(blocks, traintravel.Block{Coach: coach, Seat: n, Board: from, Alight: to})
			continue
		}
		for n := range run.Coaches[at].Seats {
			blocks = append(blocks, traintravel.Block{Coach: coach, Seat: n + 1, Board: from, Alight: to})
		}
	}
	do, done := service.Block, "blocked"
	if req.Undo {
		do, done = service.Unblock, "unblocked"
	}
	err = do(ctx, run.ID, blocks...)
	if wrong, ok := errors.AsType[*traintravel.InvalidError](err); ok {
		return errors.New(wrong.Reason) // its field is the number of a block
	}
	if req.Undo && errors.Is(err, traintravel.ErrNotFound) {
		return fmt.Errorf("%w: 'manifest' lists the blocked places, with the stations for --from and --to", err)
	}
	if err != nil {
		return err
	}
	if req.JSON {
		o := runJSON(run)
		o["blocked"], o["places"] = !req.Undo, listOf(blocks, func(b traintravel.Block) any { return object{"coach": b.Coach, "seat": b.Seat} })
		o["from"], o["to"] = run.Calls[from].Name, run.Calls[to].Name
		return sayJSON(tell, o)
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
			return fmt.Errorf("cannot undo: %s is not cancelled", runTitle(run))
		}
		if err := service.RestoreRun(ctx, run.ID); err != nil {
			return err
		}
		run.Cancelled = false
		if req.JSON {
			return sayJSON(tell, runJSON(run))
		}
		tell.say(runTitle(run) + ": on sale again")
		return nil
	}
	if run.Arrived && !run.Cancelled && !req.Past {
		return fmt.Errorf("%s: %w; give --past to cancel it and refund its passengers all the same", runTitle(run), traintravel.ErrArrived)
	}
	if !req.Yes {
		m, err := service.Manifest(ctx, run.ID)
		if err != nil {
			return err
		}
		if req.JSON {
			o := runJSON(m.Run)
			o["bookings_to_cancel"], o["unreadable"] = len(m.Riders), m.Unreadable
			return sayJSON(tell, o)
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
	if req.JSON {
		return errors.Join(sayJSON(tell, cancellationJSON(run, done)), interrupted(err), cancelLater(len(done.Unreadable)))
	}
	tell.say(fmt.Sprintf("%s: %s cancelled, %s", runTitle(run), howMany(done.Bookings, "booking", "bookings"), refunds))
	if done.Paying > 0 {
		tell.say(howMany(done.Paying, "of them has", "of them have") + " a payment in progress, which will be refunded")
	}
	if err != nil {
		return interrupted(err)
	}
	if n := len(done.Unreadable); n > 0 {
		for i, id := range done.Unreadable {
			if i == listed {
				tell.say(fmt.Sprintf("  and %d more", n-listed))
				break
			}
			tell.say("  not cancelled, if it is of this train: " + id.String())
		}
	}
	return cancelLater(len(done.Unreadable))
}

// cancelLater is the error of a cancellation that could not read all bookings, nil if it could.
func cancelLater(unread int) error {
	if unread == 0 {
		return nil
	}
	return errors.New(howMany(unread, "booking", "bookings") + " or their records could not be read: run 'traintravel check', which names the records, and cancel the train again when they can be read")
}
