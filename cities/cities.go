// Package cities has the names that Europe's larger railway cities have in its
// languages, so that people find Wien as Vienna, Βιέννη or Bécs:
//
//	service, err := traintravel.New(store, traintravel.Options{Cities: cities.Europe()})
//
// The cities are matched to stations by place: a village called Vienna elsewhere
// stays what it is. Add cities and names of your own to the slice, or leave the
// package out: nothing else in this module imports it but the command. It makes a
// program 40 KB larger.
package cities

import (
	_ "embed"
	"strconv"
	"strings"

	"github.com/traintravel/traintravel"
)

// The table was made for this project from general knowledge, in no particular
// order within a country. Some rows at its end are stations that have names of their
// own in several languages.
//
//go:embed europe.txt
var table string

// Europe returns Europe's larger railway cities with their names, about 500 of them.
// Each call makes a slice that is the caller's to change.
func Europe() []traintravel.City {
	var all []traintravel.City
	for line := range strings.Lines(table) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		all = append(all, parse(line))
	}
	return all
}

// parse reads a line of the table: AT 48.21 16.37 11 Wien|Vienna. The tests read all
// of them, so there is no mistake to tell.
func parse(line string) traintravel.City {
	fields := strings.SplitN(line, " ", 5)
	number := func(i int) float64 {
		n, _ := strconv.ParseFloat(fields[i], 64)
		return n
	}
	return traintravel.City{
		Country: fields[0], Latitude: number(1), Longitude: number(2), Radius: 1000 * number(3),
		Names: strings.Split(fields[4], "|"),
	}
}
