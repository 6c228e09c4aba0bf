// Package outside lets a bubble of testing/synctest use a store or a gateway that lives outside of
// it: one with goroutines, timers or connections of its own. In the bubble, such a goroutine would
// keep virtual time from passing, as would a wait for the network.
//
// The calls of the bubble cross over to goroutines that were started before it. While one is under
// way virtual time stands still, so that however slow the other side is, it is done in no time.
package outside

import (
	"context"

	"github.com/traintravel/traintravel"
)

// lanes is how many calls may be under way at once; more wait.
const lanes = 64

// A Door leads out of a bubble. Make it before the bubble begins.
type Door struct {
	free chan *lane
	all  []*lane
}

// A lane is a goroutine outside that does one call at a time. Its channels belong to no bubble.
type lane struct {
	calls   chan func(context.Context)
	started chan context.CancelFunc
	ended   chan any // with what it panicked with

	closures chan func() // what the call has the bubble do
	left     chan any    // the closure has ended, likewise
	uses     chan func() // what a closure has its reader or Tx do
	used     chan any    // that has ended, likewise
}

// Open starts the goroutines of a door.
func Open() *Door {
	d := &Door{free: make(chan *lane, lanes)}
	for range lanes {
		l := &lane{
			calls: make(chan func(context.Context)), started: make(chan context.CancelFunc), ended: make(chan any),
			closures: make(chan func()), left: make(chan any), uses: make(chan func()), used: make(chan any),
		}
		d.all = append(d.all, l)
		d.free <- l
		go l.serve()
	}
	return d
}

// Close ends the goroutines, when all bubbles are over.
func (d *Door) Close() {
	for _, l := range d.all {
		close(l.calls)
	}
}

func (l *lane) serve() {
	for call := range l.calls {
		ctx, cancel := context.WithCancel(context.Background())
		l.started <- cancel
		l.ended <- caught(func() { call(ctx) })
		cancel()
	}
}

// caught runs a function and returns what it panics with.
func caught(f func()) (p any) {
	defer func() { p = recover() }()
	f()
	return nil
}

// Do does a call outside, and returns when it has ended. Its context there ends when ctx does. What
// it panics with, Do does.
func (d *Door) Do(ctx context.Context, call func(context.Context)) {
	l := <-d.free
	defer func() { d.free <- l }()
	l.do(ctx, call)
}

func (l *lane) do(ctx context.Context, call func(context.Context)) {
	l.calls <- call
	cancel, gone := <-l.started, ctx.Done()
	for {
		select {
		case f := <-l.closures:
			l.left <- caught(f)
		case <-gone:
			gone = nil
			cancel()
		case p := <-l.ended:
			if p != nil {
				panic(p)
			}
			return
		}
	}
}

// closure runs the closure of a view or an update in the bubble, for a store that has run it on
// this goroutine, and does here what the closure has done by its reader.
func (l *lane) closure(f func()) {
	l.closures <- f
	for {
		select {
		case use := <-l.uses:
			l.used <- caught(use)
		case p := <-l.left:
			if p != nil {
				panic(p)
			}
			return
		}
	}
}

// use does something outside for a closure in the bubble.
func (l *lane) use(f func()) {
	l.uses <- f
	if p := <-l.used; p != nil {
		panic(p)
	}
}

// Store returns a store outside as one to use in the bubble.
func (d *Door) Store(s traintravel.Store) traintravel.Store { return store{d, s} }

type store struct {
	door *Door
	s    traintravel.Store
}

// Get implements traintravel.Store.
func (s store) Get(ctx context.Context, keys ...traintravel.Key) (values [][]byte, err error) {
	s.door.Do(ctx, func(ctx context.Context) { values, err = s.s.Get(ctx, keys...) })
	return values, err
}

// List implements traintravel.Store.
func (s store) List(ctx context.Context, r traintravel.Range) (records []traintravel.Record, err error) {
	s.door.Do(ctx, func(ctx context.Context) { records, err = s.s.List(ctx, r) })
	return records, err
}

// View implements traintravel.Store.
func (s store) View(ctx context.Context, fn func(traintravel.Reader) error) (err error) {
	l := <-s.door.free
	defer func() { s.door.free <- l }()
	l.do(ctx, func(ctx context.Context) {
		err = s.s.View(ctx, func(r traintravel.Reader) (err error) {
			l.closure(func() { err = fn(reader{l, ctx, r}) })
			return err
		})
	})
	return err
}

// Update implements traintravel.Store.
func (s store) Update(ctx context.Context, fn func(traintravel.Tx) error) (err error) {
	l := <-s.door.free
	defer func() { s.door.free <- l }()
	l.do(ctx, func(ctx context.Context) {
		err = s.s.Update(ctx, func(tx traintravel.Tx) (err error) {
			l.closure(func() { err = fn(writer{reader{l, ctx, tx}, tx}) })
			return err
		})
	})
	return err
}

// A reader is what a closure in the bubble reads with. The context is the one outside.
type reader struct {
	l   *lane
	ctx context.Context
	r   traintravel.Reader
}

// Get implements traintravel.Reader.
func (r reader) Get(_ context.Context, keys ...traintravel.Key) (values [][]byte, err error) {
	r.l.use(func() { values, err = r.r.Get(r.ctx, keys...) })
	return values, err
}

// List implements traintravel.Reader.
func (r reader) List(_ context.Context, rg traintravel.Range) (records []traintravel.Record, err error) {
	r.l.use(func() { records, err = r.r.List(r.ctx, rg) })
	return records, err
}

type writer struct {
	reader
	tx traintravel.Tx
}

// Put implements traintravel.Tx.
func (w writer) Put(k traintravel.Key, v []byte) { w.l.use(func() { w.tx.Put(k, v) }) }

// Delete implements traintravel.Tx.
func (w writer) Delete(k traintravel.Key) { w.l.use(func() { w.tx.Delete(k) }) }
