// Package chance draws everything that is random in a simulated history from one seed.
//
// A draw does not depend on the draws before it, but on the place where it is made and on
// how many draws that place has made. So if one operation is left out of a history, what
// the others draw stays the same, which a search for the shortest failing history needs.
package chance

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/google/uuid"
)

// A Seed determines a history.
type Seed uint64

// Operation returns the source of what operation n draws.
func (s Seed) Operation(n int) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(s)^0x6f7065726174696f, uint64(n)))
}

// At returns the source of draw k at a place.
func (s Seed) At(place string, k uint64) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(s)^hash(place), k))
}

// ID returns UUID k of a place, version 4.
func (s Seed) ID(place string, k uint64) (id uuid.UUID) {
	r := s.At(place, k)
	for i := 0; i < len(id); i += 8 {
		for j, x := 0, r.Uint64(); j < 8; j++ {
			id[i+j] = byte(x >> (8 * j))
		}
	}
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id
}

func hash(place string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(place))
	return h.Sum64()
}

// Places counts the draws of each place. It is safe for concurrent use.
type Places struct {
	seed Seed
	mu   sync.Mutex
	made map[string]uint64
}

// NewPlaces returns Places that have made no draws.
func NewPlaces(seed Seed) *Places { return &Places{seed: seed, made: map[string]uint64{}} }

// A Dice is the source of draw K at Place.
type Dice struct {
	*rand.Rand
	Place string
	K     uint64
}

// Draw returns the source of the next draw at a place.
func (p *Places) Draw(place string) Dice {
	p.mu.Lock()
	p.made[place]++
	k := p.made[place]
	p.mu.Unlock()
	return Dice{Rand: p.seed.At(place, k), Place: place, K: k}
}

// Again returns the source of a draw once more, from its beginning.
func (p *Places) Again(d Dice) Dice {
	d.Rand = p.seed.At(d.Place, d.K)
	return d
}

// Forget frees what is known of the places of which forget is true: they are not used again.
func (p *Places) Forget(forget func(place string) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for place := range p.made {
		if forget(place) {
			delete(p.made, place)
		}
	}
}

// Between draws a duration from least to most, each order of magnitude as likely as others.
func Between(r *rand.Rand, least, most time.Duration) time.Duration {
	if most <= least {
		return least
	}
	low, high := float64(max(least, 1)), float64(most)
	return min(most, time.Duration(low*math.Pow(high/low, r.Float64())))
}

// Rate draws a probability from least to most, each order of magnitude as likely as others.
func Rate(r *rand.Rand, least, most float64) float64 {
	return least * math.Pow(most/least, r.Float64())
}
