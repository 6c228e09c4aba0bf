package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/store/boltstore"
	"github.com/traintravel/traintravel/store/memstore"
)

// A timetable replaces the one in force unless it looks like a mistake; the report begins
// with what changes.

// accept completes a report with what a timetable changes, and refuses one that looks
// like a mistake, unless --force takes it all the same.
func (h *handover) accept(e traintravel.Edition) error {
	h.Report.Changes = changes(e)
	h.Report.notePast(e)
	h.Report.Warning = ""
	doubts := e.Doubts()
	if e.Replaces && slices.ContainsFunc(doubts, isFew) && isDemo(e.Before) {
		doubts = slices.DeleteFunc(doubts, isFew) // it is no earlier edition of anything
	}
	if !e.Replaces { // the first is never refused
		h.Report.warn(traintravel.Edition{Replaces: true, Feeds: e.Feeds}.Doubts())
	}
	if len(doubts) == 0 {
		return nil
	}
	err := &traintravel.EditionError{Doubts: doubts}
	if h.Options.Force {
		h.Report.Changes = append(h.Report.Changes, "imported because of --force: "+err.Error())
		h.Report.warn(doubts)
		return nil
	}
	return fmt.Errorf("%w. Nothing changed; give --force to import it all the same", err)
}

func isFew(d traintravel.Doubt) bool { return d.Kind == traintravel.DoubtFewTrains }

// isDemo says whether a timetable is the demo network, which serve loads if there is no other:
// all its operators are invented.
func isDemo(size traintravel.EditionSize) bool {
	t, err := demoNetwork(context.Background())
	if err != nil || len(size.Operators) == 0 {
		return false
	}
	invented := map[string]bool{}
	for i := range t.Trains {
		invented[t.Trains[i].Operator] = true
	}
	return !slices.ContainsFunc(size.Operators, func(name string) bool { return !invented[name] })
}

// changes are what a timetable changes, line by line.
func changes(e traintravel.Edition) []string {
	period := func(s traintravel.EditionSize) string { return fmt.Sprintf("%v to %v", s.First, s.Last) }
	switch {
	case !e.Replaces:
		return []string{"changes: this is the first timetable", "period: " + period(e.After)}
	case e.Before.Trains == 0:
		return []string{"changes: not compared, because the current timetable cannot be read", "period: " + period(e.After)}
	}
	count := func(what string, d traintravel.Difference) string {
		return fmt.Sprintf("%s: %d added, %d removed, %d kept", what, d.Added, d.Removed, d.Kept)
	}
	out := []string{
		"changes to the current timetable:",
		"period: " + period(e.After) + "; currently " + period(e.Before),
		count("trains", e.Trains),
		count(fmt.Sprintf("runs from %v on", e.Today), e.Runs),
		count("stations", e.Stations),
	}
	if gone := names(e.Before.Operators, e.After.Operators); gone != "" {
		out = append(out, "operators removed: "+gone)
	}
	if added := names(e.After.Operators, e.Before.Operators); added != "" {
		out = append(out, "operators added: "+added)
	}
	out = append(out, "bookings that no longer fit: "+fmt.Sprint(e.Bookings))
	if left := unreadable(e.Unreadable, ", so there may be more"); left != "" {
		out = append(out, left)
	}
	return out
}

// names lists the first of those that are in one list alone.
func names(in, notIn []string) string {
	const most = 5
	var only []string
	for _, name := range in {
		if !slices.Contains(notIn, name) {
			only = append(only, name)
		}
	}
	if more := len(only) - most; more > 0 {
		only = append(only[:most], fmt.Sprintf("%d more", more))
	}
	return strings.Join(only, ", ")
}

// warn sets the warning about a timetable that has expired, or ends by tomorrow.
func (r *report) warn(doubts []traintravel.Doubt) {
	var texts []string
	for _, d := range doubts {
		if d.Kind == traintravel.DoubtExpired || d.Kind == traintravel.DoubtEndsSoon {
			texts = append(texts, d.Text)
		}
	}
	if len(texts) > 0 {
		r.Warning = "few trips or none can be sold from this timetable, because " + strings.Join(texts, ", and ") + "; import a newer one"
	}
}

// notePast notes the feeds that have expired, by the clock of the service.
func (r *report) notePast(e traintravel.Edition) {
	for _, f := range e.Feeds {
		for i := range r.Feeds {
			note := fmt.Sprintf("expired: its last train ran on %v", f.Last)
			if notes := &r.Feeds[i].Notes; r.Feeds[i].Name == f.Feed && f.After > 0 && f.Left < 0 && !slices.Contains(*notes, note) {
				*notes = append(*notes, note)
			}
		}
	}
}

// compare reports what a timetable would change, and changes nothing.
func (h *handover) compare(ctx context.Context, service *traintravel.Service) (*report, error) {
	e, err := service.CompareTimetable(ctx, h.timetable)
	if err != nil {
		return h.Report, err
	}
	return h.Report, h.accept(e)
}

// dryRun says what an import would change. If the timetable in force cannot be had, the
// report says so.
func (p *program) dryRun(ctx context.Context, where storage, h *handover) (*report, error) {
	rep, err := (*report)(nil), errNoServer // that has the data to itself
	if !where.shared() {
		rep, err = p.asker(where.data).handOver(ctx, h)
	}
	if errors.Is(err, errNoServer) {
		rep, err = p.compareStored(ctx, where, h)
	}
	if rep == nil && err != nil && ctx.Err() == nil {
		h.Report.Changes = []string{"not compared with the current timetable: " + err.Error()}
		return h.Report, nil
	}
	return rep, err
}

// compareStored compares with what is in a store that no server has to itself, or else
// with nothing.
func (p *program) compareStored(ctx context.Context, where storage, h *handover) (*report, error) {
	var store traintravel.Store = memstore.New()
	switch {
	case where.shared():
		db, err := where.open(ctx, p.log, nil)
		if err != nil {
			return nil, err
		}
		defer db.Close()
		store = db
	case exists(where.data):
		file, err := boltstore.Open(where.data, readOnly)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		store = file
	}
	service, err := p.importService(ctx, store, h.Options)
	if err != nil {
		return nil, err
	}
	return h.compare(ctx, service)
}

// importService is a service to load a timetable with, by the clock of --clock.
func (p *program) importService(ctx context.Context, store traintravel.Store, o feedOptions) (*traintravel.Service, error) {
	clock, err := serviceClock(ctx, settings{clock: o.Clock}, store)
	if err != nil {
		return nil, err
	}
	return traintravel.New(store, traintravel.Options{Logger: p.log, Now: clock})
}
