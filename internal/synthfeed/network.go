package synthfeed

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// A stop is a station. Hubs have a weight.
type stop struct {
	id, name, country string
	point
	weight int
}

// A link joins two hubs, by their indexes, the lesser first.
type link [2]int

// A network is where lines can go.
type network struct {
	stops []stop // the hubs first
	hubs  int
	links []link // in order
	via   map[link][]int
	// next is the hub that follows on the shortest way from one to another, -1
	// if there is no way, and metres how long that is.
	next   [][]int
	metres [][]int64
}

// newNetwork lays out the hubs, the links between them and the stations on
// these.
func newNetwork(r *rand.Rand, scale float64) *network {
	hubs := someHubs(scale)
	n := &network{hubs: len(hubs), links: links(hubs, scale), via: map[link][]int{}}
	for _, h := range hubs {
		n.add(h.name, h.country, newPoint(h.lat, h.lon))
		n.stops[len(n.stops)-1].weight = h.weight
	}
	n.connect()

	gap := int64(32_000 / math.Sqrt(min(scale, 1))) // between stations on a link
	const most = 14
	for _, l := range n.links {
		a, b := n.stops[l[0]], n.stops[l[1]]
		count := min(n.length(l)/gap-1, most)
		for i := int64(1); i <= count; i++ {
			at := a.between(b.point, i, count+1)
			at.lat += bell(r, 0.05*degree)
			at.lon += bell(r, 0.07*degree)
			country := a.country
			if 2*i > count+1 {
				country = b.country
			}
			n.via[l] = append(n.via[l], n.add(fmt.Sprintf("%s–%s %d", a.name, b.name, i), country, at))
		}
	}
	return n
}

// add adds a stop and returns its index.
func (n *network) add(name, country string, at point) int {
	id := fmt.Sprintf("%s%06d", country, len(n.stops)+1)
	n.stops = append(n.stops, stop{id: id, name: name, country: country, point: at})
	return len(n.stops) - 1
}

// someHubs returns all hubs, or for a small scale the heaviest of them. Those
// from which no link leads anywhere are left out.
func someHubs(scale float64) []hub {
	const fewest = 14
	some := slices.Clone(hubs)
	if scale < 1 {
		root := math.Sqrt(scale)
		keep := max(fewest, int(root*math.Sqrt(root)*float64(len(hubs))))
		order := make([]int, len(hubs))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return hubs[b].weight - hubs[a].weight })
		order = order[:keep]
		slices.Sort(order)
		some = some[:0]
		for _, i := range order {
			some = append(some, hubs[i])
		}
	}
	linked := map[int]bool{}
	for _, l := range links(some, scale) {
		linked[l[0]], linked[l[1]] = true, true
	}
	var all []hub
	for i, h := range some {
		if linked[i] {
			all = append(all, h)
		}
	}
	return all
}

// links joins each hub with its nearest neighbours and along the tracks. In the
// north, where the nearest is across the sea, tracks are all there is, unless
// hubs are few.
func links(hubs []hub, scale float64) []link {
	const nearest, near = 3, 420_000
	var all []link
	join := func(a, b int) { all = append(all, link{min(a, b), max(a, b)}) }
	byName := map[string]int{}
	for i, a := range hubs {
		byName[a.name] = i
		type neighbour struct {
			hub    int
			metres int64
		}
		var around []neighbour
		for j, b := range hubs {
			if i == j || a.land != b.land || scale >= 1 && (north(a.country) || north(b.country)) {
				continue
			}
			around = append(around, neighbour{j, newPoint(a.lat, a.lon).distance(newPoint(b.lat, b.lon))})
		}
		slices.SortStableFunc(around, func(a, b neighbour) int { return cmp.Compare(a.metres, b.metres) })
		for k, b := range around[:min(nearest, len(around))] {
			if k == 0 || b.metres < near || scale < 1 {
				join(i, b.hub)
			}
		}
	}
	for _, t := range tracks {
		a, here := byName[t[0]]
		b, there := byName[t[1]]
		if here && there {
			join(a, b)
		}
	}
	slices.SortFunc(all, func(a, b link) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(all)
}

func north(country string) bool {
	return slices.Contains([]string{"DK", "EE", "NO", "SE"}, country)
}

// length returns that of the rails, which wind, in metres.
func (n *network) length(l link) int64 {
	return n.stops[l[0]].distance(n.stops[l[1]].point) * 122 / 100
}

// connect finds the shortest ways between all hubs, by Floyd and Warshall.
func (n *network) connect() {
	const far = math.MaxInt64 / 4
	n.next, n.metres = make([][]int, n.hubs), make([][]int64, n.hubs)
	for i := range n.hubs {
		n.next[i] = slices.Repeat([]int{-1}, n.hubs)
		n.metres[i] = slices.Repeat([]int64{far}, n.hubs)
		n.metres[i][i] = 0
	}
	for _, l := range n.links {
		a, b := l[0], l[1]
		n.metres[a][b], n.metres[b][a] = n.length(l), n.length(l)
		n.next[a][b], n.next[b][a] = b, a
	}
	for k := range n.hubs {
		for i := range n.hubs {
			for j := range n.hubs {
				if through := n.metres[i][k] + n.metres[k][j]; through < n.metres[i][j] {
					n.metres[i][j], n.next[i][j] = through, n.next[i][k]
				}
			}
		}
	}
}

// between returns the stations on the link between two hubs, in the order of
// travel.
func (n *network) between(a, b int) []int {
	if a < b {
		return n.via[link{a, b}]
	}
	stops := slices.Clone(n.via[link{b, a}])
	slices.Reverse(stops)
	return stops
}

// way returns the hubs on the shortest way from a to b, if there is one, with
// every nth of the stations between them; none of these if nth is 0.
func (n *network) way(a, b, nth int) []int {
	stops := []int{a}
	for a != b {
		next := n.next[a][b]
		for i, s := range n.between(a, next) {
			if nth > 0 && i%nth == nth/2 {
				stops = append(stops, s)
			}
		}
		stops = append(stops, next)
		a = next
	}
	return stops
}
