package audit

import (
	"fmt"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/internal/trains"
	"github.com/traintravel/traintravel/schedule"
	"github.com/traintravel/traintravel/store"
)

// timetable checks that the timetable in force is complete, and that its trains have the
// numbers that the registry has given them. It ignores other generations: they are being
// loaded, or remain from a load that failed, and the next load removes them.
func (a *auditor) timetable() error {
	err := a.table(store.TableTimetable, func(key store.Key, _ []byte, _ *cited) func() {
		if !a.shaped(key, 16+1+4) {
			return nil
		}
		if k := key.ID[16]; k != 't' && k != 'r' && k != 'v' {
			a.say(FaultUnknownKey, key, "unknown kind of timetable record %q", k)
		}
		return nil
	})
	if err != nil {
		return err
	}
	c, err := timetable.ReadCurrent(a.ctx, a.r)
	if err != nil || c.Generation == uuid.Nil {
		return a.ctx.Err() // reported when that record itself is checked
	}
	var parts [3][]byte
	for i, part := range []struct {
		kind byte
		size int
	}{{'t', c.Timetable}, {'r', c.Registry}, {'v', c.Moves}} {
		if parts[i], err = timetable.ReadChunks(a.ctx, a.r, c.Generation, part.kind, part.size); err != nil {
			if a.ctx.Err() != nil {
				return err
			}
			a.say(FaultTimetable, timetable.ChunkKey(c.Generation, part.kind, 0), "%v", err)
			return nil
		}
	}
	t, ids, err := trains.DecodeNumbered(parts[0])
	if err == nil {
		err = t.CheckIn(&a.zones)
	}
	if err != nil {
		a.say(FaultTimetable, timetable.ChunkKey(c.Generation, 't', 0), "%v", err)
		return nil
	}
	if c.Moves > 0 { // earlier versions recorded no moves
		if _, err := trains.DecodeMoves(parts[2], len(t.Trains)); err != nil {
			a.say(FaultTimetable, timetable.ChunkKey(c.Generation, 'v', 0), "%v", err)
		}
	}
	reg, err := trains.DecodeRegistry(parts[1])
	if err != nil {
		a.say(FaultTimetable, timetable.ChunkKey(c.Generation, 'r', 0), "%v", err)
		return nil
	}
	a.registry(timetable.ChunkKey(c.Generation, 'r', 0), t, ids, reg)
	return nil
}

// registry checks the numbers of trains.
func (a *auditor) registry(key store.Key, t *schedule.Timetable, ids []trains.Numbering, reg trains.Registry) {
	entries := reg.ByNumber()
	for i, e := range entries {
		if e.Number == 0 || e.Number > reg.High || reg.High > trains.MaxNumber {
			a.say(FaultRegistry, key, "train %v has the number %d, but the highest number given so far is %d", e.Train(), e.Number, reg.High)
		}
		if i > 0 && entries[i-1].Number == e.Number && (entries[i-1].Train() != e.Train() || entries[i-1].List != e.List) {
			a.say(FaultRegistry, key, "trains %v and %v have the same number, %d", entries[i-1].Train(), e.Train(), e.Number)
		}
	}
	for i, id := range ids {
		e := trains.Numbered(entries, id.Number)
		if e.Number == 0 || e.Train() != id.Train || e.List != trains.ListMark(t.Trains[i].Calls) {
			a.say(FaultRegistry, key, "train %s has the number %d, but the registry gives that number to another train, or to other calls",
				fmt.Sprintf("%v (%q)", id.Train, t.Trains[i].Number), id.Number)
		}
	}
}
