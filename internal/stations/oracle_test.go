package stations

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/traintravel/traintravel/internal/fold"
	"github.com/traintravel/traintravel/rail"
)

// likeness is how a word of a search is like one of a station.
type likeness struct {
	amiss int
	whole bool
}

// slowLikes are the ways in which a word is like another, if so many letters may
// be amiss. It is written to be seen right: it makes every word with a letter amiss.
func slowLikes(typed, word string, most int) (all []likeness) {
	if strings.HasPrefix(word, typed) {
		all = append(all, likeness{whole: typed == word})
	}
	if most == 0 || utf8.RuneCountInString(typed) < 3 || strings.ContainsFunc(typed, unicode.IsDigit) || isDirection(typed) {
		return all
	}
	const any = '?'
	r := []rune(typed)
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
		if len(letters) == len(pattern) || !wholly && len(r) > 4 {
			all = append(all, likeness{1, len(letters) == len(pattern)})
		}
	}
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
	if most == 2 && len(r) >= 7 && slowDistance(r, []rune(word)) == 2 {
		all = append(all, likeness{2, true})
	}
	return all
}

// slowDistance is the edit distance, with swaps of neighbours.
func slowDistance(a, b []rune) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		for j := range rows[i] {
			switch {
			case i == 0 || j == 0:
				rows[i][j] = i + j
				continue
			case a[i-1] == b[j-1]:
				rows[i][j] = rows[i-1][j-1]
			default:
				rows[i][j] = 1 + min(rows[i-1][j-1], rows[i-1][j], rows[i][j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

// like is the best of a word's forms, false if none is like what is typed. What is
// typed may be of another script, and mean a notion.
func like(typed string, w nameWord, most int) (likeness, bool) {
	written := []string{typed}
	if latin := fold.Latin(typed); latin != nil {
		written = append(written, latin[0]...)
	}
	best, ok := likeness{amiss: 9}, false
	for _, form := range w.forms {
		if form == string(notions[typed]) {
			if ok = true; best.amiss > 0 || !best.whole {
				best = likeness{whole: true}
			}
		}
		for _, typed := range written {
			for _, l := range slowLikes(typed, form, most) {
				if ok = true; l.amiss < best.amiss || l.amiss == best.amiss && l.whole {
					best = l
				}
			}
		}
	}
	return best, ok
}

// slowRank says how a station has the words of a search, -1 if it has not.
func slowRank(st rail.Station, words, telling []string, most int) int {
	var names [][]nameWord
	for name := range namesOf(&st) {
		names = append(names, wordsOf(name))
	}
	total, worst := 0, asItsName
	amiss := map[string]int{}
	for i, typed := range words {
		best, least := ways, 9
		see := func(words []nameWord, whole, begun way) {
			for _, w := range words {
				l, ok := like(typed, w, most)
				if !ok || l.amiss > least {
					continue
				}
				if l.amiss < least {
					best, least = ways, l.amiss
				}
				if l.whole {
					best = min(best, whole)
				} else {
					best = min(best, begun)
				}
			}
		}
		see(slices.Concat(names...), inItsName, inItsNameBegun)
		see(wordsOf(st.Address), inItsAddress, inItsAddress)
		if best == ways {
			return -1
		}
		worst, amiss[typed] = max(worst, best), least
		if !slices.Contains(words[:i], typed) {
			total += least
		}
	}
	if worst < inItsAddress {
		for _, name := range names {
			worst = min(worst, slowBeginning(name, words, amiss, most), slowBeginning(without(name), telling, amiss, most))
		}
	}
	if len(words) > 1 {
		switch worst {
		case asItsBeginning:
			worst = inItsName
		case inItsName:
			worst = asItsBeginning
		}
	}
	return total*int(ways) + int(worst)
}

func slowBeginning(name []nameWord, words []string, amiss map[string]int, most int) way {
	if len(words) > len(name) || len(words) == 0 {
		return inItsNameBegun
	}
	for i, typed := range words {
		l, ok := like(typed, name[i], most)
		last := i == len(words)-1
		switch {
		case !ok || l.amiss > amiss[typed] || !l.whole && !last:
			return inItsNameBegun
		case !l.whole:
			return asItsBeginning
		}
	}
	rest := name[len(words):]
	if allAside := !slices.ContainsFunc(rest, func(w nameWord) bool { return !w.aside }); allAside && (len(rest) == 0 || slices.ContainsFunc(name, func(w nameWord) bool { return !w.aside })) {
		return asItsName
	}
	return asItsFirstWords
}

func without(name []nameWord) []nameWord {
	return slices.DeleteFunc(slices.Clone(name), func(w nameWord) bool { return w.common })
}

// slowSearch ranks every station. Those come first that have the words for a name.
func (d *Directory) slowSearch(q Lookup) []int32 {
	unlikeName := func(at int32) int {
		typed := strings.Join(q.Words, " ")
		for name := range namesOf(&d.stations[at]) {
			if typed == strings.Join(fold.Words(fold.String(name)), " ") || typed == strings.Join(fold.Words(fold.Doubled(name)), " ") {
				return 0
			}
		}
		return 1
	}
	without := func(common func(string) bool) []string {
		return slices.DeleteFunc(slices.Clone(q.Words), common)
	}
	isWord := slices.ContainsFunc(d.stations, func(st rail.Station) bool {
		return slices.ContainsFunc(wordsOf(strings.Join(append(slices.Collect(namesOf(&st)), st.Address), " ")), func(w nameWord) bool { return slices.Contains(w.forms, q.Words[0]) })
	})
	type reading struct {
		most   int
		common func(string) bool
	}
	for _, r := range []reading{{0, isCommon}, {1, isCommon}, {1, nearlyCommon}, {2, nearlyCommon}} {
		if r.most == 0 && !isWord && len(q.Words) == 1 && utf8.RuneCountInString(q.Words[0]) == 3 {
			continue
		}
		for _, words := range [][]string{q.Words, without(r.common), without(func(w string) bool { return r.common(w) || isVain(w) })} {
			if len(words) == 0 {
				continue
			}
			telling := slices.DeleteFunc(slices.Clone(words), isCommon)
			if len(telling) == 0 {
				telling = words
			}
			var found []int32
			ranks := map[int32]int{}
			for i, st := range d.stations {
				if rank := slowRank(st, words, telling, r.most); rank >= 0 && (q.Country == "" || st.Country == q.Country) {
					found = append(found, int32(i))
					ranks[int32(i)] = rank
				}
			}
			if len(found) > 0 {
				slices.SortStableFunc(found, func(a, b int32) int {
					return cmp.Or(cmp.Compare(ranks[a], ranks[b]), cmp.Compare(unlikeName(a), unlikeName(b)), cmp.Compare(d.traffic(b), d.traffic(a)))
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
		var stations []rail.Station
		var trains []int
		for range rapid.IntRange(1, 12).Draw(t, "stations") {
			var others []string
			for range rapid.IntRange(0, 2).Draw(t, "other names") {
				others = append(others, text("other name", 1, 3))
			}
			stations = append(stations, rail.Station{Name: text("name", 1, 4), OtherNames: others, Address: text("address", 0, 2), Country: rapid.SampledFrom([]string{"DE", "CH"}).Draw(t, "country")})
			trains = append(trains, rapid.IntRange(0, 2).Draw(t, "trains"))
		}
		d := calledAt(stations, trains)
		q := lookingFor(text("search", 1, 4))
		for i, w := range q.Words {
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
				q.Words[i] = string(r)
			}
		}
		q.Country = rapid.SampledFrom([]string{"", "DE"}).Draw(t, "in")
		want := d.slowSearch(q)
		if got, ok := d.Search(q); !ok || !slices.Equal(got, want) {
			t.Fatalf("%q: got %v, want %v of %v", q.Words, got, want, d.stations)
		}
		// In pages each comes once, in the same order.
		q.Enough = rapid.IntRange(1, 3).Draw(t, "enough")
		var paged []int32
		for range len(want) + 1 {
			page, ok := d.Search(q)
			if !ok {
				t.Fatalf("%d is not in the list of which it is", q.After)
			}
			if paged = append(paged, page...); len(page) < q.Enough {
				break
			}
			q.After = page[len(page)-1]
		}
		if !slices.Equal(paged, want) {
			t.Fatalf("%q: paged %v, want %v", q.Words, paged, want)
		}
	})
}

func TestMisspeltDrawn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching("[abω]{1,9}")
		var names []rail.Station
		for _, w := range rapid.SliceOfN(word, 1, 30).Draw(t, "words") {
			names = append(names, rail.Station{Name: w})
		}
		d := calledAt(names, make([]int, len(names)))
		typed := word.Draw(t, "typed")
		for most, spell := range []func(string) []span{d.typed, d.misspelt, d.misspeltTwice} {
			spans := (&wanted{spans: spell(typed)})
			for i, w := range d.words {
				likes := slowLikes(typed, w, most)
				s := spans.fits(int32(i))
				if s == nil && len(likes) == 0 {
					continue
				}
				if s == nil {
					t.Fatalf("%q for %q, %d: not found, want %v", typed, w, most, likes)
				}
				// Best in both is what it is: with all letters, and in full.
				want := span{from: s.from, to: s.to, amiss: 9}
				for _, l := range likes {
					want.amiss, want.whole = min(want.amiss, uint8(l.amiss)), want.whole || l.whole
				}
				if *s != want {
					t.Fatalf("%q for %q, %d: %v, want %v", typed, w, most, *s, want)
				}
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
