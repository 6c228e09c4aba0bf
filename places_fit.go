package traintravel

import (
	"slices"

	"github.com/google/uuid"
)

// fits says whether the inventory counts on a list of calls and coaches.
func (v *inventory) fits(list uint64, coaches []Coach) bool {
	return v.list == list && slices.Equal(v.coaches, coaches)
}

func (v *inventory) fit(list uint64, calls []uint64, coaches []Coach) *inventory {
	w := &inventory{revision: v.revision, list: list, calls: calls, coaches: coaches, cancelled: v.cancelled}
	moved := match(v.calls, calls)
	var again []strandedPlace
	for _, t := range v.taken {
		s := v.strand(t)
		from, to := told(v.calls, calls, moved, t.from), told(v.calls, calls, moved, t.to)
		t.place = w.place(s.coach, s.seat)
		if from < 0 || to < 0 || s.seat > 0 && t.place == noPlace {
			again = append(again, s)
			continue
		}
		t.from, t.to = uint8(from), uint8(to)
		w.taken = append(w.taken, t)
	}
	for _, s := range append(again, v.stranded...) {
		if t, ok := w.reseat(s); ok {
			w.taken = append(w.taken, t)
		} else {
			w.stranded = append(w.stranded, s)
		}
	}
	return w
}

// strand says in words that hold without the calls and coaches what t is.
func (v *inventory) strand(t taken) strandedPlace {
	s := strandedPlace{taken: t, on: v.list, board: v.calls[t.from], alight: v.calls[t.to]}
	s.twice = !once(v.calls, s.board) || !once(v.calls, s.alight)
	s.coach, s.seat = v.label(t.place)
	return s
}

// reseat finds what a stranded booking had, if it is there and nobody has it.
// Where a train calls twice at a station, and which of the calls it was cannot
// be told, the booking stays stranded: a wrong guess would free its place on
// the sections on which its passenger rides.
func (v *inventory) reseat(s strandedPlace) (taken, bool) {
	t := s.taken
	if s.on == 0 || v.list != s.on {
		from, to := slices.Index(v.calls, s.board), slices.Index(v.calls, s.alight)
		if from < 0 || to <= from || s.twice || !once(v.calls, s.board) || !once(v.calls, s.alight) {
			return t, false
		}
		t.from, t.to = uint8(from), uint8(to)
	}
	if t.place = v.place(s.coach, s.seat); s.seat > 0 && t.place == noPlace {
		return t, false
	}
	for i := range v.taken {
		if o := &v.taken[i]; t.place != noPlace && o.place == t.place && o.overlaps(int(t.from), int(t.to)) {
			return t, false
		}
	}
	return t, true
}

// told is the index in another list of a matched call, or -1 if there is none
// or it cannot be told which: where a train calls more often at a station than
// before, or less, any of the calls may be the one.
func told(calls, others []uint64, moved []int, call uint8) int {
	i := moved[call]
	if i < 0 {
		return -1
	}
	count := func(list []uint64) (n int) {
		for _, c := range list {
			if c == calls[call] {
				n++
			}
		}
		return n
	}
	if count(calls) != count(others) || count(calls[:call]) != count(others[:i]) {
		return -1
	}
	return i
}

// once says whether a station comes in a list of calls no more than once.
func once(calls []uint64, mark uint64) bool {
	i := slices.Index(calls, mark)
	return i < 0 || !slices.Contains(calls[i+1:], mark)
}

// match pairs the stations of two lists of calls, in order and as many as can
// be: for each of a its index in b, or -1.
func match(a, b []uint64) []int {
	// longest[i][j] is the length of the longest common subsequence of a[i:] and b[j:].
	longest := make([][]int, len(a)+1)
	for i := range longest {
		longest[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				longest[i][j] = longest[i+1][j+1] + 1
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	pairs := make([]int, len(a))
	for i, j := 0, 0; i < len(a); i++ {
		pairs[i] = -1
		for j < len(b) && a[i] != b[j] && longest[i][j+1] == longest[i][j] {
			j++
		}
		if j < len(b) && a[i] == b[j] && longest[i][j] == longest[i+1][j+1]+1 {
			pairs[i] = j
			j++
		}
	}
	return pairs
}

// handBack moves what was sold on a train's list of calls to the train's own
// inventory. There as here, what finds no place stays stranded.
func (v *inventory) handBack(list uint64, to *inventory) {
	give := func(s strandedPlace) {
		if t, ok := to.reseat(s); ok {
			to.taken = append(to.taken, t)
		} else {
			to.stranded = append(to.stranded, s)
		}
	}
	v.taken = slices.DeleteFunc(v.taken, func(t taken) bool {
		if t.sold == list {
			give(v.strand(t))
		}
		return t.sold == list
	})
	v.stranded = slices.DeleteFunc(v.stranded, func(s strandedPlace) bool {
		if s.sold == list {
			give(s)
		}
		return s.sold == list
	})
}

// handOver moves all that is sold to the inventory of a train that is the same, whose
// calls name their stations otherwise. What finds no place there stays stranded.
func (v *inventory) handOver(named map[uuid.UUID]uuid.UUID, to *inventory) {
	marks := map[uint64]uint64{}
	for from, to := range named {
		marks[stationMark(from)] = stationMark(to)
	}
	rename := func(mark *uint64) {
		if m, ok := marks[*mark]; ok {
			*mark = m
		}
	}
	var all []strandedPlace
	for _, t := range v.taken {
		all = append(all, v.strand(t))
	}
	for _, s := range append(all, v.stranded...) {
		rename(&s.board)
		rename(&s.alight)
		s.sold = to.list
		if t, ok := to.reseat(s); ok {
			to.taken = append(to.taken, t)
		} else {
			to.stranded = append(to.stranded, s)
		}
	}
	v.taken, v.stranded = nil, nil
}
