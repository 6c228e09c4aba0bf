package search_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/store/memstore"
)

// platformFeed is a feed in which trains from Aberg come to platform 1 of Mitte, and go on
// to Zell from platforms 2 and 3.
var platformFeed = map[string]string{
	"agency.txt":   "agency_id,agency_name,agency_url,agency_timezone\n1,Rail,https://rail.example,Europe/Berlin\n",
	"routes.txt":   "route_id,route_type\nr,2\n",
	"calendar.txt": "service_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,start_date,end_date\nd,1,1,1,1,1,1,1,20260101,20261231\n",
	"stops.txt": "stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station\nA,Aberg,50,8,,\nM,Mitte,51,9,1,\n" +
		"M1,Mitte,51,9,0,M\nM2,Mitte,51,9,0,M\nM3,Mitte,51,9,0,M\nZ,Zell,52,10,,\n",
	"trips.txt": "route_id,service_id,trip_id,trip_short_name\nr,d,in,in\nr,d,out2,out2\nr,d,out3,out3\n",
	"stop_times.txt": "trip_id,stop_id,stop_sequence,arrival_time,departure_time\nin,A,1,08:00:00,08:00:00\nin,M1,2,09:00:00,09:00:00\n" +
		"out2,M2,1,09:10:00,09:10:00\nout2,Z,2,10:10:00,10:10:00\nout3,M3,1,09:30:00,09:30:00\nout3,Z,2,10:30:00,10:30:00\n",
}

// A change that a feed forbids between two platforms of a station is not offered, nor is
// a trip with it that was offered before; those between other platforms are.
func TestForbiddenBetweenPlatforms(t *testing.T) {
	t.Parallel()
	load := func(o *officetest.Office, transfers string) {
		t.Helper()
		feed := fstest.MapFS{"transfers.txt": {Data: []byte("from_stop_id,to_stop_id,from_trip_id,to_trip_id,transfer_type,min_transfer_time\n" + transfers)}}
		for name, text := range platformFeed {
			feed[name] = &fstest.MapFile{Data: []byte(text)}
		}
		tt, _, err := gtfs.Read(t.Context(), feed, gtfs.Options{})
		if err != nil {
			t.Fatal(err)
		}
		o.Load(tt)
	}
	search := func(o *officetest.Office) (found []traintravel.Trip, names []string) {
		t.Helper()
		list, err := o.SearchTrips(t.Context(), traintravel.TripQuery{
			Origin: gtfs.StationID("", "A"), Destination: gtfs.StationID("", "Z"), Depart: time.Date(2026, 3, 3, 0, 0, 0, 0, time.UTC),
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, trip := range list.Items {
			var legs []string
			for _, leg := range trip.Legs {
				legs = append(legs, leg.Number)
			}
			names = append(names, strings.Join(legs, "+"))
		}
		return list.Items, names
	}
	o := officetest.New(t, memstore.New())
	for _, c := range []struct {
		transfers string
		want      []string
	}{
		{"", []string{"in+out2"}},
		{"M1,M2,,,3,\n", []string{"in+out3"}},
		{"M2,M1,,,3,\n", []string{"in+out2"}},
		{"M1,M3,,,3,\n", []string{"in+out2"}},
		{"M1,M2,,,3,\nM1,M3,,,3,\n", nil},
		{"M1,M,,,3,\n", nil},
		{"M1,M2,,,3,\nM1,M2,in,out2,1,\n", []string{"in+out2"}},
	} {
		load(o, c.transfers)
		if _, got := search(o); !slices.Equal(got, c.want) {
			t.Errorf("%q: found %v, want %v", c.transfers, got, c.want)
		}
	}
	load(o, "")
	trips, _ := search(o)
	load(o, "M1,M2,,,3,\n")
	got, err := o.Trip(t.Context(), trips[0].ID)
	if err == nil && got.Legs[1].Number != "out3" {
		t.Errorf("the trip is still offered: %+v", got)
	}
	if _, err := o.CreateBooking(t.Context(), officetest.Anna, traintravel.NewBooking{TripID: trips[0].ID, PassengerName: "Anna"}); err == nil && got.Legs[1].Number != "out3" {
		t.Error("and sold")
	}
}
