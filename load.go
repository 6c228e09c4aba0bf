package traintravel

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
)

// A LoadReport says what LoadTimetable did.
type LoadReport struct {
	Stations int
	Trains   int
	// Stranded are the bookings of runs still to come that the new timetable
	// does not fit: the run, a call or the place is gone. They stay valid and
	// keep the trip as sold; nobody else gets their places.
	Stranded []Stranded
	// Unreadable is how many runs and bookings could not be read: there may be more
	// bookings that the new timetable does not fit. [Check] names the records.
	Unreadable int
}

// Stranded is a booking that a new timetable does not fit.
type Stranded struct {
	Booking uuid.UUID
	Run     RunID
	// Leg is what was sold of the run.
	Leg Leg
}

// chunkSize is what one record holds of a timetable. Several ride in one
// update, few enough that no update is large.
const (
	chunkSize      = 256 << 10
	chunksAnUpdate = 8
)

var currentKey = Key{TableMeta, "timetable"}

// current is the record that makes a generation of the timetable the one in
// force. Updates that take places read it.
type current struct {
	generation          uuid.UUID
	timetable, registry int // bytes
	moves               int // bytes; since version 2
	// loads are the days of the latest loads, one or more a day, the latest
	// first; since version 3. A clock that was wrong for one is outvoted.
	loads [keepLoads]Date
}

const (
	currentVersion = 3
	keepLoads      = 8
)

// since is the day until which runs may have passed: the earliest of the
// latest loads, or today.
func (c current) since(today Date) Date {
	for _, d := range c.loads {
		if d != 0 {
			today = min(today, d)
		}
	}
	return today
}

// loaded is c with one load more.
func (c current) loaded(today Date) [keepLoads]Date {
	loads := c.loads
	if !slices.Contains(loads[:], today) {
		copy(loads[1:], c.loads[:])
		loads[0] = today
	}
	return loads
}

func (c current) encode() []byte {
	e := newEncoder(currentVersion, 40)
	e.id(c.generation)
	e.uint(uint64(c.timetable))
	e.uint(uint64(c.registry))
	e.uint(uint64(c.moves))
	for _, d := range c.loads {
		e.int(int64(d))
	}
	return e.b
}

func decodeCurrent(b []byte) (current, error) {
	if b == nil {
		return current{}, nil
	}
	d, version := newDecoder("current timetable", currentVersion, b)
	c := current{generation: d.id(), timetable: int(d.uint()), registry: int(d.uint())}
	if version >= 2 {
		c.moves = int(d.uint())
	}
	for i := range c.loads {
		if version >= 3 {
			c.loads[i] = Date(d.int())
		}
	}
	return c, d.done()
}

// LoadTimetable checks a timetable and makes it the one in force, for this
// service and every other on the same store, all at once. Bookings made before
// stay valid and keep the trip as sold; trip IDs stay the same for trains that
// still run with the same calls. What is wrong with the timetable is returned
// as by [Timetable.Check], and then nothing has changed. If ctx ends before the
// timetable is in force, its error is returned, and nothing has changed either.
//
// The timetable must not be modified any more.
func (s *Service) LoadTimetable(ctx context.Context, t *Timetable) (LoadReport, error) {
	return s.load(ctx, t, false)
}

// LoadFirstTimetable is LoadTimetable for a store that has none. If another one
// is in force, or is first, that stays, and the error is [ErrHasTimetable].
func (s *Service) LoadFirstTimetable(ctx context.Context, t *Timetable) (LoadReport, error) {
	return s.load(ctx, t, true)
}

func (s *Service) load(ctx context.Context, t *Timetable, first bool) (_ LoadReport, err error) {
	ctx, end := s.begin(ctx, "LoadTimetable")
	defer end(&err)
	if err := t.check(&s.zones); err != nil {
		return LoadReport{}, err
	}
	for {
		sn, err := s.replaceTimetable(ctx, t, first)
		if errors.Is(err, errOvertaken) {
			continue // somebody else loaded one meanwhile: its registry counts
		}
		if err != nil {
			return LoadReport{}, fmt.Errorf("loading the timetable: %w", err)
		}
		if err := s.snapshots.replace(ctx, sn, s.elapsed()); err != nil {
			return LoadReport{}, fmt.Errorf("the timetable is loaded, but nothing more was done: %w", err)
		}
		if err := s.dropGenerations(ctx); err != nil {
			s.log.WarnContext(ctx, "an old timetable was not removed; the next load tries again", "error", err)
		}
		stranded, left, err := s.stranded(ctx, sn)
		if err != nil {
			return LoadReport{}, fmt.Errorf("the timetable is loaded, but its bookings could not be checked: %w", err)
		}
		return LoadReport{Stations: len(t.Stations), Trains: len(t.Trains), Stranded: stranded, Unreadable: s.omit(ctx, left)}, nil
	}
}

var errOvertaken = errors.New("another timetable was loaded meanwhile")

// interrupted looks now and then, as i counts up, whether ctx has ended.
func interrupted(ctx context.Context, i int) error {
	if i%1024 != 0 {
		return nil
	}
	return ctx.Err()
}

func (s *Service) replaceTimetable(ctx context.Context, t *Timetable, first bool) (*snapshot, error) {
	now := s.now()
	var old current
	var former registry
	err := s.store.View(ctx, func(r Reader) (err error) {
		if old, err = readCurrent(ctx, r); err != nil || old.generation == uuid.Nil {
			return err
		}
		if first {
			return ErrHasTimetable
		}
		b, err := readChunks(ctx, r, old.generation, 'r', old.registry)
		if err != nil {
			return err
		}
		former, err = decodeRegistry(b)
		return err
	})
	if err != nil {
		return nil, err
	}
	calendars := calendarCache{}
	today := DateOf(now.UTC())
	ids, reg, err := register(ctx, former, t.Trains, calendars.get, today, old.since(today))
	if err != nil {
		return nil, err
	}

	// Greater than the one it is to replace, whatever the clocks say: who finds
	// a smaller one than that in force may remove it.
	next := current{generation: laterID(time.Now(), s.newID(), old.generation), loads: old.loaded(today)}
	b := encodeTimetable(t, ids)
	next.timetable = len(b)
	if err := s.writeChunks(ctx, next.generation, 't', b); err != nil {
		return nil, err
	}
	b = reg.encode()
	next.registry = len(b)
	if err := s.writeChunks(ctx, next.generation, 'r', b); err != nil {
		return nil, err
	}
	// Who has which inventory is decided by what is booked, in the update from
	// which on bookings follow it.
	slots := newSlots(former, reg, t.Trains, ids, calendars.get)
	before, err := s.replaced(ctx, slots, old)
	if err != nil {
		return nil, err
	}
	sn, err := compile(ctx, t, ids, reg, &s.zones, s.opts.Price != nil)
	if err != nil {
		return nil, err
	}
	var moves []move
	err = s.update(ctx, now, func(l *ledger) error {
		c, err := readCurrent(ctx, l.tx)
		if err != nil {
			return err
		}
		if c != old {
			return errOvertaken
		}
		var back []handback
		if moves, back, err = slots.find(ctx, l.tx, before, max(old.since(today)-keepNumbers, FirstDate)); err != nil {
			return err
		}
		for _, h := range back {
			if err := l.handBack(sn, h); err != nil && !unreadable(err) { // else its bookings stay stranded
				return err
			}
		}
		c, b := next, encodeMoves(moves)
		c.moves = len(b)
		putChunks(l.put, c.generation, 'v', 0, b)
		l.put(currentKey, c.encode())
		return nil
	})
	if err != nil {
		return nil, err
	}
	sn.move(t, moves)
	sn.generation = next.generation
	return sn, nil
}

// replaced is the timetable that another replaces, nil if there is none or the
// slots do not ask for it.
func (s *Service) replaced(ctx context.Context, slots *slots, old current) (*snapshot, error) {
	if old.generation == uuid.Nil || len(slots.bases) == 0 {
		return nil, nil
	}
	s.snapshots.expire()
	before, err := s.snapshot(ctx)
	if err == nil && before.generation != old.generation {
		err = errOvertaken
	}
	return before, err
}

func readCurrent(ctx context.Context, r Reader) (current, error) {
	v, err := r.Get(ctx, currentKey)
	if err != nil {
		return current{}, err
	}
	return decodeCurrent(v[0])
}

// chunkKey orders chunks by generation, kind ('t' timetable, 'r' registry, 'v' moves) and position.
func chunkKey(generation uuid.UUID, kind byte, n int) Key {
	id := append(generation[:], kind)
	return Key{TableTimetable, string(binary.BigEndian.AppendUint32(id, uint32(n)))}
}

func (s *Service) writeChunks(ctx context.Context, generation uuid.UUID, kind byte, b []byte) error {
	for n := 0; len(b) > 0; {
		part := b[:min(len(b), chunkSize*chunksAnUpdate)]
		b = b[len(part):]
		first := n
		n += chunksAnUpdate
		err := s.store.Update(ctx, func(tx Tx) error {
			putChunks(tx.Put, generation, kind, first, part)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// putChunks writes a part, from its n-th chunk on.
func putChunks(put func(Key, []byte), generation uuid.UUID, kind byte, n int, part []byte) {
	for ; len(part) > 0; n++ {
		chunk := part[:min(len(part), chunkSize)]
		part = part[len(chunk):]
		put(chunkKey(generation, kind, n), bytes.Clone(chunk))
	}
}

// readChunks reads all of what current tells of a generation. Both are read on
// one snapshot, or else it may have been removed meanwhile.
func readChunks(ctx context.Context, r Reader, generation uuid.UUID, kind byte, size int) ([]byte, error) {
	records, err := r.List(ctx, Range{Table: TableTimetable, From: chunkKey(generation, kind, 0).ID, To: chunkKey(generation, kind+1, 0).ID})
	if err != nil {
		return nil, err
	}
	b := make([]byte, 0, size)
	for _, rec := range records {
		b = append(b, rec.Value...)
	}
	if len(b) != size {
		return nil, fmt.Errorf("the stored timetable %w: it has %d bytes, not %d", errDamaged, len(b), size)
	}
	return b, nil
}

// dropGenerations removes the generations before the one in force, and
// whatever a load that was interrupted has left.
func (s *Service) dropGenerations(ctx context.Context) error {
	c, err := readCurrent(ctx, s.store)
	if err != nil {
		return err
	}
	for from := ""; ; {
		records, err := s.store.List(ctx, Range{Table: TableTimetable, From: from, Limit: chunksAnUpdate})
		if err != nil || len(records) == 0 {
			return err
		}
		from = records[len(records)-1].ID + "\x00"
		err = s.store.Update(ctx, func(tx Tx) error {
			for _, rec := range records {
				g := uuid.UUID([]byte(rec.ID[:16]))
				if bytes.Compare(g[:], c.generation[:]) < 0 {
					tx.Delete(Key{TableTimetable, rec.ID})
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
}
