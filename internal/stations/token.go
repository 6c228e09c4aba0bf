package stations

// A token is a word of a station in one of its forms, in which of its names it
// is, and where it stands in the views of that name. The tokens of a station are
// sorted by name, with those of the address at the end.
type token struct {
	word  int32
	place [views]uint8
	name  uint8
	traits
}

// traits say more of a token.
type traits uint8

const (
	endsInFull  traits = 1 << iota // whoever has typed as far has typed the name
	endsTelling                    // the same without common words
	alias                          // the word is of a city's other name, or a notion
)

// ends returns the trait of the last word that has to be given for the whole name
// in a view: those in parentheses at its end need not be.
func ends(view int) traits { return endsInFull << view }

// A name is seen in full, and without the words that are common to many.
const (
	inFull = iota
	telling
	views

	nowhere = 255 // the place of a word of the address, or beyond counting
)

// How a station has the words of a search, the best way first. Each is worse by
// one with the help of another name of a city, or another word for one. To each comes
// the number of letters amiss, times ways.
type way uint8

const (
	asItsName       way = 2 * iota
	asItsFirstWords     // of a name that goes on
	asItsBeginning      // the last word is not complete
	inItsName
	inItsNameBegun // a word is not complete
	inItsAddress
	ways
)

// by is a way by a token.
func (w way) by(t traits) way {
	if t&alias != 0 {
		w |= 1
	}
	return w
}

// twoWays are how a station has a word that is complete, and one that is not.
type twoWays uint8

func waysOf(whole, begun way) twoWays { return twoWays(whole | begun<<4) }

func (t twoWays) whole() way { return way(t & 15) }
func (t twoWays) begun() way { return way(t >> 4) }

func (t twoWays) best(o twoWays) twoWays {
	return waysOf(min(t.whole(), o.whole()), min(t.begun(), o.begun()))
}

// alone says how a station has a search for one word of its own.
func (t *token) alone() twoWays {
	w, b := inItsName, inItsNameBegun
	if t.place[inFull] == nowhere {
		w, b = inItsAddress, inItsAddress
	} else {
		for v, n := range t.place {
			switch {
			case n != 0:
			case t.traits&ends(v) != 0:
				w, b = asItsName, asItsBeginning
			default:
				w, b = min(w, asItsFirstWords), asItsBeginning
			}
		}
	}
	return waysOf(w.by(t.traits), b.by(t.traits))
}
