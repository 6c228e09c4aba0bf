package gtfs

import (
	"fmt"
	"time"

	"github.com/traintravel/traintravel"
)

// readFeedInfo reads who published the feed, and for which days. None of it
// changes a train, so that nothing here is a mistake of its own.
func (f *feed) readFeedInfo() error {
	if !f.has("feed_info.txt") {
		return nil
	}
	t, err := f.open("feed_info.txt")
	if err != nil {
		return err
	}
	var (
		publisher = t.column("feed_publisher_name")
		version   = t.column("feed_version")
		start     = t.column("feed_start_date")
		end       = t.column("feed_end_date")
	)
	for first := true; t.next(); first = false {
		if !first {
			f.doubt(t.name, t.line(), "the file has more than one row: only the first is used")
			continue
		}
		f.report.Publisher, f.report.Version = t.text(publisher), t.text(version)
		f.report.Start = t.mention(start, "feed_start_date")
		f.report.End = t.mention(end, "feed_end_date")
		if end, today := f.report.End, f.opts.Today; end != 0 && today != 0 && end < today {
			f.doubt(t.name, t.line(), fmt.Sprintf("the feed has expired: feed_end_date is %v", end))
		}
		if start, end := f.report.Start, f.report.End; start != 0 && end != 0 && end < start {
			f.doubt(t.name, t.line(), "feed_end_date is before feed_start_date")
		}
	}
	return t.err
}

// mention returns a field that is a date of which nothing depends; zero is none.
func (t *table) mention(c column, name string) traintravel.Date {
	b := t.get(c)
	if len(b) == 0 {
		return 0
	}
	v, err := time.Parse("20060102", string(b))
	if err != nil {
		t.feed.doubt(t.name, t.line(), fmt.Sprintf("%s %.20q is not a date of the form 20261231", name, b))
		return 0
	}
	return traintravel.DateOf(v)
}
