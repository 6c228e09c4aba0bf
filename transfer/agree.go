package transfer

import (
	"bytes"
	"context"

	"github.com/traintravel/traintravel/store"
)

// AgreedKey returns the key of the record of Agree.
func AgreedKey() store.Key { return store.Key{Table: store.TableMeta, ID: "agreed"} }

// Agree lets programs that use one store, concurrently or one after the other, check
// that they agree on configuration that the store does not contain, such as their keys.
// It calls check with the value recorded last, or nil; check returns the value to record,
// or an error if the program must not continue, which Agree returns. Like the closure of
// an update, check may run several times. The value should be short and must not contain
// secrets; [Copy] copies it. Agree fails on a closed store, like a service.
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

// Agreed returns the value that a program on a store recorded last with Agree, or nil.
func Agreed(ctx context.Context, r store.Reader) ([]byte, error) {
	v, err := r.Get(ctx, AgreedKey())
	if err != nil {
		return nil, err
	}
	return bytes.Clone(v[0]), nil
}
