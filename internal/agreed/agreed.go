// Package agreed records in a store what the servers on it must have in common, and refuses a
// server that differs: one with other keys would not take the tokens of the others, nor answer
// a request again under its idempotency key.
package agreed

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/keys"
)

// A Record holds the settings that the servers of one store must have in common. The server
// that was started last has written it to the store.
type Record struct {
	keys.Prints
	Base string `json:"base"`
	ID   string `json:"id,omitempty"` // of the data, for its keys file
}

// ErrOtherKeys is the error of a server whose keys differ from those of the others.
var ErrOtherKeys = errors.New("the keys differ from those of other servers with the same data")

// Read returns the record of the store, or nil if it has had no server yet.
func Read(ctx context.Context, store traintravel.Reader) (*Record, error) {
	recorded, err := traintravel.Agreed(ctx, store)
	if err != nil || recorded == nil {
		return nil, err
	}
	return parse(recorded)
}

func parse(recorded []byte) (*Record, error) {
	var r Record
	if err := json.Unmarshal(recorded, &r); err != nil {
		return nil, fmt.Errorf("reading the recorded settings of the servers with this data: %w", err)
	}
	return &r, nil
}

// ID returns the ID of the data whose servers have agreed on before, which is nil if it has had
// none, for a server with these keys; fresh if the data has none yet.
func ID(before *Record, ring *keys.Ring, fresh string) string {
	if before == nil {
		return fresh
	}
	// Servers of older versions recorded their keys without the ID.
	if was := ring.Use(); before.ID == "" && was.Data == "" && was.ID != "" && before.Fingerprint == ring.Prints().Fingerprint {
		return was.ID
	}
	return cmp.Or(before.ID, fresh)
}

// A Server is one that begins to serve a store.
type Server struct {
	Ring    *keys.Ring
	Base    string // its base URL
	Signs   bool   // its keys sign the tokens that it takes
	Replace bool   // its keys may replace those of before
}

// Settle records what a server has, and returns what the server before it had, nil if it is the
// first, and whether its keys have replaced others. It returns [ErrOtherKeys] if they would, and
// may not.
//
// Keys for signing may be changed one after the other, as long as each server has one that the
// server before it had.
func Settle(ctx context.Context, store traintravel.Store, s Server) (before *Record, replaced bool, err error) {
	own := Record{Prints: s.Ring.Prints(), Base: s.Base}
	fresh := uuid.NewString() // the closure below may run twice
	err = traintravel.Agree(ctx, store, func(recorded []byte) ([]byte, error) {
		next := own
		before, replaced = nil, false
		if recorded != nil {
			var err error
			if before, err = parse(recorded); err != nil {
				return nil, err
			}
		}
		next.ID = ID(before, s.Ring, fresh)
		if before == nil {
			return json.Marshal(next)
		}
		if !s.Signs {
			next.Signing = before.Signing
		}
		if !own.Agrees(*before, s.Signs) {
			if replaced = true; !s.Replace {
				return nil, ErrOtherKeys
			}
		}
		return json.Marshal(next)
	})
	return before, replaced, err
}

// Agrees says whether a server with these keys takes the tokens and the idempotency keys of one
// with those.
func (r Record) Agrees(other Record, signs bool) bool {
	if r.Fingerprint != other.Fingerprint {
		return false
	}
	return !signs || len(other.Signing) == 0 || slices.ContainsFunc(r.Signing, func(print string) bool {
		return slices.Contains(other.Signing, print)
	})
}
