package synthfeed

import (
	"bufio"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/traintravel/traintravel"
)

// tables are the files of a feed. No text in them needs to be quoted.
var tables = []struct {
	name  string
	write func(*plan, *bufio.Writer)
}{
	{"agency.txt", (*plan).writeAgencies},
	{"feed_info.txt", (*plan).writeFeedInfo},
	{"stops.txt", (*plan).writeStops},
	{"transfers.txt", (*plan).writeTransfers},
	{"routes.txt", (*plan).writeRoutes},
	{"trips.txt", (*plan).writeTrips},
	{"stop_times.txt", (*plan).writeStopTimes},
	{"calendar.txt", (*plan).writeCalendar},
	{"calendar_dates.txt", (*plan).writeCalendarDates},
}

// writeAgencies writes one agency for each country.
func (p *plan) writeAgencies(w *bufio.Writer) {
	countries := map[string]bool{}
	for _, s := range p.stops {
		countries[s.country] = true
	}
	fmt.Fprintln(w, "agency_id,agency_name,agency_url,agency_timezone,agency_lang")
	for _, c := range slices.Sorted(maps.Keys(countries)) {
		fmt.Fprintf(w, "%s,Synthetic Rail %s,https://rail.example/%s,Europe/Brussels,en\n", c, c, strings.ToLower(c))
	}
}

func (p *plan) writeFeedInfo(w *bufio.Writer) {
	fmt.Fprintln(w, "feed_publisher_name,feed_publisher_url,feed_lang,feed_start_date,feed_end_date,feed_version")
	fmt.Fprintf(w, "Synthetic Rail,https://rail.example/,en,%s,%s,seed %d scale %g\n", day(p.From), day(p.to()), p.Seed, p.Scale)
}

func (p *plan) writeStops(w *bufio.Writer) {
	fmt.Fprintln(w, "stop_id,stop_name,stop_lat,stop_lon,location_type,stop_timezone,wheelchair_boarding,stop_country")
	for i, s := range p.stops {
		lat, lon := float64(s.lat)/degree, float64(s.lon)/degree
		fmt.Fprintf(w, "%s,%s,%.5f,%.5f,0,%s,%d,%s\n", s.id, s.name, lat, lon, zones[s.country], 1+i%2, s.country)
	}
}

// writeTransfers writes how long it takes to change at a hub, and to walk to
// another of the same city.
func (p *plan) writeTransfers(w *bufio.Writer) {
	const near = 6000
	fmt.Fprintln(w, "from_stop_id,to_stop_id,transfer_type,min_transfer_time")
	for i, a := range p.stops[:p.hubs] {
		for j, b := range p.stops[:p.hubs] {
			seconds := int64(180 + 120*a.weight)
			if i != j {
				metres := a.distance(b.point)
				if metres >= near {
					continue
				}
				seconds = 600 + metres*48/100
			}
			fmt.Fprintf(w, "%s,%s,2,%d\n", a.id, b.id, seconds)
		}
	}
}

func (p *plan) writeRoutes(w *bufio.Writer) {
	fmt.Fprintln(w, "route_id,agency_id,route_short_name,route_long_name,route_type")
	for i, l := range p.lines {
		from, to := p.stops[l.stops[0]], p.stops[l.stops[len(l.stops)-1]]
		fmt.Fprintf(w, "r%d,%s,%s %d,%s - %s,%d\n", i, from.country, l.name, i, from.name, to.name, l.route)
	}
}

// writeTrips writes the trips, of which the first is t1. High-speed trains and
// half of the intercity lines take no bicycles.
func (p *plan) writeTrips(w *bufio.Writer) {
	fmt.Fprintln(w, "route_id,service_id,trip_id,trip_short_name,trip_headsign,direction_id,wheelchair_accessible,bikes_allowed")
	for i, t := range p.trips {
		l := &p.lines[t.line]
		direction, bikes := 0, 1
		if t.back {
			direction = 1
		}
		if l.kind == highSpeed || l.kind == intercity && t.line%2 == 0 {
			bikes = 2
		}
		fmt.Fprintf(w, "r%d,%s,t%d,%s %d,%s,%d,%d,%d\n", t.line, t.service, i+1, l.name, i+1, p.terminus(t).name, direction, 1+direction, bikes)
	}
}

func (p *plan) writeStopTimes(w *bufio.Writer) {
	fmt.Fprintln(w, "trip_id,arrival_time,departure_time,stop_id,stop_sequence,pickup_type,drop_off_type")
	var calls []call
	var row []byte
	for i, t := range p.trips {
		calls = p.calls(calls[:0], t)
		for j, c := range calls {
			// A feed is mostly these rows, and package fmt is slow.
			row = strconv.AppendInt(append(row[:0], 't'), int64(i+1), 10)
			row = appendTime(append(row, ','), c.arrive)
			row = appendTime(append(row, ','), c.depart)
			row = append(append(row, ','), c.stop.id...)
			row = strconv.AppendInt(append(row, ','), int64(j+1), 10)
			row = append(row, ',', byte('0'+c.pickup), ',', byte('0'+c.dropOff), '\n')
			w.Write(row)
		}
	}
}

// appendTime appends a time before 100:00:00 as its String is.
func appendTime(b []byte, t traintravel.ServiceTime) []byte {
	for i, n := range [3]traintravel.ServiceTime{t / 3600, t / 60 % 60, t % 60} {
		if i > 0 {
			b = append(b, ':')
		}
		b = append(b, byte('0'+n/10), byte('0'+n%10))
	}
	return b
}

func (p *plan) writeCalendar(w *bufio.Writer) {
	fmt.Fprintln(w, "service_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,start_date,end_date")
	for s := range services() {
		days := strings.Join(strings.Split(s.days, ""), ",")
		fmt.Fprintf(w, "%s,%s,%s,%s\n", s, days, day(p.From), day(p.to()))
	}
}

func (p *plan) writeCalendarDates(w *bufio.Writer) {
	fmt.Fprintln(w, "service_id,date,exception_type")
	for s := range services() {
		for d, runs := range s.exceptions(p.Options) {
			kind := 2
			if runs {
				kind = 1
			}
			fmt.Fprintf(w, "%s,%s,%d\n", s, day(d), kind)
		}
	}
}

// day returns a date in the form 20261231.
func day(d traintravel.Date) string { return strings.ReplaceAll(d.String(), "-", "") }
