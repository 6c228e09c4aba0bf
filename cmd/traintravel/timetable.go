package main

import (
	"context"
	"errors"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
	"github.com/traintravel/traintravel/internal/demo"
)

// endsSoon is how long before the last day of a timetable a server warns at its start.
const endsSoon = 14 * 24 * time.Hour

// firstTimetable loads the demo network if there is no timetable and --demo allows it, and logs
// a warning, with the command to import one, unless there is one to sell from.
func (p *program) firstTimetable(ctx context.Context, set settings, service *traintravel.Service) error {
	_, err := service.Stations(ctx, traintravel.StationQuery{Page: traintravel.Page{Limit: 1}})
	none := errors.Is(err, traintravel.ErrNoTimetable)
	if err != nil && !none {
		return err
	}
	do, money := "import a timetable: "+importCommand(set), "for trying out only"
	if set.gateway != "" {
		money = "but payments for them move real money"
	}
	if none && !set.demo {
		if set.gateway != "" {
			do += "; or, to try the gateway out, give --demo to sell the invented trains of the demo network"
		}
		p.log.Warn("no timetable is loaded: stations and trips are answered with 503 until one is imported", "do", do)
		return nil
	}
	if none {
		if err := loadDemo(ctx, service); err != nil {
			return err
		}
	}
	network, err := demoNetwork(ctx)
	if err != nil {
		return err
	}
	state, err := service.State(ctx)
	if err != nil {
		return err
	}
	now := state.Timetable
	switch last := now.Last.Start(time.UTC); {
	case none:
		p.log.Warn("no timetable was loaded yet; loaded the demo network, whose trains are invented; "+money, "do", do)
	case now.Stations == len(network.Stations) && now.Trains == len(network.Trains):
		p.log.Warn("the timetable is the demo network, whose trains are invented; "+money, "do", do)
	case now.Trains > 0 && state.At.After(last.AddDate(0, 0, 2)): // over everywhere
		p.log.Warn("the timetable has expired: there are no trips to sell", "last_day", now.Last.String(), "do", do)
	case now.Trains > 0 && state.At.After(last.Add(-endsSoon)):
		p.log.Warn("the timetable ends soon", "last_day", now.Last.String(), "do", do)
	}
	return nil
}

// demoNetwork is the timetable of the demo network.
func demoNetwork(ctx context.Context) (*traintravel.Timetable, error) {
	t, _, err := gtfs.Read(ctx, demo.Feed(), gtfs.Options{})
	return t, err
}

// loadDemo loads the demo network, unless another process loads a timetable first.
func loadDemo(ctx context.Context, service *traintravel.Service) error {
	t, err := demoNetwork(ctx)
	if err != nil {
		return err
	}
	_, err = service.LoadFirstTimetable(ctx, t)
	if errors.Is(err, traintravel.ErrHasTimetable) {
		return nil
	}
	return err
}

// importCommand is what an operator types to import a timetable into the data of a server.
func importCommand(set settings) string {
	command := ourName() + " import FEED.zip"
	switch {
	case set.shared():
		command += " --postgres URL"
	case set.data != defaultData:
		command += " --data " + shellWord(set.data)
	}
	return command
}
