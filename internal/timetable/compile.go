// Package timetable compiles a timetable into what the service sells from: rides, trip IDs,
// changes of trains, and the network that connections are searched in. It also reads the
// current one from a store. It must not know of bookings or payments.
package timetable

import (
	"cmp"
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/stations"
	"github.com/traintravel/traintravel/internal/trains"
	"github.com/traintravel/traintravel/internal/tz"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
)

// compiling is what a timetable is compiled with. If any ride may be sold, Prices
// do not say which.
type compiling struct {
	zones   *tz.Zones
	cities  *stations.Gazetteer
	anyRide bool
}

// Compile makes a snapshot of a checked timetable and what register found.
func Compile(ctx context.Context, t *schedule.Timetable, ids []trains.Numbering, reg trains.Registry, with compiling) (*Snapshot, error) {
	sn := &Snapshot{anyRide: with.anyRide}
	sn.compileStations(t.Stations, with)
	if err := sn.compileTrains(ctx, t.Trains, ids, reg, with.zones); err != nil {
		return nil, err
	}
	if err := sn.compileNetwork(ctx, t); err != nil {
		return nil, err
	}
	sn.findCurrencies()
	return sn, nil
}

func (sn *Snapshot) compileStations(list []rail.Station, with compiling) {
	sn.Stations, sn.StationAt = slices.Clone(list), make(map[uuid.UUID]int32, len(list))
	for i := range sn.Stations {
		sn.Stations[i].Country = cmp.Or(sn.Stations[i].Country, rail.UnknownCountry)
	}
	stations.SortStations(sn.Stations)
	sn.Directory = stations.NewDirectory(sn.Stations, with.cities, func(station int32) int { return sn.Network.Calls(station) })
	for i, s := range sn.Stations {
		sn.StationAt[s.ID] = int32(i)
		for _, id := range s.OtherIDs {
			sn.StationAt[id] = int32(i)
		}
		sn.Locations = append(sn.Locations, with.zones.Get(s.Zone))
	}
}

func (sn *Snapshot) compileTrains(ctx context.Context, all []schedule.Train, ids []trains.Numbering, reg trains.Registry, zones *tz.Zones) error {
	byNumber := reg.ByNumber()
	calendars := trains.CalendarCache{}
	sn.Trains = make([]Train, len(all))
	for i := range all {
		if err := trains.Interrupted(ctx, i); err != nil {
			return err
		}
		src, tr := &all[i], &sn.Trains[i]
		*tr = Train{
			Index: int32(i),
			ID:    ids[i].Train, number: ids[i].Number, since: trains.Numbered(byNumber, ids[i].Number).Since, list: ids[i].List,
			Feed: src.Feed, Operator: src.Operator, Name: src.Number, Location: zones.Get(src.Zone), Days: calendars.Get(src.Days),
			Coaches:  src.Coaches,
			bicycles: src.Bicycles, dogs: src.Dogs, Hooks: src.Hooks, Fare: src.Fare, Prices: src.Prices,
		}
		if tr.list == 0 {
			tr.list = trains.ListMark(src.Calls)
		}
		for _, c := range src.Coaches {
			tr.Places += c.Seats
		}
		if len(sn.StationAt) > len(sn.Stations) { // some have other IDs
			tr.named = sn.namesOf(src.Calls)
		}
		sn.Last = max(sn.Last, tr.Days.Last)
	}
	sn.byNumber = indexTrains(sn.Trains, func(t *Train) uint64 { return uint64(t.number) })
	sn.ByTrain = indexTrains(sn.Trains, func(t *Train) uint64 { return IdentityMark(t.ID) })
	return nil
}

// namesOf lists what calls name their stations by, nil if by their IDs.
func (sn *Snapshot) namesOf(calls []schedule.Call) []uuid.UUID {
	if !slices.ContainsFunc(calls, func(c schedule.Call) bool { return sn.Stations[sn.StationAt[c.Station]].ID != c.Station }) {
		return nil
	}
	names := make([]uuid.UUID, len(calls))
	for i, c := range calls {
		names[i] = c.Station
	}
	return names
}
