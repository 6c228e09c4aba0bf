package traintravel

import (
	"bytes"
	"context"
	"math/bits"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
)

// Servers on one store share out the agenda. It has 64 parts of each kind, and
// an item is in the part that its ID says. Each running server has a record
// that names the parts it has and a count that it raises every second, its
// beat. In the update that does so it reads the records of the others, takes
// parts that nobody has, and begins to give up parts if others have too few.
// So an item is in one server's hands at a time, and none is written to say so.
//
// No clock is compared with another machine's. Who has not seen another's
// count change for deadAfter, by his own monotonic clock, takes that server
// for dead. A server that has not beaten for stopAfter, by its own, stops all
// that it has in its hands. The time between is for what takes a while to stop,
// and for clocks that do not run at the same pace.
const (
	beatEvery = time.Second
	beatFor   = 3 * time.Second // what the store may take for it
	stopAfter = 6 * time.Second
	deadAfter = 10 * time.Second
	clocksOff = 2 * recordClock // is more than one that starts beside another is behind
)

// parts is a set of parts of one kind of the agenda.
type parts uint64

const (
	partCount       = 64
	allParts  parts = 1<<partCount - 1
)

// partOf says in which part an item is.
func partOf(id uuid.UUID) int {
	var x byte
	for _, b := range id {
		x ^= b
	}
	return int(x % partCount)
}

func (p parts) len() int { return bits.OnesCount64(uint64(p)) }

// lowest is the set of one part of a set that is not empty.
func (p parts) lowest() parts { return p & -p }

// divide decides what a server has of one kind: held is what nobody else may
// take, and open is what it may begin to work on. It had parts by its record,
// of which some were open, and has items of busy ones in its hands; others
// have taken parts, and its quota is its share of all.
func divide(had, open, busy, taken parts, quota int) (held, next parts) {
	had &= open | busy // it has done with the others
	next = had & open
	for next.len() > quota {
		if idle := next &^ busy; idle != 0 {
			next &^= idle.lowest()
		} else {
			next &^= next.lowest()
		}
	}
	for free := ^(next | taken); next.len() < quota && free != 0; free &= free - 1 {
		next |= free.lowest()
	}
	return had | next, next
}

// A server is the record of one that runs.
type server struct {
	beats   uint64
	leaving bool // it finishes what is in its hands and takes no more
	shares  []held
	now     time.Time // by its service's clock; since version 2

	unknown bool // its record cannot be read
}

// held is what a server has of a kind that it works on.
type held struct {
	kind  kind
	parts parts
}

// of returns what a server has of a kind; false if it does not work on that.
func (v server) of(k kind) (parts, bool) {
	for _, h := range v.shares {
		if h.kind == k {
			return h.parts, true
		}
	}
	return 0, false
}

const serverVersion = 2

func (v server) encode() []byte {
	e := newEncoder(serverVersion, 48)
	e.uint(v.beats)
	e.flags(v.leaving)
	e.uint(uint64(len(v.shares)))
	for _, h := range v.shares {
		e.byte(byte(h.kind))
		e.fixed64(uint64(h.parts))
	}
	e.time(v.now)
	return e.b
}

func decodeServer(b []byte) (v server, err error) {
	d, version := newDecoder("server", serverVersion, b)
	v = d.server(version)
	return v, d.done()
}

func (d *decoder) server(version byte) (v server) {
	v.beats, v.leaving = d.uint(), d.flags()[0]
	for range d.len(9) {
		v.shares = append(v.shares, held{kind(d.byte()), parts(d.fixed64())})
	}
	if version >= 2 {
		v.now = d.time()
	}
	return v
}

// decodeColleague reads the record of another server, perhaps of a newer version: that
// begins with what this one knows, for ever, so that servers of different versions can
// share their work.
func decodeColleague(b []byte) (server, error) {
	if len(b) == 0 || b[0] <= serverVersion {
		return decodeServer(b)
	}
	d := decoder{what: "server", rest: string(b[1:])}
	v := d.server(serverVersion)
	d.rest = ""
	return v, d.done()
}

const serverPrefix = "server/"

func serverKey(id uuid.UUID) Key { return Key{TableMeta, serverPrefix + string(id[:])} }

// A share is what this server may work on of one kind.
type share struct {
	mu    sync.Mutex
	open  parts
	busy  [partCount]int  // items in hand
	until time.Time       // when open parts close unless they are renewed
	work  context.Context // ends when what is in hand may be another's
	stop  context.CancelFunc
}

// begin takes an item of a part in hand, if that is open. What is done with it
// ends with the context returned.
func (h *share) begin(part int) (context.Context, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open>>part&1 == 0 || !time.Now().Before(h.until) {
		return nil, false
	}
	h.busy[part]++
	return h.work, true
}

func (h *share) end(part int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.busy[part]--
}

func (h *share) state() (open, busy parts) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, n := range h.busy {
		if n > 0 {
			busy |= 1 << i
		}
	}
	return h.open, busy
}

// renew opens parts until an instant and closes all others. It reports whether
// any is new.
func (h *share) renew(ctx context.Context, open parts, until time.Time) (more bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.work == nil {
		h.work, h.stop = context.WithCancel(ctx)
	}
	more = open&^h.open != 0
	h.open, h.until = open, until
	return more
}

// lapse closes all parts and stops what is in hand, if they were not renewed
// until an instant. It reports whether there were any.
func (h *share) lapse(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.work == nil || now.Before(h.until) {
		return false
	}
	h.stop()
	h.open, h.work = 0, nil
	return true
}

// A roster is one running server among those on its store.
type roster struct {
	s      *Service
	id     uuid.UUID
	desks  []*desk
	beats  uint64
	joined bool                // its record has been written
	until  time.Time           // of the latest renewal
	seen   map[uuid.UUID]sight // the others
	lapse  *time.Timer
}

// A sight is a server's count, and since when it is known to be that.
type sight struct {
	beats  uint64
	since  time.Time
	warned bool // that its clock shows another time
}

func (s *Service) newRoster(desks []*desk) *roster {
	return &roster{s: s, id: s.newID(), desks: desks}
}

// run beats until beating ends, and then takes the server off the roster. Once
// work has ended it takes nothing more.
func (r *roster) run(work, beating context.Context) {
	r.lapse = time.AfterFunc(stopAfter, r.lapsed)
	defer r.lapse.Stop()
	for beating.Err() == nil {
		if err := r.beat(work, beating); err != nil && beating.Err() == nil {
			r.s.log.Warn("this server could not tell the others that it lives; it tries again", "server", r.id, "error", err)
		}
		sleep(beating, beatEvery)
	}
	r.leave(beating)
}

// lapsed stops what is in hand when the others could soon take it.
func (r *roster) lapsed() {
	if r.stop(time.Now()) {
		r.s.log.Error("this server could not tell the others that it lives, and has stopped what it was doing", "server", r.id, "for", stopAfter)
	}
}

// stop stops what was not renewed until an instant.
func (r *roster) stop(now time.Time) (stopped bool) {
	for _, d := range r.desks {
		stopped = d.share.lapse(now) || stopped
	}
	return stopped
}

// beat renews what the server has, and shares out the rest.
func (r *roster) beat(work, beating context.Context) error {
	began, clock := time.Now(), r.s.now()
	if !began.Before(r.until) {
		r.seen = nil // it was away: the others may have been so too
	}
	r.beats++
	leaving := work.Err() != nil
	states := make([]state, len(r.desks))
	for i, d := range r.desks {
		states[i].open, states[i].busy = d.share.state()
		if leaving {
			states[i].open = 0
		}
	}
	ctx, stop := context.WithTimeout(beating, beatFor)
	defer stop()
	var p plan
	err := r.s.store.Update(ctx, func(tx Tx) error {
		records, err := tx.List(ctx, Range{Table: TableMeta, From: serverPrefix, To: prefixEnd(serverPrefix)})
		if err != nil {
			return err
		}
		if p, err = r.plan(records, states, leaving, began); err != nil {
			return err
		}
		for _, id := range p.dead {
			tx.Delete(serverKey(id))
		}
		p.record.now = clock
		tx.Put(serverKey(r.id), p.record.encode())
		return nil
	})
	if err != nil {
		return err
	}
	now := time.Now()
	r.look(p.alive, now, clock)
	evicted := r.joined && !p.known
	r.joined = true
	for _, id := range p.dead {
		r.s.log.Warn("a server has not been heard of; its work is taken over", "server", id)
	}
	if evicted {
		r.s.log.Error("the others took this server for dead; it has stopped what it was doing", "server", r.id)
		r.stop(r.until)
	}
	if r.until = began.Add(stopAfter); !now.Before(r.until) {
		return nil // too late for anything; the next beat comes soon
	}
	r.lapse.Reset(r.until.Sub(now))
	for i, d := range r.desks {
		if d.share.renew(work, p.open[i], r.until) {
			d.floor.forget()
			r.s.books.floors.forget()
			d.poke()
		}
	}
	return nil
}

// look notes which counts have changed, at an instant not before they were read, and
// compares the clocks of those with this server's.
func (r *roster) look(alive []colleague, now, clock time.Time) {
	seen := make(map[uuid.UUID]sight, len(alive))
	for _, c := range alive {
		was, ok := r.seen[c.id]
		if !ok || was.beats != c.beats {
			off := c.now.Sub(clock)
			if ok && !was.warned && !c.now.IsZero() && off.Abs() > clocksOff {
				was.warned = true
				r.s.log.Warn("the clock of another server shows another time: holds and sales end too early or too late; set the clocks of their machines, or give all the same one", "server", c.id, "ahead", off.Round(time.Second))
			}
			was = sight{c.beats, now, was.warned}
		}
		seen[c.id] = was
	}
	r.seen = seen
}

// leave takes the server off the roster, so that others take over at once.
func (r *roster) leave(ctx context.Context) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer stop()
	err := r.s.store.Update(ctx, func(tx Tx) error {
		tx.Delete(serverKey(r.id))
		return nil
	})
	if err != nil {
		r.s.log.Warn("this server could not tell the others that it leaves; they wait for it", "server", r.id, "for", deadAfter, "error", err)
	}
}

// A state is what a desk may begin and what it has in hand.
type state struct{ open, busy parts }

// A colleague is another server.
type colleague struct {
	id uuid.UUID
	server
}

// A plan is what is decided in a beat.
type plan struct {
	known  bool // this server's record was there
	alive  []colleague
	dead   []uuid.UUID
	record server  // to be written
	open   []parts // for each desk
}

// plan decides what a server that began to beat at an instant writes.
func (r *roster) plan(records []Record, states []state, leaving bool, began time.Time) (p plan, err error) {
	var own server
	for _, rec := range records {
		id, err := uuid.FromBytes([]byte(rec.ID[len(serverPrefix):]))
		if err != nil {
			continue // no server's: Check reports it
		}
		v, err := decodeColleague(rec.Value)
		if err != nil { // until it is known to be dead, it may have all that this one has not
			v = server{beats: textMark(string(rec.Value)), unknown: true}
		}
		was, ok := r.seen[id]
		switch {
		case id == r.id:
			own, p.known = v, true
		case ok && was.beats == v.beats && began.Sub(was.since) >= deadAfter:
			p.dead = append(p.dead, id)
		default:
			p.alive = append(p.alive, colleague{id, v})
		}
	}
	p.record = server{beats: r.beats, leaving: leaving}
	for i, d := range r.desks {
		had, _ := own.of(d.kind)
		taken, quota := r.others(d.kind, p.alive)
		if slices.ContainsFunc(p.alive, func(c colleague) bool { return c.unknown }) {
			taken |= ^had
		}
		if leaving {
			quota = 0
		}
		h, open := divide(had, states[i].open, states[i].busy, taken, quota)
		p.record.shares = append(p.record.shares, held{d.kind, h})
		p.open = append(p.open, open)
	}
	return p, nil
}

// others says what others have of a kind, and how many parts are this server's
// share: all have the same, and those with the lowest IDs one more if need be.
func (r *roster) others(k kind, alive []colleague) (taken parts, quota int) {
	rank, n := 0, 1
	for _, c := range alive {
		has, works := c.of(k)
		taken |= has
		if !works || c.leaving {
			continue
		}
		n++
		if bytes.Compare(c.id[:], r.id[:]) < 0 {
			rank++
		}
	}
	quota = partCount / n
	if rank < partCount%n {
		quota++
	}
	return taken, quota
}
