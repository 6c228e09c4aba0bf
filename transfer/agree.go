package transfer

import (
	"bytes"
	"context"

	"github.com/traintravel/traintravel/store"
)

// AgreedKey names the record of what the programs on a store have to agree on.
func AgreedKey() store.Key { return store.Key{Table: store.TableMeta, ID: "agreed"} }

// Agree lets programs that use one store, at the same time or one after the other,
// find out whether they have in common what the store does not decide, such as their
// keys. Check gets what was recorded last, or nil, and returns what to record, or the
// error of a program that must not go on, which Agree returns. It may run several
// times, as the closure of an update does. What is recorded is short, holds no secret,
// and goes along with a [Copy]. A store that is closed is refused, as to a service.
func Agree(ctx context.Context, s store.Store, check func(recorded []byte) ([]byte, error)) error {
	return s.Update(ctx, func(tx store.Tx) error {
		v, err := getOpen(ctx, tx, []store.Key{AgreedKey()})
		if err != nil {
			return err
		}
		next, err := check(bytes.Clone(v[0]))
		if err == nil && !bytes.Equal(next, v[0]) {
			tx.Put(AgreedKey(), bytes.Clone(next))
		}
		return err
	})
}

// Agreed is what programs on a store have recorded last by Agree, or nil.
func Agreed(ctx context.Context, r store.Reader) ([]byte, error) {
	v, err := r.Get(ctx, AgreedKey())
	if err != nil {
		return nil, err
	}
	return bytes.Clone(v[0]), nil
}
