package gtfs_test

import (
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"
)

// wide is a text in UTF-16, with its mark.
func wide(s string, order binary.AppendByteOrder) string {
	b := order.AppendUint16(nil, 0xfeff)
	for _, u := range utf16.Encode([]rune(s)) {
		b = order.AppendUint16(b, u)
	}
	return string(b)
}

// spoilt is base with one file as spoil makes it.
func spoilt(name, want, file string, spoil func(string) string) hostile {
	return hostile{name: name, want: want, make: func(t *testing.T, _ string) string {
		feed := files(base)
		feed[file].Data = []byte(spoil(string(feed[file].Data)))
		return zipped(t, feed, "")
	}}
}

func hostileTexts() []hostile {
	be := func(s string) string { return wide(s, binary.BigEndian) }
	le := func(s string) string { return wide(s, binary.LittleEndian) }
	crs := func(s string) string { return strings.ReplaceAll(s, "\n", "\r") }
	add := func(more string) func(string) string { return func(s string) string { return s + "\n" + more } }
	put := func(text string) func(string) string { return func(string) string { return text } }
	header := func(s string) string { return s[:strings.IndexByte(s, '\n')+1] }
	columns := strings.Repeat("c,", 32_000)
	return []hostile{
		spoilt("UTF-16, low byte first", "stops.txt:1: the text is UTF-16: save it as UTF-8", "stops.txt", le),
		spoilt("UTF-16, high byte first", "stops.txt:1: the text is UTF-16: save it as UTF-8", "stops.txt", be),
		spoilt("Latin-1", "stops.txt:4: the text is not UTF-8", "stops.txt", func(s string) string { return strings.ReplaceAll(s, "ö", "\xf6") }),
		spoilt("a byte order mark twice", "stops.txt:1: column stop_id is missing", "stops.txt", func(s string) string { return "\ufeff\ufeff" + s }),
		spoilt("lines that end in CR alone", "stops.txt:1: the lines end in CR only: end them in LF, or in CR and LF", "stops.txt", crs),
		spoilt("a long table whose lines end in CR alone", "stop_times.txt:1: the lines end in CR only: end them in LF, or in CR and LF", "stop_times.txt", func(s string) string { return crs(s + strings.Repeat("t1,B,1,,\n", 10_000)) }),
		spoilt("zero bytes in the header", "stops.txt:1: column stop_id is missing", "stops.txt", func(s string) string { return strings.Replace(s, "stop_id", "stop\x00_id", 1) }),
		spoilt("zero bytes alone", "stops.txt:1: column stop_id is missing", "stops.txt", put(strings.Repeat("\x00", 1000))),
		spoilt("a MiB of zero bytes", "stops.txt:1: the record is longer than 64 KiB", "stops.txt", put(strings.Repeat("\x00", 1<<20))),
		spoilt("zero bytes in a name", "1 trains", "stops.txt", func(s string) string { return strings.Replace(s, "Berlin", "Ber\x00lin", 1) }),
		spoilt("characters that reorder the text around them", "1 trains", "stops.txt", func(s string) string { return strings.Replace(s, "Berlin", "\u202eBerlin", 1) }),
		spoilt("a quote that is never closed", "stops.txt:5: a field without quotes contains a quote, or a quote is missing", "stops.txt", add(`X,"X`)),
		spoilt("a quote that is never closed, before a million lines", "stops.txt:5: the record is longer than 64 KiB", "stops.txt", add(`X,"X`+strings.Repeat("\n", 1_000_000))),
		spoilt("quotes in quotes in quotes", "stops.txt:5: a field without quotes contains a quote, or a quote is missing", "stops.txt", add(`X,"X"""X""","1",1`)),
		spoilt("a field of 1 MB", "stops.txt:5: the record is longer than 64 KiB", "stops.txt", add("X,"+strings.Repeat("x", 1_000_000)+",1,1\n")),
		spoilt("an ID of 1 MB", "trips.txt:3: the record is longer than 64 KiB", "trips.txt", add(strings.Repeat("x", 1_000_000)+",ICE,daily,\n")),
		spoilt("an ID of 60 KB", "trips.txt:3: trip_id has more than 200 characters", "trips.txt", add(strings.Repeat("x", 60_000)+",ICE,daily,\n")),
		spoilt("100,000 columns", "stops.txt:1: the record is longer than 64 KiB", "stops.txt", func(s string) string {
			return strings.Replace(s, "stop_id", strings.Repeat("c,", 100_000)+"stop_id", 1)
		}),
		spoilt("32,000 columns of one name", `stops.txt:1: column "c" occurs twice`, "stops.txt", func(s string) string { return strings.Replace(s, "stop_id", columns+"stop_id", 1) }),
		spoilt("32,000 columns without a name", "stops.txt:2: stop_id is missing", "stops.txt", func(s string) string { return strings.Replace(s, "stop_id", strings.Repeat(",", 32_000)+"stop_id", 1) }),
		spoilt("a row of 60,000 commas", "1 trains", "stops.txt", add(strings.Repeat(",", 60_000)+"\n")),
		spoilt("a column twice", `stops.txt:1: column "stop_name" occurs twice`, "stops.txt", func(s string) string { return strings.Replace(s, "stop_name", "stop_name,stop_name", 1) }),
		spoilt("a row with more fields than columns", "stops.txt:5: the row has more fields than the header", "stops.txt", add("X,X,1,1,1\n")),
		spoilt("semicolons for commas", "stops.txt:1: column stop_id is missing", "stops.txt", func(s string) string { return strings.ReplaceAll(s, ",", ";") }),
		spoilt("tabs for commas", "stops.txt:1: column stop_id is missing", "stops.txt", func(s string) string { return strings.ReplaceAll(s, ",", "\t") }),
		spoilt("an HTML page in place of a table", "stops.txt:1: column stop_id is missing", "stops.txt", put("<!DOCTYPE html>\n<title>404 Not Found</title>\n")),
		spoilt("a table of no bytes", "stops.txt: the table is empty", "stops.txt", put("")),
		spoilt("a table of blanks", "stops.txt:1: column stop_id is missing", "stops.txt", put(strings.Repeat(" \n", 1000))),
		spoilt("stations: only the header", `stop_times.txt:2: stop_id "B" is not in stops.txt`, "stops.txt", header),
		spoilt("trips: only the header", `stop_times.txt:2: trip_id "t1" is not in trips.txt`, "trips.txt", header),
		spoilt("calls: only the header", "gtfs: the feed has no train to import: trips.txt:2: the trip has fewer than two calls", "stop_times.txt", header),
		{name: "headers alone, in all tables", want: "agency.txt: the file lists no agency", make: func(t *testing.T, _ string) string {
			feed := files(base)
			for name := range feed {
				feed[name].Data = []byte(header(string(feed[name].Data)))
			}
			return zipped(t, feed, "")
		}},
		{name: "no bytes, in all tables", want: "agency.txt: the table is empty", make: func(t *testing.T, _ string) string {
			feed := files(base)
			for name := range feed {
				feed[name].Data = nil
			}
			return zipped(t, feed, "")
		}},
		spoilt("a name that is a formula", "1 trains", "stops.txt", func(s string) string { return strings.Replace(s, "Berlin", "=cmd|' /C calc'!A0", 1) }),
		spoilt("a name with a tag", "1 trains", "stops.txt", func(s string) string { return strings.Replace(s, "Berlin", "<script>alert(1)</script>", 1) }),
		spoilt("a name of 201 characters", "stops.txt:2: stop_name or stop_address has more than 200 characters", "stops.txt", func(s string) string { return strings.Replace(s, "Berlin", strings.Repeat("ä", 201), 1) }),
	}
}
