package traintravel

import (
	"cmp"
	"context"
	"slices"

	"github.com/google/uuid"
)

// compiling is what a timetable is compiled with. If any ride may be sold, Prices
// do not say which.
type compiling struct {
	zones   *zones
	cities  *gazetteer
	anyRide bool
}

// compile makes a snapshot of a checked timetable and what register found.
func compile(ctx context.Context, t *Timetable, ids []numbering, reg registry, with compiling) (*snapshot, error) {
	sn := &snapshot{anyRide: with.anyRide}
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

func (sn *snapshot) compileStations(stations []Station, with compiling) {
	sn.stations, sn.stationAt = slices.Clone(stations), make(map[uuid.UUID]int32, len(stations))
	for i := range sn.stations {
		sn.stations[i].Country = cmp.Or(sn.stations[i].Country, UnknownCountry)
	}
	sortStations(sn.stations)
	sn.directory = newDirectory(sn.stations, with.cities, func(station int32) int { return sn.network.Calls(station) })
	for i, s := range sn.stations {
		sn.stationAt[s.ID] = int32(i)
		for _, id := range s.OtherIDs {
			sn.stationAt[id] = int32(i)
		}
		sn.locations = append(sn.locations, with.zones.get(s.Zone))
	}
}

func (sn *snapshot) compileTrains(ctx context.Context, trains []Train, ids []numbering, reg registry, zones *zones) error {
	byNumber := reg.byNumber()
	calendars := calendarCache{}
	sn.trains = make([]train, len(trains))
	for i := range trains {
		if err := interrupted(ctx, i); err != nil {
			return err
		}
		src, tr := &trains[i], &sn.trains[i]
		*tr = train{
			index: int32(i),
			id:    ids[i].train, number: ids[i].number, since: numbered(byNumber, ids[i].number).since, list: ids[i].list,
			feed: src.Feed, operator: src.Operator, name: src.Number, location: zones.get(src.Zone), days: calendars.get(src.Days),
			coaches:  src.Coaches,
			bicycles: src.Bicycles, dogs: src.Dogs, hooks: src.Hooks, fare: src.Fare, prices: src.Prices,
		}
		if tr.list == 0 {
			tr.list = listMark(src.Calls)
		}
		for _, c := range src.Coaches {
			tr.places += c.Seats
		}
		if len(sn.stationAt) > len(sn.stations) { // some have other IDs
			tr.named = sn.namesOf(src.Calls)
		}
		sn.last = max(sn.last, tr.days.last)
	}
	sn.byNumber = indexTrains(sn.trains, func(t *train) uint64 { return uint64(t.number) })
	sn.byTrain = indexTrains(sn.trains, func(t *train) uint64 { return identityMark(t.id) })
	return nil
}

// namesOf lists what calls name their stations by, nil if by their IDs.
func (sn *snapshot) namesOf(calls []Call) []uuid.UUID {
	if !slices.ContainsFunc(calls, func(c Call) bool { return sn.stations[sn.stationAt[c.Station]].ID != c.Station }) {
		return nil
	}
	names := make([]uuid.UUID, len(calls))
	for i, c := range calls {
		names[i] = c.Station
	}
	return names
}
