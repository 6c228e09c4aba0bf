package traintravel

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/traintravel/traintravel/internal/fold"
)

// likeness is how a word of a search is like one of a station, worst first.
type likeness int

const (
	unlike      likeness = iota
	amissBegins          // but for one letter
	amissWhole
	begins
	whole
)

// slowLike is written to be seen right: it makes every word with a letter amiss.
func slowLike(typed, word string, misspelt bool) likeness {
	switch {
	case typed == word:
		return whole
	case strings.HasPrefix(word, typed):
		return begins
	case !misspelt || utf8.RuneCountInString(typed) < 3 || strings.ContainsFunc(typed, unicode.IsDigit):
		return unlike
	}
	const any = '?'
	best := unlike
	try := func(pattern []rune, wholly bool) {
		letters := []rune(word)
		if len(letters) < len(pattern) {
			return
		}
		for i, r := range pattern {
			if r != any && r != letters[i] {
				return
			}
		}
		if len(letters) == len(pattern) {
			best = max(best, amissWhole)
		} else if !wholly {
			best = max(best, amissBegins)
		}
	}
	r := []rune(typed)
	for i := range r {
		if len(r) == 3 {
			try(slices.Concat(r[:i], []rune{any}, r[i:]), true)
			continue
		}
		last := i == len(r)-1
		try(slices.Concat(r[:i], r[i+1:]), last)
		try(slices.Concat(r[:i], []rune{any}, r[i+1:]), last)
		try(slices.Concat(r[:i], []rune{any}, r[i:]), false)
		if !last {
			try(slices.Concat(r[:i], []rune{r[i+1], r[i]}, r[i+2:]), false)
		}
	}
	return best
}

// like is the best of a word's forms.
func like(typed string, w nameWord, misspelt bool) likeness {
	best := unlike
	for _, form := range w.forms {
		best = max(best, slowLike(typed, form, misspelt))
	}
	return best
}

// slowRank says how a station has the words of a search, -1 if it has not.
func slowRank(st Station, words []string, misspelt bool) int {
	var names [][]nameWord
	for name := range st.names() {
		names = append(names, wordsOf(name))
	}
	address := wordsOf(st.Address)
	amiss, inName := 0, true
	for i, typed := range words {
		best, named := unlike, false
		for _, w := range slices.Concat(names...) {
			l := like(typed, w, misspelt)
			best, named = max(best, l), named || l > unlike
		}
		for _, w := range address {
			best = max(best, like(typed, w, misspelt))
		}
		if best == unlike {
			return -1
		}
		inName = inName && named
		if best < begins && !slices.Contains(words[:i], typed) {
			amiss++
		}
	}
	way := inItsName
	if !inName {
		way = inItsAddress
	} else {
		for _, name := range names {
			way = min(way, slowBeginning(name, words, misspelt), slowBeginning(without(name), withoutCommon(words), misspelt))
		}
	}
	return amiss*ways + way
}

func slowBeginning(name []nameWord, words []string, misspelt bool) int {
	if len(words) > len(name) {
		return inItsName
	}
	for i, typed := range words {
		l := like(typed, name[i], misspelt)
		if i < len(words)-1 && l != whole && l != amissWhole || l == unlike {
			return inItsName
		}
		if i == len(words)-1 && (l == whole || l == amissWhole) {
			rest := name[len(words):]
			if allAside := !slices.ContainsFunc(rest, func(w nameWord) bool { return !w.aside }); allAside && (len(rest) == 0 || slices.ContainsFunc(name, func(w nameWord) bool { return !w.aside })) {
				return asItsName
			}
		}
	}
	return asItsBeginning
}

func without(name []nameWord) []nameWord {
	return slices.DeleteFunc(slices.Clone(name), func(w nameWord) bool { return w.common })
}

// withoutCommon leaves the words that are not common, or all if all are.
func withoutCommon(words []string) []string {
	left := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return commonWords[w] })
	if len(left) == 0 {
		return words
	}
	return left
}

// slowSearch ranks every station. Those come first that have the words for a name.
func (sn *snapshot) slowSearch(q lookup) []int32 {
	unlikeName := func(at int32) int {
		typed := strings.Join(q.words, " ")
		for name := range sn.stations[at].names() {
			if typed == strings.Join(fold.Words(fold.String(name)), " ") || typed == strings.Join(fold.Words(fold.Doubled(name)), " ") {
				return 0
			}
		}
		return 1
	}
	telling := slices.DeleteFunc(slices.Clone(q.words), func(w string) bool { return commonWords[w] })
	isWord := slices.ContainsFunc(sn.stations, func(st Station) bool {
		return slices.ContainsFunc(wordsOf(strings.Join(append(slices.Collect(st.names()), st.Address), " ")), func(w nameWord) bool { return like(q.words[0], w, false) == whole })
	})
	for _, misspelt := range []bool{false, true} {
		if !misspelt && !isWord && len(q.words) == 1 && utf8.RuneCountInString(q.words[0]) == 3 {
			continue
		}
		for _, words := range [][]string{q.words, telling} {
			if len(words) == 0 {
				continue
			}
			var found []int32
			ranks := map[int32]int{}
			for i, st := range sn.stations {
				if rank := slowRank(st, words, misspelt); rank >= 0 && (q.country == "" || st.Country == q.country) {
					found = append(found, int32(i))
					ranks[int32(i)] = rank
				}
			}
			if len(found) > 0 {
				slices.SortStableFunc(found, func(a, b int32) int {
					return cmp.Or(cmp.Compare(ranks[a], ranks[b]), cmp.Compare(unlikeName(a), unlikeName(b)), cmp.Compare(sn.traffic(b), sn.traffic(a)))
				})
				return found
			}
		}
	}
	return nil
}

var stationWords = []string{
	"Berlin", "Bernau", "Bern", "Berlstedt", "Zürich", "Zuerich", "Zurich", "Ostbf", "Ostbahnhof", "Hbf", "Hauptbahnhof", "HB",
	"St", "Saint", "Sankt", "Gare", "de", "Lyon", "(Main)", "(Oder)", "Baden", "Badener", "Gießen", "Giesen", "Str.", "Αθήνα", "7",
}

func TestStationSearchDrawn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := func(label string, least, most int) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(stationWords), least, most).Draw(t, label), " ")
		}
		var stations []Station
		var trains []int
		for range rapid.IntRange(1, 12).Draw(t, "stations") {
			var others []string
			for range rapid.IntRange(0, 2).Draw(t, "other names") {
				others = append(others, text("other name", 1, 3))
			}
			stations = append(stations, Station{Name: text("name", 1, 4), OtherNames: others, Address: text("address", 0, 2), Country: rapid.SampledFrom([]string{"DE", "CH"}).Draw(t, "country")})
			trains = append(trains, rapid.IntRange(0, 2).Draw(t, "trains"))
		}
		sn := calledAt(t, stations, trains)
		q := lookingFor(text("search", 1, 4))
		for i, w := range q.words {
			r := []rune(w)
			switch at := rapid.IntRange(0, len(r)-1).Draw(t, "letter"); rapid.SampledFrom([]string{"", "", "cut", "wrong", "out", "in", "swap"}).Draw(t, "change") {
			case "cut":
				r = r[:at+1]
			case "wrong":
				r[at] = 'x'
			case "out":
				r = slices.Delete(r, at, at+1)
			case "in":
				r = slices.Insert(r, at, 'e')
			case "swap":
				r[at], r[0] = r[0], r[at]
			}
			if len(r) > 0 {
				q.words[i] = string(r)
			}
		}
		q.country = rapid.SampledFrom([]string{"", "DE"}).Draw(t, "in")
		want := sn.slowSearch(q)
		if got, ok := sn.search(q); !ok || !slices.Equal(got, want) {
			t.Fatalf("%q: got %v, want %v of %v", q.words, got, want, sn.stations)
		}
		// In pages each comes once, in the same order.
		q.enough = rapid.IntRange(1, 3).Draw(t, "enough")
		var paged []int32
		for range len(want) + 1 {
			page, ok := sn.search(q)
			if !ok {
				t.Fatalf("%d is not in the list of which it is", q.after)
			}
			if paged = append(paged, page...); len(page) < q.enough {
				break
			}
			q.after = page[len(page)-1]
		}
		if !slices.Equal(paged, want) {
			t.Fatalf("%q: paged %v, want %v", q.words, paged, want)
		}
	})
}

func TestMisspeltDrawn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching("[abω]{1,7}")
		var names []Station
		for _, w := range rapid.SliceOfN(word, 1, 30).Draw(t, "words") {
			names = append(names, Station{Name: w})
		}
		d := &calledAt(t, names, make([]int, len(names))).directory
		typed := word.Draw(t, "typed")
		spans := (&wanted{spans: d.misspelt(typed)})
		for i, w := range d.words {
			got := unlike
			if s := spans.fits(int32(i)); s != nil {
				got = map[[2]bool]likeness{{true, true}: amissWhole, {true, false}: amissBegins, {false, true}: whole, {false, false}: begins}[[2]bool{s.amiss, s.whole}]
			}
			want := slowLike(typed, w, true)
			if want == begins && got == whole {
				continue // and all of it, with its last letter left out
			}
			if got != want {
				t.Fatalf("%q for %q: %d, want %d", typed, w, got, want)
			}
		}
	})
}

func TestLeast(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOf(rapid.Uint64Range(0, 50)).Draw(t, "keys")
		n := rapid.IntRange(1, 20).Draw(t, "n")
		want := slices.Sorted(slices.Values(keys))
		if got := least(slices.Clone(keys), n); !slices.Equal(got, want[:min(n, len(want))]) {
			t.Fatalf("the %d least of %v are %v", n, keys, got)
		}
	})
}
