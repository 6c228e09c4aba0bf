package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// agencyZone is the zone of all times in the feed: GTFS wants one for all
// agencies.
const agencyZone = "Europe/Berlin"

// feed is the files of a feed, as rows.
type feed map[string][][]string

func (f feed) add(file string, row ...string) { f[file] = append(f[file], row) }

// generate makes the texts of the feed's files.
func generate() (map[string][]byte, error) {
	f := feed{}
	f.addFrame()
	f.addStations()
	if err := f.addCrossings(); err != nil {
		return nil, err
	}
	f.add("routes.txt", "route_id", "agency_id", "route_long_name", "route_type")
	f.add("trips.txt", "route_id", "service_id", "trip_id", "trip_headsign", "trip_short_name", "direction_id",
		"bikes_allowed", "bicycle_hooks", "dogs_allowed", "coaches", "fare_currency", "fare_base", "fare_per_km")
	f.add("stop_times.txt", "trip_id", "arrival_time", "departure_time", "stop_id", "stop_sequence",
		"pickup_type", "drop_off_type")
	for _, l := range lines {
		if err := f.addLine(l); err != nil {
			return nil, fmt.Errorf("%s %d: %w", l.operator, l.first, err)
		}
	}

	texts := map[string][]byte{}
	for name, rows := range f {
		var b bytes.Buffer
		if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
			return nil, err
		}
		texts[name] = b.Bytes()
	}
	return texts, nil
}

// addFrame adds what all trains share: who runs them, and on which days.
func (f feed) addFrame() {
	first, last := fmt.Sprint(firstYear, "0101"), fmt.Sprint(lastYear, "1231")
	f.add("feed_info.txt", "feed_publisher_name", "feed_publisher_url", "feed_lang",
		"feed_start_date", "feed_end_date", "feed_version")
	f.add("feed_info.txt", "Train Travel", "https://github.com/traintravel/traintravel", "mul", first, last, "1")

	f.add("agency.txt", "agency_id", "agency_name", "agency_url", "agency_timezone", "agency_lang")
	for _, o := range operators {
		url := "https://" + strings.ToLower(o.code) + ".example/" // a domain nobody can own
		f.add("agency.txt", o.code, o.name, url, agencyZone, o.lang)
	}

	f.add("calendar.txt", "service_id", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
		"start_date", "end_date")
	for _, c := range calendars {
		row := append([]string{c.id}, strings.Split(c.days, "")...)
		f.add("calendar.txt", append(row, first, last)...)
	}

	f.add("calendar_dates.txt", "service_id", "date", "exception_type")
	for year := firstYear; year <= lastYear; year++ {
		for _, day := range holidays {
			date := fmt.Sprint(year, day)
			if t, _ := time.Parse("20060102", date); t.Weekday() == time.Saturday || t.Weekday() == time.Sunday {
				continue
			}
			f.add("calendar_dates.txt", workdays, date, "2") // removed
			f.add("calendar_dates.txt", weekend, date, "1")  // added
		}
	}
}

func (f feed) addStations() {
	f.add("stops.txt", "stop_id", "stop_name", "stop_lat", "stop_lon", "stop_timezone", "stop_country", "stop_address")
	for _, s := range stations {
		f.add("stops.txt", s.id, s.name, fmt.Sprintf("%.4f", s.latitude), fmt.Sprintf("%.4f", s.longitude),
			zones[s.country], s.country, s.address)
	}
}

// addCrossings adds the ways across a city, in both directions.
func (f feed) addCrossings() error {
	const takesTime = "2"
	f.add("transfers.txt", "from_stop_id", "to_stop_id", "transfer_type", "min_transfer_time")
	for _, c := range crossings {
		a, aKnown := stationByKey(c.a)
		b, bKnown := stationByKey(c.b)
		if !aKnown || !bKnown {
			return fmt.Errorf("no crossing from %q to %q: a station is missing", c.a, c.b)
		}
		seconds := strconv.Itoa(60 * c.minutes)
		f.add("transfers.txt", a.id, b.id, takesTime, seconds)
		f.add("transfers.txt", b.id, a.id, takesTime, seconds)
	}
	return nil
}

// addLine adds a route and its trains.
func (f feed) addLine(l line) error {
	there, err := parsePath(l.path)
	if err != nil {
		return err
	}
	back := reverse(there)
	fare := strings.Fields(l.fare)
	if len(fare) != 3 {
		return fmt.Errorf("fare %q", l.fare)
	}
	route := fmt.Sprint(l.operator, "-", l.first)
	f.add("routes.txt", route, l.operator, there[0].name+" – "+back[0].name, "2")

	for direction, path := range [][]stop{there, back} {
		departures, err := parseDepartures([]string{l.there, l.back}[direction])
		if err != nil {
			return err
		}
		for i, departure := range departures {
			number := l.first + 2*i + 1 + direction
			id := fmt.Sprint(l.operator, "-", number)
			hooks := ""
			if l.stock.hooks > 0 {
				hooks = strconv.Itoa(l.stock.hooks)
			}
			f.add("trips.txt", route, l.days, id, path[len(path)-1].name, fmt.Sprint(l.operator, " ", number),
				strconv.Itoa(direction), strconv.Itoa(int(l.stock.bikes)), hooks, strconv.Itoa(int(l.stock.dogs)),
				l.stock.coaches, fare[0], fare[1], fare[2])
			if err := f.addCalls(id, path, departure); err != nil {
				return err
			}
		}
	}
	return nil
}

// addCalls adds the calls of a train that leaves at a local time.
func (f feed) addCalls(trip string, path []stop, departure time.Duration) error {
	offset, err := behindAgency(zones[path[0].country])
	if err != nil {
		return err
	}
	t := departure + offset
	if t < 0 {
		return fmt.Errorf("%s leaves on the day before, by the clock of %s", trip, agencyZone)
	}
	for i, s := range path {
		arrive := t
		if i > 0 && i < len(path)-1 {
			t += s.dwell
		}
		f.add("stop_times.txt", trip, clock(arrive), clock(t), s.id, strconv.Itoa(i+1), barred(s.noBoarding), barred(s.noAlighting))
		t += s.run
	}
	return nil
}

// barred is a pickup_type or a drop_off_type.
func barred(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

func clock(t time.Duration) string {
	return fmt.Sprintf("%02d:%02d:00", int(t.Hours()), int(t.Minutes())%60)
}

// behindAgency returns by how much the clocks of a zone are behind those of
// the agencies in winter.
func behindAgency(zone string) (time.Duration, error) {
	var offsets [2]int
	for i, name := range []string{agencyZone, zone} {
		loc, err := time.LoadLocation(name)
		if err != nil {
			return 0, err
		}
		_, offsets[i] = time.Date(firstYear, time.January, 1, 12, 0, 0, 0, loc).Zone()
	}
	return time.Duration(offsets[0]-offsets[1]) * time.Second, nil
}

// stationByKey finds what a path names.
func stationByKey(key string) (station, bool) {
	i := slices.IndexFunc(stations, func(s station) bool { return s.key == key })
	if i < 0 {
		return station{}, false
	}
	return stations[i], true
}
