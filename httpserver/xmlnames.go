package httpserver

import (
	"hash/maphash"
	"math/bits"
)

// xmlNames are the names of the attributes of one element at a time. It finds a second
// one of a name in a time that does not depend on how many there are, and takes memory
// only for an element that has more of them than all before.
type xmlNames struct {
	all   []xmlName
	seed  maphash.Seed
	slots []xmlSlot // a hash table with open addresses, of which a part is used
	mask  uint64    // of the part
	round uint32    // the element's number: slots of others are free
}

// An xmlSlot has the place of a name in xmlNames.all.
type xmlSlot struct{ round, at uint32 }

// fewNames are compared with each other one by one.
const fewNames = 8

// begin forgets the names of the last element, and makes room for so many.
func (n *xmlNames) begin(count int) {
	n.all, n.mask = n.all[:0], 0
	if count <= fewNames {
		return
	}
	size := 1 << bits.Len(uint(2*count)) // at most half of it is taken
	if size > len(n.slots) {
		n.slots, n.seed = make([]xmlSlot, size), maphash.MakeSeed()
	}
	n.mask = uint64(size - 1)
	n.round++
}

// add says whether a name is new.
func (n *xmlNames) add(name xmlName) bool {
	n.all = append(n.all, name)
	last := len(n.all) - 1
	if n.mask == 0 {
		for _, other := range n.all[:last] {
			if other == name {
				return false
			}
		}
		return true
	}
	for at := maphash.String(n.seed, name.local); ; at++ {
		slot := &n.slots[at&n.mask]
		if slot.round != n.round {
			*slot = xmlSlot{n.round, uint32(last)}
			return true
		}
		if n.all[slot.at] == name {
			return false
		}
	}
}
