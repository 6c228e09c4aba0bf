package traintravel

import (
	"fmt"
	"sync"
	"time"
)

// zones caches time zones by name: loading one reads a file.
type zones struct{ m sync.Map }

func (z *zones) load(name string) (*time.Location, error) {
	if v, ok := z.m.Load(name); ok {
		return v.(*time.Location), nil
	}
	if name == "" || name == "Local" {
		return nil, fmt.Errorf("%q is no time zone", name)
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, err
	}
	z.m.Store(name, loc)
	return loc, nil
}

// get is load for names that were loaded before they were recorded. On a
// machine that has lost the zone, times show as UTC.
func (z *zones) get(name string) *time.Location {
	loc, err := z.load(name)
	if err != nil {
		return time.UTC
	}
	return loc
}
