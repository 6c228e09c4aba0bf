package feeds

import (
	"math"

	"github.com/traintravel/traintravel"
)

const (
	// nameReach is how many metres apart stations of one name look alike.
	// Farther, one thinks of two towns.
	nameReach = 10_000
	// maxAlike bounds what is compared with one station, in each cell of a grid.
	maxAlike = 64
)

// A point is a place on earth in metres from its centre. On the sphere no
// meridian and no pole is special.
type point struct{ x, y, z float64 }

func position(s *traintravel.Station) point {
	const earth, degree = 6_371_000, math.Pi / 180
	sinLat, cosLat := math.Sincos(s.Latitude * degree)
	sinLon, cosLon := math.Sincos(s.Longitude * degree)
	return point{earth * cosLat * cosLon, earth * cosLat * sinLon, earth * sinLat}
}

// A grid finds sites by a number, such as that of their name, and by place.
type grid struct {
	size  float64
	cells map[cell][]int32
}

type cell struct{ text, x, y, z int32 }

// newGrid makes a grid in which near finds what is within a radius in metres.
func newGrid(radius float64) grid {
	return grid{radius * 1.001, map[cell][]int32{}} // whatever rounding does
}

func (g grid) cell(text int32, p point) cell {
	at := func(v float64) int32 { return int32(math.Floor(v / g.size)) }
	return cell{text, at(p.x), at(p.y), at(p.z)}
}

func (g grid) put(text int32, p point, site int32) {
	c := g.cell(text, p)
	if len(g.cells[c]) < maxAlike {
		g.cells[c] = append(g.cells[c], site)
	}
}

// near calls fn for the sites with a number that are within the grid's radius,
// and for some more.
func (g grid) near(text int32, p point, fn func(site int32)) {
	c := g.cell(text, p)
	for x := c.x - 1; x <= c.x+1; x++ {
		for y := c.y - 1; y <= c.y+1; y++ {
			for z := c.z - 1; z <= c.z+1; z++ {
				for _, site := range g.cells[cell{text, x, y, z}] {
					fn(site)
				}
			}
		}
	}
}
