package traintravel

import (
	"time"

	"github.com/google/uuid"
)

// A server is the record of one that runs.
type server struct {
	heartbeats uint64 // counts them
	leaving    bool   // it finishes what is in its hands and takes no more
	shares     []held
	now        time.Time // by its service's clock; since version 2

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
	e.uint(v.heartbeats)
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
	v = readServer(&d, version)
	return v, d.done()
}

// readServer reads what a version has of a record.
func readServer(d *decoder, version byte) (v server) {
	v.heartbeats, v.leaving = d.uint(), d.flags()[0]
	for range d.len(9) {
		v.shares = append(v.shares, held{kind(d.byte()), parts(d.fixed64())})
	}
	if version >= 2 {
		v.now = d.time()
	}
	return v
}

// decodePeer reads the record of another server, perhaps of a newer version: that
// begins with what this one knows, for ever, so that servers of different versions can
// share their work.
func decodePeer(b []byte) (server, error) {
	if len(b) == 0 || b[0] <= serverVersion {
		return decodeServer(b)
	}
	d := decoder{what: "server", rest: string(b[1:])}
	v := readServer(&d, serverVersion)
	d.rest = ""
	return v, d.done()
}

const serverPrefix = "server/"

func serverKey(id uuid.UUID) Key { return Key{TableMeta, serverPrefix + string(id[:])} }
