package raptor

import "testing"

// overtaking is n trains of one list of stops, of which those of one class do
// not overtake each other, and each class overtakes all before it.
func overtaking(n, classes int) *Timetable {
	t := &Timetable{
		Stations: 2, Boards: []int32{0, 1}, Alights: []int32{0, 1}, Edges: make([][]Edge, 2),
		Sequences: [][]Stop{{{Station: 0, Board: 0, Seated: -1, Alight: -1}, {Station: 1, Board: -1, Seated: -1, Alight: 1}}},
		Start:     func(_, day int32) int64 { return int64(day) * 86400 },
	}
	for i := range int32(n) {
		class := i % int32(classes)
		depart, arrive := i, 80_000-80_000/int32(classes)*class+i/int32(classes)
		t.Trains = append(t.Trains, Train{Times: []Time{{depart, depart}, {arrive, arrive}}})
	}
	return t
}

// Trains that overtake each other get patterns in a time that grows with their
// number, not with its square.
func TestOvertakingTrainsAreDividedInLinearTime(t *testing.T) {
	t.Parallel()
	const n = 20_000
	tt := overtaking(n, n)
	looks := 0
	order := make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	made := divide(order, func(first, last, i int32) bool {
		looks++
		return follows(tt.Trains[first].Times, tt.Trains[last].Times, tt.Trains[i].Times)
	})
	if len(made) != n || looks > n*maxOpen {
		t.Errorf("%d trains that all overtake each other make %d patterns with %d comparisons, more than %d each", n, len(made), looks, maxOpen)
	}
	if nw := Build(tt); len(nw.patterns) != n {
		t.Errorf("the network has %d patterns, not %d", len(nw.patterns), n)
	}
}

// As many patterns as there are classes are enough.
func TestClassesOfTrainsArePatterns(t *testing.T) {
	t.Parallel()
	for _, classes := range []int{1, 2, 40, maxOpen} {
		nw := Build(overtaking(20*classes, classes))
		if len(nw.patterns) != classes {
			t.Errorf("%d classes of trains have %d patterns", classes, len(nw.patterns))
		}
		for _, p := range nw.patterns {
			for at := range p.n - 1 {
				if !follows(nw.timesOf(&p, 0), nw.timesOf(&p, at), nw.timesOf(&p, at+1)) {
					t.Fatalf("with %d classes, train %d of a pattern overtakes the one before", classes, at+1)
				}
			}
		}
	}
}
