package webhooks

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A lone worker does not wait; those that come just after wait for the next batch, together
// with all that come meanwhile.
func TestPace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p pace
		end := p.begin()
		p.wait()
		p.wait() // no other worker is active
		time.Sleep(time.Hour)
		p.begin()
		begun := time.Now()
		var all sync.WaitGroup
		var mu sync.Mutex
		went := map[time.Duration]int{}
		come := func(n int) {
			for range n {
				all.Go(func() {
					p.wait()
					mu.Lock()
					defer mu.Unlock()
					went[time.Since(begun)]++
				})
			}
			synctest.Wait()
		}
		come(1)
		come(3)
		time.Sleep(batchEvery / 2)
		come(2)
		time.Sleep(batchEvery) // to the middle of the next
		come(1)
		time.Sleep(10 * batchEvery)
		come(1)
		all.Wait()
		want := map[time.Duration]int{0: 1, batchEvery: 5, 2 * batchEvery: 1, 11*batchEvery + batchEvery/2: 1}
		for at, n := range want {
			if went[at] != n {
				t.Errorf("%d went after %v, want %d: %v", went[at], at, n, went)
			}
		}
		if len(went) != len(want) {
			t.Errorf("%v", went)
		}
		end()
		now := time.Now()
		p.wait()
		p.wait()
		if !time.Now().Equal(now) {
			t.Error("a worker that is alone again waits")
		}
	})
}
