package gtfs_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/traintravel/traintravel/gtfs"
)

// An entry is a file of a zip, as what writes it claims it to be.
type entry struct {
	zip.FileHeader
	data []byte // packed
}

// packed packs a text as a good program does.
func packed(name, text string) entry {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestSpeed)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return entry{zip.FileHeader{
		Name: name, Method: zip.Deflate, CRC32: crc32.ChecksumIEEE([]byte(text)),
		CompressedSize64: uint64(b.Len()), UncompressedSize64: uint64(len(text)),
	}, b.Bytes()}
}

// bomb packs a head and a text that follows it very often, about a thousandfold and
// without going through all of it. The text is a divisor of a MiB long.
func bomb(name, head, text string, mib int) entry {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestCompression)
	_, _ = w.Write([]byte(head))
	block := []byte(strings.Repeat(text, 1<<20/len(text)))
	write := func() []byte {
		was := b.Len()
		_, _ = w.Write(block)
		_ = w.Flush()
		return slices.Clone(b.Bytes()[was:])
	}
	write()
	again := write() // all that follow are the same
	for range mib - 2 {
		b.Write(again)
	}
	_ = w.Close()
	size := len(head) + mib<<20
	return entry{zip.FileHeader{
		Name: name, Method: zip.Deflate, CompressedSize64: uint64(b.Len()), UncompressedSize64: uint64(size),
	}, b.Bytes()}
}

// goods are the files of base, without some.
func goods(without ...string) (all []entry) {
	for name, f := range files(base) {
		if !slices.Contains(without, name) {
			all = append(all, packed(name, string(f.Data)))
		}
	}
	slices.SortFunc(all, func(a, b entry) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// inZip is a hostile zip of entries; spoil, if not nil, changes its bytes.
func inZip(name, want string, make func() []entry, spoil func([]byte) []byte) hostile {
	return hostile{name: name, want: want, make: func(t *testing.T, dir string) string {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for _, e := range make() {
			w, err := z.CreateRaw(&e.FileHeader)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write(e.data); err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		text := b.Bytes()
		if spoil != nil {
			text = spoil(text)
		}
		path := filepath.Join(dir, "feed.zip")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}}
}

// with is base with one file in another form, and perhaps some more.
func with(e entry, more ...entry) func() []entry {
	return func() []entry { return append(append(goods(e.Name), e), more...) }
}

// changed is a file of base whose header is changed.
func changed(name string, change func(*entry)) func() []entry {
	e := packed(name, string(files(base)[name].Data))
	change(&e)
	return func() []entry { return append(goods(name), e) }
}

const stopTimesHead = "trip_id,stop_id,stop_sequence,arrival_time,departure_time,shape_dist_traveled\n"

// sixteen is a row of calendar_dates.txt, and sixteen bytes long.
const sixteen = "d,20260101,1   \n"

func hostileZips() []hostile {
	limited := func(h hostile, l gtfs.Limits) hostile { h.limits = l; return h }
	const plenty = 5000 // as a ratio
	dates := "service_id,date,exception_type\n"
	many := func(n int, name func(i int) string) func() []entry {
		return func() []entry {
			all := goods()
			for i := range n {
				all = append(all, entry{zip.FileHeader{Name: name(i)}, nil})
			}
			return all
		}
	}
	return []hostile{
		inZip("a zip bomb: one trip with two million calls", "stop_times.txt:1023998: up to here the table is more than 200 times as long as in the zip (Limits.Ratio)", with(bomb("stop_times.txt", stopTimesHead, "t1,B,1,8:00:00,8:00:00,0.000000\n", 64)), nil),
		inZip("a bomb of stations", "stops.txt:1048574: up to here the table is more than 200 times as long as in the zip (Limits.Ratio)", with(bomb("stops.txt", "stop_id,stop_name,stop_lat,stop_lon\n", "S,South,1,1    \n", 40)), nil),
		inZip("a bomb of blank lines", "calendar_dates.txt:16777186: up to here the table is more than 200 times as long as in the zip (Limits.Ratio)", with(bomb("calendar_dates.txt", dates, "\n", 40)), nil),
		limited(inZip("a bomb below the ratio, but with more bytes than Limits.Bytes", "calendar_dates.txt:2095103: up to here the feed has more than 33554432 bytes, unpacked (Limits.Bytes)", with(bomb("calendar_dates.txt", dates, sixteen, 40)), nil), gtfs.Limits{Ratio: plenty, Bytes: 32 << 20}),
		inZip("a bomb in a file that is not read", "1 trains", with(bomb("shapes.txt", "shape_id\n", "0123456789abcde\n", 1000)), nil),
		inZip("a bomb of one line", "stops.txt:1: the record is longer than 64 KiB", with(bomb("stops.txt", "stop_id,stop_name", "0123456789abcdef", 40)), nil),
		inZip("an encrypted table", "gtfs: stops.txt: the file is encrypted: unpack the zip with its password, and import the folder", changed("stops.txt", func(e *entry) { e.Flags |= 1 }), nil),
		inZip("a strongly encrypted table", "gtfs: stops.txt: the file is encrypted: unpack the zip with its password, and import the folder", changed("stops.txt", func(e *entry) { e.Flags |= 1<<6 | 1 }), nil),
		inZip("an encrypted table that may be missing", "gtfs: transfers.txt: the file is encrypted: unpack the zip with its password, and import the folder", with(entry{zip.FileHeader{Name: "transfers.txt", Flags: 1, CompressedSize64: 12}, make([]byte, 12)}), nil),
		inZip("a table packed by bzip2", "gtfs: stops.txt: the file is compressed with method 12, which is not supported: use deflate", changed("stops.txt", func(e *entry) { e.Method = 12 }), nil),
		inZip("a table twice in the zip", "gtfs: the zip contains stops.txt twice", with(packed("stops.txt", "stop_id\n"), packed("stops.txt", "stop_id\n")), nil),
		inZip("a table twice, in two letter cases", "gtfs: the zip contains both transfers.txt and Transfers.TXT", with(packed("transfers.txt", ""), packed("Transfers.TXT", "")), nil),
		inZip("a table in upper case alone", "stops.txt: the file is missing, but STOPS.TXT: table names have to be in lower case", changed("stops.txt", func(e *entry) { e.Name = "STOPS.TXT" }), nil),
		inZip("a zip cut in half", "gtfs: it is not a zip file, or an incomplete one: zip: not a valid zip file", goodEntries, func(b []byte) []byte { return b[:len(b)/2] }),
		inZip("a zip without its first bytes", "gtfs: readat negative offset", goodEntries, func(b []byte) []byte { return b[100:] }),
		inZip("a zip after a program that unpacks it", "1 trains", goodEntries, func(b []byte) []byte { return append(make([]byte, 5000), b...) }),
		inZip("a wrong checksum", "gtfs: stops.txt: the zip is damaged: zip: checksum error", changed("stops.txt", func(e *entry) { e.CRC32++ }), nil),
		inZip("a table that is longer than it says", "gtfs: stop_times.txt: the zip is damaged: zip: not a valid zip file", changed("stop_times.txt", func(e *entry) { e.UncompressedSize64 = 10 }), nil),
		inZip("a table that says it has no bytes", "gtfs: stop_times.txt: the zip is damaged: zip: not a valid zip file", changed("stop_times.txt", func(e *entry) { e.UncompressedSize64 = 0 }), nil),
		inZip("a table that says it has 1 TiB (zip64)", "gtfs: stops.txt: the zip is damaged: unexpected EOF", changed("stops.txt", func(e *entry) { e.UncompressedSize64 = 1 << 40 }), nil),
		inZip("a table that says it is packed in 1 TiB (zip64)", "gtfs: stops.txt is longer than the rest of the zip: the zip is truncated or damaged", goodEntries, func(b []byte) []byte { return patch(b, "stops.txt", 20, 0xfffffff0) }),
		inZip("two tables in the same bytes", "gtfs: stops.txt and trips.txt share the same bytes of the zip", goodEntries, overlap),
		inZip("packed bytes that are none", "gtfs: stops.txt: the zip is damaged: flate: corrupt input before offset 1", changed("stops.txt", func(e *entry) { e.data = bytes.Repeat([]byte{0xff}, len(e.data)) }), nil),
		inZip("a text that says it is packed", "gtfs: stops.txt: the zip is damaged: unexpected EOF", changed("stops.txt", func(e *entry) { e.data = bytes.Repeat([]byte("stop_id,"), 99)[:len(e.data)] }), nil),
		inZip("names that lead out of the zip", "1 trains", with(packed("../../stops.txt", "x\n"), packed("/etc/passwd", ""), packed("a/../stops.txt", "")), nil),
		inZip("no table but by names that lead out of the zip", "stops.txt: the file is missing", changed("stops.txt", func(e *entry) { e.Name = "../stops.txt" }), nil),
		inZip("a table of the whole path", "stops.txt: the file is missing", changed("stops.txt", func(e *entry) { e.Name = "/stops.txt" }), nil),
		inZip("names 32,000 folders deep", "1 trains", many(20, func(i int) string { return strings.Repeat("a/", 32_000) + fmt.Sprint(i, "/stops.txt") }), nil),
		inZip("9,000 names 480 folders deep", "1 trains", many(9000, func(i int) string { return fmt.Sprint(i, "/") + strings.Repeat("a/", 480) + "stops.txt" }), nil),
		inZip("10,001 files", "gtfs: 10007 files in one zip are more than 10000", many(10_001, func(i int) string { return fmt.Sprint(i) }), nil),
		inZip("a list of files of 18 MB", "gtfs: the list of files in the zip has more than 16777216 bytes", many(300, func(i int) string { return strings.Repeat("n", 60_000) + fmt.Sprint(i) }), nil),
		inZip("a symbolic link in the zip", "stops.txt: it is neither a file nor a folder, but a link, a pipe or a device", with(linked("stops.txt", "/etc/passwd")), nil),
		inZip("a folder in place of a table", "stops.txt: the file is missing", changed("stops.txt", func(e *entry) { e.Name, e.data, e.FileHeader.CompressedSize64 = "stops.txt/", nil, 0 }), nil),
		inZip("a name with a zero byte", "stops.txt: the file is missing", changed("stops.txt", func(e *entry) { e.Name = "stops.txt\x00.png" }), nil),
		inZip("a name with another alphabet's letter", "stops.txt: the file is missing", changed("stops.txt", func(e *entry) { e.Name = "ѕtops.txt" }), nil),
		inZip("names of Windows", "1 trains", func() []entry { return renamed(`feed\`) }, nil),
		inZip("names that begin with ./", "1 trains", func() []entry { return renamed("./") }, nil),
		inZip("a feed two folders deep", "agency.txt: the file is missing", func() []entry { return renamed("a/b/") }, nil),
		inZip("two feeds in one zip", "gtfs: both a and b contain a feed: read them one by one", func() []entry { return append(renamed("a/"), renamed("b/")...) }, nil),
		inZip("a zip in the zip", "agency.txt: the file is missing", func() []entry { return []entry{packed("feed.zip", "PK\x03\x04")} }, nil),
		inZip("an empty zip", "agency.txt: the file is missing", func() []entry { return nil }, nil),
		inZip("no zip", "gtfs: it is not a zip file, or an incomplete one: zip: not a valid zip file", goodEntries, func([]byte) []byte { return []byte("trip_id,stop_id\n") }),
		inZip("a file of no bytes", "gtfs: it is not a zip file, or an incomplete one: zip: not a valid zip file", goodEntries, func([]byte) []byte { return nil }),
		inZip("a zip of zeros", "gtfs: it is not a zip file, or an incomplete one: zip: not a valid zip file", goodEntries, func(b []byte) []byte { return make([]byte, len(b)) }),
	}
}

func goodEntries() []entry { return goods() }

// renamed is base under a prefix.
func renamed(prefix string) []entry {
	all := goods()
	for i := range all {
		all[i].Name = prefix + all[i].Name
	}
	return all
}

// linked is a symbolic link.
func linked(name, to string) entry {
	e := packed(name, to)
	e.SetMode(fs.ModeSymlink | 0o777)
	return e
}

// patch changes four bytes of a file's entry in the list, counted from its beginning.
func patch(b []byte, name string, at int, value uint32) []byte {
	b = slices.Clone(b)
	entry := bytes.LastIndex(b, []byte(name)) - 46
	binary.LittleEndian.PutUint32(b[entry+at:], value)
	return b
}

// overlap has trips.txt say that it lies where stops.txt does.
func overlap(b []byte) []byte {
	entry := bytes.LastIndex(b, []byte("stops.txt")) - 46
	return patch(b, "trips.txt", 42, binary.LittleEndian.Uint32(b[entry+42:]))
}
