package alike

import "math"

// maxAlike bounds what is compared with one place, in each cell of a grid.
const maxAlike = 64

// A Point is a place on earth in metres from its centre. On the sphere no
// meridian and no pole is special.
type Point struct{ x, y, z float64 }

// At is the point of a place in degrees.
func At(latitude, longitude float64) Point {
	const earth, degree = 6_371_000, math.Pi / 180
	sinLat, cosLat := math.Sincos(latitude * degree)
	sinLon, cosLon := math.Sincos(longitude * degree)
	return Point{earth * cosLat * cosLon, earth * cosLat * sinLon, earth * sinLat}
}

// Metres is how far apart two points are, in a straight line.
func (p Point) Metres(q Point) float64 {
	return math.Sqrt((p.x-q.x)*(p.x-q.x) + (p.y-q.y)*(p.y-q.y) + (p.z-q.z)*(p.z-q.z))
}

// A Grid finds sites by a number, such as that of their name, and by place.
type Grid struct {
	size  float64
	cells map[cell][]int32
}

type cell struct{ text, x, y, z int32 }

// NewGrid makes a grid in which Near finds what is within a radius in metres.
func NewGrid(radius float64) Grid {
	return Grid{radius * 1.001, map[cell][]int32{}} // whatever rounding does
}

func (g Grid) cell(text int32, p Point) cell {
	at := func(v float64) int32 { return int32(math.Floor(v / g.size)) }
	return cell{text, at(p.x), at(p.y), at(p.z)}
}

// Put adds a site. Of those in one cell only the first 64 are found.
func (g Grid) Put(text int32, p Point, site int32) {
	c := g.cell(text, p)
	if len(g.cells[c]) < maxAlike {
		g.cells[c] = append(g.cells[c], site)
	}
}

// Near calls fn for the sites with a number that are within the grid's radius,
// and for some more.
func (g Grid) Near(text int32, p Point, fn func(site int32)) {
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
