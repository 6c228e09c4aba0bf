package fair

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

// A caller with more than its share loses its own values, the least recently used first,
// and nobody else's.
func TestCacheShare(t *testing.T) {
	t.Parallel()
	c := NewCache[int, string](3, 100)
	c.Put(1, 1, "theirs", 1)
	for key := 10; key < 13; key++ {
		c.Put(2, key, "own", 1)
	}
	c.Get(10)
	c.Put(2, 13, "own", 1)
	for key, want := range map[int]bool{1: true, 10: true, 11: false, 12: true, 13: true} {
		if _, ok := c.Get(key); ok != want {
			t.Errorf("key %d: %t, want %t", key, ok, want)
		}
	}
	c.Put(2, 14, "too large", 4)
	c.Put(2, 10, "grew too large", 4)
	for _, key := range []int{10, 14} {
		if v, ok := c.Get(key); ok {
			t.Errorf("key %d: %q is kept", key, v)
		}
	}
	for key := 20; key < 1000; key++ {
		c.Put(2, key, "own", 1)
	}
	if v, ok := c.Get(1); !ok || v != "theirs" {
		t.Error("one caller pushed out the value of another")
	}
}

// A cache behaves as a plain list of values does that is searched from end to end.
func TestCacheAsAList(t *testing.T) {
	t.Parallel()
	type value struct {
		key, size int
		caller    Caller
		text      int
	}
	const each, all = 10, 25
	var list []value // least recently used first
	without := func(key int) {
		list = slices.DeleteFunc(list, func(v value) bool { return v.key == key })
	}
	sum := func(of func(value) bool) (n int) {
		for _, v := range list {
			if of(v) {
				n += v.size
			}
		}
		return n
	}
	c, r := NewCache[int, int](each, all), rand.New(rand.NewPCG(1, 2))
	for step := range 20_000 {
		key := r.IntN(30)
		switch r.IntN(5) {
		case 0:
			c.Drop(key)
			without(key)
		case 1, 2:
			got, ok := c.Get(key)
			at := slices.IndexFunc(list, func(v value) bool { return v.key == key })
			if ok != (at >= 0) || ok && got != list[at].text {
				t.Fatalf("step %d: key %d is %d, %t", step, key, got, ok)
			}
			if ok {
				v := list[at]
				without(key)
				list = append(list, v)
			}
		default:
			v := value{key, 1 + r.IntN(each+1), Caller(r.IntN(5)), step}
			c.Put(v.caller, key, step, int64(v.size))
			without(key)
			if v.size > each {
				continue
			}
			list = append(list, v)
			own := func(other value) bool { return other.caller == v.caller }
			for sum(own) > each {
				list = slices.Delete(list, slices.IndexFunc(list, own), slices.IndexFunc(list, own)+1)
			}
			for sum(func(value) bool { return true }) > all {
				list = list[1:]
			}
		}
		if got, want := c.Size(), int64(sum(func(value) bool { return true })); got != want || len(c.entries) != len(list) {
			t.Fatalf("step %d: %d values of size %d, want %d of %d", step, len(c.entries), got, len(list), want)
		}
	}
	for _, v := range list {
		c.Drop(v.key)
	}
	if c.Size() != 0 || len(c.callers) != 0 || c.order.newest != nil || c.order.oldest != nil {
		t.Errorf("an empty cache keeps something: %+v", c)
	}
}

func TestCacheConcurrently(t *testing.T) {
	t.Parallel()
	c := NewCache[int, int](10, 100)
	var users sync.WaitGroup
	for caller := range Caller(8) {
		users.Go(func() {
			for i := range 1000 {
				c.Put(caller, i%150, i, 1)
				c.Get((i * 7) % 150)
				c.Drop((i * 11) % 150)
			}
		})
	}
	users.Wait()
	if c.Size() > 80 {
		t.Errorf("8 callers have %d, want at most 10 each", c.Size())
	}
}
