package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/keys"
)

// An agreement is what the servers of one store must have in common, as the store
// records it: the server that was started last wrote it.
type agreement struct {
	keys.Prints
	Base string `json:"base"`
	ID   string `json:"id,omitempty"` // of the data, for its keys file
}

// errOtherKeys is returned for a server whose keys are not those of the others.
var errOtherKeys = errors.New("the keys differ from those of the other servers")

// agree makes sure that the keys are those that servers of this data have or had,
// unless they are to be replaced, and warns of another base URL. The data gets the ID if it
// has none; agree returns the one that it has.
//
// Keys for signing may be changed one after the other, as long as each server has
// one that the server before it had. With --issuer they do not matter.
func (p *program) agree(ctx context.Context, set settings, store traintravel.Store, ring *keys.Ring, base, id string) (string, error) {
	own := agreement{Prints: ring.Prints(), Base: base, ID: id}
	var before agreement
	replaced := false
	err := traintravel.Agree(ctx, store, func(recorded []byte) ([]byte, error) {
		next := own
		before, replaced = agreement{}, false
		if recorded == nil {
			before = own
		} else if err := json.Unmarshal(recorded, &before); err != nil {
			return nil, fmt.Errorf("cannot read what the servers of this data have agreed on: %w", err)
		}
		if before.ID != "" {
			next.ID = before.ID
		}
		id = next.ID
		if set.issuer != "" {
			next.Signing = before.Signing
		}
		if !own.agrees(before, set.issuer == "") {
			if replaced = true; !set.newKeys {
				return nil, errOtherKeys
			}
		}
		return json.Marshal(next)
	})
	file, where := set.keysFile(set.keys), set.named()
	switch {
	case errors.Is(err, errOtherKeys):
		return "", fmt.Errorf("the keys in %s are not those that servers of %s have used, so their tokens and idempotency keys would be refused: copy their keys file to %[1]s; or, if it is lost or retired, start once with --new-keys", file, where)
	case err != nil:
		return "", err
	case replaced:
		p.log.Warn("new keys replaced the earlier ones; copy the keys file to all servers of this data and restart them", "keys", file)
	}
	if set.shared() && before.Base != base {
		p.log.Warn("the server started before this one has another base URL, so links and tokens of one are invalid on the other; give both the same --base-url", "base", base, "before", before.Base)
	}
	return id, nil
}

// agrees says whether a server with these keys does what one with those did.
func (a agreement) agrees(other agreement, signs bool) bool {
	if a.Fingerprint != other.Fingerprint {
		return false
	}
	return !signs || len(other.Signing) == 0 || slices.ContainsFunc(a.Signing, func(print string) bool {
		return slices.Contains(other.Signing, print)
	})
}
