// Package demo holds the demo network: a timetable of long-distance trains
// across Europe, to try things out with before there is a real one.
//
// It is a GTFS feed of our own making. The stations are real, and so are their
// names, places and clocks, and about how long trains take between them. The
// operators, the train numbers, the exact times, the coaches and the fares are
// invented, and the trains run every day from 2020 to 2099. Nobody can travel
// by it. Between the stations of one city it has transfers, and with three
// changes one gets from nearly everywhere to everywhere.
//
// The tables in the folder gen are the source of the files in the folder feed;
// go generate makes these from those. Both are ours, under the licence of this
// module.
//
// Beyond GTFS, the feed has all the extension columns that package gtfs reads.
// All its times are in the zone Europe/Berlin, since GTFS wants one zone for
// all agencies of a feed: by its files, a train leaves London at 08:01 when it
// is 07:01 there.
package demo

import (
	"embed"
	"io/fs"
)

//go:generate go run ./gen

//go:embed feed/*.txt
var files embed.FS

// Feed returns the demo network as the files of a GTFS feed.
func Feed() fs.FS {
	feed, err := fs.Sub(files, "feed")
	if err != nil {
		panic(err) // only for a malformed name
	}
	return feed
}
