package synthfeed

import (
	"math"
	"math/rand/v2"
)

// All here is in whole numbers: compilers fuse and libraries round floating
// point in ways of their own, and the feed is to be the same on every machine.
// Only what IEEE 754 rounds exactly is left to it, as the square root is.

// degree is a degree in the units of a point.
const degree = 100_000

// A point is a place on earth, in hundred-thousandths of a degree.
type point struct{ lat, lon int64 }

func newPoint(lat, lon float64) point {
	return point{int64(math.Round(lat * degree)), int64(math.Round(lon * degree))}
}

// metresPerDegree is the length of a degree of latitude.
const metresPerDegree = 111_195

// distance returns metres as the crow flies, as on a flat map of the latitude
// between the two.
func (a point) distance(b point) int64 {
	north := (b.lat - a.lat) * metresPerDegree / degree
	east := (b.lon - a.lon) * metresPerDegree / degree * cos((a.lat+b.lat)/2) / one
	return int64(math.Sqrt(float64(north*north + east*east)))
}

// walk returns the point so many metres away in a direction, in degrees from
// north.
func (a point) walk(metres, direction int64) point {
	a.lat += metres * degree / metresPerDegree * cos(direction*degree) / one
	a.lon += metres * degree / metresPerDegree * cos((direction-90)*degree) / cos(a.lat)
	return a
}

// between returns the point i/n of the way from a to b.
func (a point) between(b point, i, n int64) point {
	return point{a.lat + (b.lat-a.lat)*i/n, a.lon + (b.lon-a.lon)*i/n}
}

// one is what cos returns for 1.
const one = 1_000_000

// cos returns the cosine of an angle in hundred-thousandths of a degree.
func cos(angle int64) int64 {
	if angle < 0 {
		angle = -angle
	}
	angle %= 360 * degree
	switch {
	case angle > 180*degree:
		return cos(360*degree - angle)
	case angle > 90*degree:
		return -cos(180*degree - angle)
	case angle == 90*degree:
		return 0
	}
	d, rest := angle/degree, angle%degree
	return cosines[d] + (cosines[d+1]-cosines[d])*rest/degree
}

// cosines are those of 0 to 90 degrees.
var cosines = [91]int64{
	1000000, 999848, 999391, 998630, 997564, 996195, 994522, 992546, 990268, 987688,
	984808, 981627, 978148, 974370, 970296, 965926, 961262, 956305, 951057, 945519,
	939693, 933580, 927184, 920505, 913545, 906308, 898794, 891007, 882948, 874620,
	866025, 857167, 848048, 838671, 829038, 819152, 809017, 798636, 788011, 777146,
	766044, 754710, 743145, 731354, 719340, 707107, 694658, 681998, 669131, 656059,
	642788, 629320, 615661, 601815, 587785, 573576, 559193, 544639, 529919, 515038,
	500000, 484810, 469472, 453990, 438371, 422618, 406737, 390731, 374607, 358368,
	342020, 325568, 309017, 292372, 275637, 258819, 241922, 224951, 207912, 190809,
	173648, 156434, 139173, 121869, 104528, 87156, 69756, 52336, 34899, 17452,
	0,
}

// bell returns a number of about normal distribution around 0.
func bell(r *rand.Rand, deviation int64) int64 {
	sum := -6 * deviation
	for range 12 { // whose variances add up to 1
		sum += r.Int64N(deviation + 1)
	}
	return sum
}
