package seats

import (
	"slices"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/trains"
	"github.com/traintravel/traintravel/rail"
)

// Fits says whether the inventory counts on a list of calls and coaches.
func (v *Inventory) Fits(list uint64, coaches []rail.Coach) bool {
	return v.List == list && slices.Equal(v.Coaches, coaches)
}

// Fit returns the inventory on another list of calls and coaches. What does not fit is
// stranded in it.
func (v *Inventory) Fit(list uint64, calls []uint64, coaches []rail.Coach) *Inventory {
	w := &Inventory{Revision: v.Revision, List: list, Calls: calls, Coaches: coaches, Cancelled: v.Cancelled}
	moved := match(v.Calls, calls)
	var again []StrandedPlace
	for _, t := range v.Taken {
		s := v.Strand(t)
		from, to := told(v.Calls, calls, moved, t.From), told(v.Calls, calls, moved, t.To)
		t.Place = w.Place(s.Coach, s.Seat)
		if from < 0 || to < 0 || s.Seat > 0 && t.Place == NoPlace {
			again = append(again, s)
			continue
		}
		t.From, t.To = uint8(from), uint8(to)
		w.Taken = append(w.Taken, t)
	}
	for _, s := range append(again, v.Stranded...) {
		if t, ok := w.reseat(s); ok {
			w.Taken = append(w.Taken, t)
		} else {
			w.Stranded = append(w.Stranded, s)
		}
	}
	return w
}

// Strand says in words that hold without the calls and coaches what t is.
func (v *Inventory) Strand(t Taken) StrandedPlace {
	s := StrandedPlace{Taken: t, On: v.List, Board: v.Calls[t.From], Alight: v.Calls[t.To]}
	s.Twice = !once(v.Calls, s.Board) || !once(v.Calls, s.Alight)
	s.Coach, s.Seat = v.Label(t.Place)
	return s
}

// reseat finds what a stranded booking had, if it is there and nobody has it.
// Where a train calls twice at a station, and which of the calls it was cannot
// be told, the booking stays stranded: a wrong guess would free its place on
// the sections on which its passenger rides.
func (v *Inventory) reseat(s StrandedPlace) (Taken, bool) {
	t := s.Taken
	if s.On == 0 || v.List != s.On {
		from, to := slices.Index(v.Calls, s.Board), slices.Index(v.Calls, s.Alight)
		if from < 0 || to <= from || s.Twice || !once(v.Calls, s.Board) || !once(v.Calls, s.Alight) {
			return t, false
		}
		t.From, t.To = uint8(from), uint8(to)
	}
	if t.Place = v.Place(s.Coach, s.Seat); s.Seat > 0 && t.Place == NoPlace {
		return t, false
	}
	for i := range v.Taken {
		if o := &v.Taken[i]; t.Place != NoPlace && o.Place == t.Place && o.Overlaps(int(t.From), int(t.To)) {
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

// HandBack moves what was sold on a train's list of calls to the train's own
// inventory. There as here, what finds no place stays stranded.
func (v *Inventory) HandBack(list uint64, to *Inventory) {
	give := func(s StrandedPlace) {
		if t, ok := to.reseat(s); ok {
			to.Taken = append(to.Taken, t)
		} else {
			to.Stranded = append(to.Stranded, s)
		}
	}
	v.Taken = slices.DeleteFunc(v.Taken, func(t Taken) bool {
		if t.Sold == list {
			give(v.Strand(t))
		}
		return t.Sold == list
	})
	v.Stranded = slices.DeleteFunc(v.Stranded, func(s StrandedPlace) bool {
		if s.Sold == list {
			give(s)
		}
		return s.Sold == list
	})
}

// HandOver moves all that is sold to the inventory of a train that is the same, whose
// calls name their stations otherwise. What finds no place there stays stranded.
func (v *Inventory) HandOver(named map[uuid.UUID]uuid.UUID, to *Inventory) {
	marks := map[uint64]uint64{}
	for from, to := range named {
		marks[trains.StationMark(from)] = trains.StationMark(to)
	}
	rename := func(mark *uint64) {
		if m, ok := marks[*mark]; ok {
			*mark = m
		}
	}
	var all []StrandedPlace
	for _, t := range v.Taken {
		all = append(all, v.Strand(t))
	}
	for _, s := range append(all, v.Stranded...) {
		rename(&s.Board)
		rename(&s.Alight)
		s.Sold = to.List
		if t, ok := to.reseat(s); ok {
			to.Taken = append(to.Taken, t)
		} else {
			to.Stranded = append(to.Stranded, s)
		}
	}
	v.Taken, v.Stranded = nil, nil
}
