package authserver

import "container/list"

// A ranking orders owners by how many things they have. To add, to remove and to find the
// first take the same time however many there are. The zero value has none.
type ranking struct {
	owners map[string]*owner
	bySize []*list.List // of *owner: those that have as many as the index, the longest so first
}

// An owner has at least one thing, unless it was just made.
type owner struct {
	name   string
	keys   list.List // of its things, oldest first
	at     *list.Element
	inside ranking // of its parts
}

// owner finds an owner by its name, or makes one.
func (r *ranking) owner(name string) *owner {
	o := r.owners[name]
	if o == nil {
		if r.owners == nil {
			r.owners = map[string]*owner{}
		}
		o = &owner{name: name}
		r.owners[name] = o
	}
	return o
}

// first is the owner that has most, of several the one that has had as many for longest;
// nil if there is none.
func (r *ranking) first() *owner {
	for n := len(r.bySize) - 1; n > 0; n-- {
		if e := r.bySize[n].Front(); e != nil {
			return e.Value.(*owner)
		}
		r.bySize = r.bySize[:n]
	}
	return nil
}

func (o *owner) oldest() string { return o.keys.Front().Value.(string) }

// A share is one thing of an owner's. The zero value is of nobody.
type share struct {
	of *ranking
	by *owner
	at *list.Element
}

// add gives an owner one more thing.
func (r *ranking) add(o *owner, key string) share {
	at := o.keys.PushBack(key)
	r.rank(o, o.keys.Len()-1)
	return share{r, o, at}
}

// end takes the thing from its owner.
func (s share) end() {
	if s.of == nil {
		return
	}
	s.by.keys.Remove(s.at)
	s.of.rank(s.by, s.by.keys.Len()+1)
	if s.by.keys.Len() == 0 {
		delete(s.of.owners, s.by.name)
	}
}

// rank moves an owner that had so many to where it belongs now.
func (r *ranking) rank(o *owner, had int) {
	if had > 0 {
		r.bySize[had].Remove(o.at)
	}
	n := o.keys.Len()
	for len(r.bySize) <= n {
		r.bySize = append(r.bySize, list.New())
	}
	if n > 0 {
		o.at = r.bySize[n].PushBack(o)
	}
}
