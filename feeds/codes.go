package feeds

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/gtfs"
)

// Codes finds the UIC codes of the stations of a GTFS feed in its stops.txt: in a
// stop_id, or else in a stop_code, such as 8503000, 8503000:0:7 or
// StopArea:OCE87113001. A platform's code is also that of its station, unless the
// station has another. The IDs are those of [gtfs.Read] with the feed's name, whether
// trains call there or not.
//
// It refuses a stops.txt of more than 128 MiB, unpacked, or one that is not a file.
//
// GTFS does not define such codes, and other numbers may look like one: compare the
// coordinates of the stations too.
func Codes(fsys fs.FS, feed string) (map[uuid.UUID]string, error) {
	codes, err := readCodes(fsys, feed)
	if err != nil {
		return nil, fmt.Errorf("feeds: UIC codes: %w", err)
	}
	return codes, nil
}

func readCodes(fsys fs.FS, feed string) (map[uuid.UUID]string, error) {
	stops, err := readStops(fsys)
	if err != nil {
		return nil, err
	}
	codes := map[uuid.UUID]string{}
	for own := range 2 { // stations' own codes first
		for id, s := range stops {
			if (s.parent == "") != (own == 0) || s.code == "" {
				continue
			}
			station := id
			for range 4 { // as far as gtfs goes
				if parent := stops[station].parent; parent != "" {
					station = parent
				}
			}
			at := gtfs.StationID(feed, station)
			// Of platforms that disagree the least code counts, whatever the order.
			if known, ok := codes[at]; !ok || own == 1 && stops[station].code == "" && s.code < known {
				codes[at] = s.code
			}
		}
	}
	return codes, nil
}

type stop struct{ code, parent string }

// readStops reads stops.txt, at the top or in the only folder that has one.
func readStops(fsys fs.FS) (map[string]stop, error) {
	name := "stops.txt"
	info, err := fs.Stat(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		if found, _ := fs.Glob(fsys, "*/"+name); len(found) == 1 {
			name = found[0]
			info, err = fs.Stat(fsys, name)
		}
	}
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file", name) // to open a pipe may take for ever
	}
	if err != nil {
		return nil, err
	}
	file, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text := bufio.NewReader(&limited{file, maxStops})
	if mark, err := text.Peek(3); err == nil && string(mark) == "\ufeff" {
		_, _ = text.Discard(3)
	}
	rows := csv.NewReader(text)
	rows.FieldsPerRecord, rows.LazyQuotes, rows.TrimLeadingSpace, rows.ReuseRecord = -1, true, true, true
	header, err := rows.Read()
	if err != nil {
		return nil, err
	}
	columns := map[string]int{}
	for i, name := range header {
		columns[strings.TrimSpace(name)] = i
	}
	stops := map[string]stop{}
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return stops, nil
		}
		if err != nil {
			return nil, err
		}
		get := func(column string) string {
			if i, ok := columns[column]; ok && i < len(row) {
				return strings.Clone(strings.TrimSpace(row[i]))
			}
			return ""
		}
		id, s := get("stop_id"), stop{parent: get("parent_station")}
		if get("location_type") == "1" {
			s.parent = ""
		}
		if s.code = uicCode(id); s.code == "" {
			s.code = uicCode(get("stop_code"))
		}
		stops[id] = s
	}
}

// maxStops bounds stops.txt, in bytes.
const maxStops = 128 << 20

// limited reads so many bytes, and fails where there are more.
type limited struct {
	r    io.Reader
	left int
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.left -= n; l.left < 0 {
		return 0, fmt.Errorf("stops.txt has more than %d bytes", maxStops)
	}
	return n, err
}

// countries are the first digits of UIC codes.
const countries = " 10 20 21 22 23 24 25 26 27 28 29 41 44 49 50 51 52 53 54 55 56 57 58 59 60 62 65 66 67 " +
	"70 71 72 73 74 75 76 78 79 80 81 82 83 84 85 86 87 88 90 91 92 93 94 95 96 97 98 99 "

// uicCode returns the UIC code that a text shows, seven digits without the check
// digit, or nothing: the only number in it that can be one.
func uicCode(text string) string {
	code := ""
	for _, run := range strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' }) {
		run = strings.TrimLeft(run, "0")
		if len(run) < 7 {
			continue
		}
		if code != "" || len(run) > 8 || !strings.Contains(countries, " "+run[:2]+" ") {
			return ""
		}
		// Some count the check digit without the country.
		if len(run) == 8 && run[7] != checkDigit(run[:7]) && run[7] != checkDigit(run[2:7]) {
			return ""
		}
		code = run[:7]
	}
	return code
}

// checkDigit is Luhn's.
func checkDigit(digits string) byte {
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 0 {
			d *= 2
		}
		sum += d/10 + d%10
	}
	return byte('0' + (10-sum%10)%10)
}
