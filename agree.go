package traintravel

import (
	"bytes"
	"context"
)

// agreedKey names the record of what the programs on a store have to agree on.
var agreedKey = Key{TableMeta, "agreed"}

// Agree lets programs that use one store, at the same time or one after the other,
// find out whether they have in common what the store does not decide, such as their
// keys. Check gets what was recorded last, or nil, and returns what to record, or the
// error of a program that must not go on, which Agree returns. It may run several
// times, as the closure of an update does. What is recorded is short, holds no secret,
// and goes along with a [Copy]. A store that is closed is refused, as to a service.
func Agree(ctx context.Context, store Store, check func(recorded []byte) ([]byte, error)) error {
	return store.Update(ctx, func(tx Tx) error {
		v, err := getOpen(ctx, tx, []Key{agreedKey})
		if err != nil {
			return err
		}
		next, err := check(bytes.Clone(v[0]))
		if err == nil && !bytes.Equal(next, v[0]) {
			tx.Put(agreedKey, bytes.Clone(next))
		}
		return err
	})
}

// Agreed is what programs on a store have recorded last by Agree, or nil.
func Agreed(ctx context.Context, r Reader) ([]byte, error) {
	v, err := r.Get(ctx, agreedKey)
	if err != nil {
		return nil, err
	}
	return bytes.Clone(v[0]), nil
}
