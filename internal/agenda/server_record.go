package agenda

import (
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/store"
)

// A Server is the record of a running server.
type Server struct {
	Heartbeats uint64 // counts them
	Leaving    bool   // it finishes its work and takes no more
	Shares     []Held
	now        time.Time // by its service's clock; since version 2

	unknown bool // its record cannot be read
}

// Held has the parts of a kind that a server has.
type Held struct {
	Kind  records.Kind
	Parts parts
}

// of returns the parts of a kind that a server has; false if it does not work on the kind.
func (v Server) of(k records.Kind) (parts, bool) {
	for _, h := range v.Shares {
		if h.Kind == k {
			return h.Parts, true
		}
	}
	return 0, false
}

const serverVersion = 2

// Encode returns the record.
func (v Server) Encode() []byte {
	e := codec.NewEncoder(serverVersion, 48)
	e.Uint(v.Heartbeats)
	e.Flags(v.Leaving)
	e.Uint(uint64(len(v.Shares)))
	for _, h := range v.Shares {
		e.Byte(byte(h.Kind))
		e.Fixed64(uint64(h.Parts))
	}
	e.Time(v.now)
	return e.B
}

// DecodeServer decodes the text of Encode.
func DecodeServer(b []byte) (v Server, err error) {
	d, version := codec.NewDecoder("server", serverVersion, b)
	v = readServer(&d, version)
	return v, d.Done()
}

// readServer reads the fields that a version of the record has.
func readServer(d *codec.Decoder, version byte) (v Server) {
	v.Heartbeats, v.Leaving = d.Uint(), d.Flags()[0]
	for range d.Len(9) {
		v.Shares = append(v.Shares, Held{records.Kind(d.Byte()), parts(d.Fixed64())})
	}
	if version >= 2 {
		v.now = d.Time()
	}
	return v
}

// decodePeer decodes the record of another server, perhaps of a newer version. Newer versions
// always begin with the fields that this one knows, so that servers of different versions can
// share their work.
func decodePeer(b []byte) (Server, error) {
	if len(b) == 0 || b[0] <= serverVersion {
		return DecodeServer(b)
	}
	d := codec.Decoder{What: "server", Rest: string(b[1:])}
	v := readServer(&d, serverVersion)
	d.Rest = ""
	return v, d.Done()
}

// ServerPrefix begins the keys of servers in TableMeta.
const ServerPrefix = "server/"

// ServerKey returns the key of the record of a server.
func ServerKey(id uuid.UUID) store.Key {
	return store.Key{Table: store.TableMeta, ID: ServerPrefix + string(id[:])}
}
