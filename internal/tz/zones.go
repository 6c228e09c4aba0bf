// Package tz finds time zones by name and keeps them. It must not know of stations or trains.
package tz

import (
	"fmt"
	"sync"
	"time"
)

// Zones caches time zones by name: loading one reads a file.
type Zones struct{ m sync.Map }

// Load returns the zone of a name. The zone of the machine, "Local", is refused.
func (z *Zones) Load(name string) (*time.Location, error) {
	if v, ok := z.m.Load(name); ok {
		return v.(*time.Location), nil
	}
	if name == "" || name == "Local" {
		return nil, fmt.Errorf("unknown time zone %q", name)
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, err
	}
	z.m.Store(name, loc)
	return loc, nil
}

// Get is Load for names that were loaded before they were recorded. On a
// machine that has lost the zone, times show as UTC.
func (z *Zones) Get(name string) *time.Location {
	loc, err := z.Load(name)
	if err != nil {
		return time.UTC
	}
	return loc
}
