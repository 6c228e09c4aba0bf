package traintravel

import (
	"fmt"

	"github.com/google/uuid"
)

// timetable checks that the timetable in force is whole, and that its trains have the
// numbers that the registry has given them. Other generations are being loaded, or
// left of a load that broke off: the next one removes them.
func (a *auditor) timetable() error {
	err := a.table(TableTimetable, func(key Key, _ []byte, _ *cited) func() {
		if !a.shaped(key, 16+1+4) {
			return nil
		}
		if k := key.ID[16]; k != 't' && k != 'r' && k != 'v' {
			a.say(faultUnknownKey, key, "nothing is known of the kind %q", k)
		}
		return nil
	})
	if err != nil {
		return err
	}
	c, err := readCurrent(a.ctx, a.r)
	if err != nil || c.generation == uuid.Nil {
		return a.ctx.Err() // it is reported where it stands
	}
	var parts [3][]byte
	for i, part := range []struct {
		kind byte
		size int
	}{{'t', c.timetable}, {'r', c.registry}, {'v', c.moves}} {
		if parts[i], err = readChunks(a.ctx, a.r, c.generation, part.kind, part.size); err != nil {
			if a.ctx.Err() != nil {
				return err
			}
			a.say(faultTimetable, chunkKey(c.generation, part.kind, 0), "%v", err)
			return nil
		}
	}
	t, ids, err := decodeNumbered(parts[0])
	if err == nil {
		err = t.check(&a.zones)
	}
	if err != nil {
		a.say(faultTimetable, chunkKey(c.generation, 't', 0), "%v", err)
		return nil
	}
	if c.moves > 0 { // a version before had none
		if _, err := decodeMoves(parts[2], len(t.Trains)); err != nil {
			a.say(faultTimetable, chunkKey(c.generation, 'v', 0), "%v", err)
		}
	}
	reg, err := decodeRegistry(parts[1])
	if err != nil {
		a.say(faultTimetable, chunkKey(c.generation, 'r', 0), "%v", err)
		return nil
	}
	a.registry(chunkKey(c.generation, 'r', 0), t, ids, reg)
	return nil
}

// registry checks the numbers of trains.
func (a *auditor) registry(key Key, t *Timetable, ids []numbering, reg registry) {
	entries := reg.byNumber()
	for i, e := range entries {
		if e.number == 0 || e.number > reg.high || reg.high > maxNumber {
			a.say(faultRegistry, key, "train %v has the number %d, and the highest ever given is %d", e.train(), e.number, reg.high)
		}
		if i > 0 && entries[i-1].number == e.number && (entries[i-1].train() != e.train() || entries[i-1].list != e.list) {
			a.say(faultRegistry, key, "trains %v and %v have one number, %d", entries[i-1].train(), e.train(), e.number)
		}
	}
	for i, id := range ids {
		e := numbered(entries, id.number)
		if e.number == 0 || e.train() != id.train || e.list != listMark(t.Trains[i].Calls) {
			a.say(faultRegistry, key, "train %s has the number %d, which the registry gives to another, or to other calls",
				fmt.Sprintf("%v (%q)", id.train, t.Trains[i].Number), id.number)
		}
	}
}
