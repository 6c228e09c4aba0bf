package traintravel

const registryVersion = 1

func (r registry) encode() []byte {
	e := newEncoder(registryVersion, 56*len(r.entries))
	e.uint(uint64(r.high))
	e.uint(uint64(len(r.entries)))
	for _, x := range r.entries {
		e.uint(uint64(x.number))
		e.id(x.base)
		e.uint(uint64(x.twin))
		e.fixed64(x.list)
		e.fixed64(x.terminus)
		e.fixed64(x.source)
		e.int(int64(x.since))
		e.int(int64(x.last))
	}
	return e.b
}

func decodeRegistry(b []byte) (registry, error) {
	d, _ := newDecoder("registry", registryVersion, b)
	r := registry{high: uint32(d.uint())}
	r.entries = make([]registered, d.len(44))
	for i := range r.entries {
		r.entries[i] = registered{
			number: uint32(d.uint()), base: d.id(), twin: int(d.uint()), list: d.fixed64(), terminus: d.fixed64(),
			source: d.fixed64(), since: Date(d.int()), last: Date(d.int()),
		}
	}
	return r, d.done()
}

// encodeNumbered writes a checked timetable and what register found for it.
func encodeNumbered(t *Timetable, ids []numbering) []byte {
	return encodeTimetable(t, func(e *encoder, train int) {
		e.id(ids[train].train)
		e.uint(uint64(ids[train].number))
	})
}

func decodeNumbered(b []byte) (t *Timetable, ids []numbering, err error) {
	t, err = decodeTimetable(b, func(d *decoder) {
		ids = append(ids, numbering{train: d.id(), number: uint32(d.uint())})
	})
	return t, ids, err
}
