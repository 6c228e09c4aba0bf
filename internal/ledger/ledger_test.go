package ledger

import (
	"context"
	"testing"

	"github.com/traintravel/traintravel/store"
)

// tableTx is a transaction on a map.
type tableTx map[store.Key]string

func (t tableTx) Get(_ context.Context, keys ...store.Key) ([][]byte, error) {
	values := make([][]byte, len(keys))
	for i, k := range keys {
		if v, ok := t[k]; ok {
			values[i] = []byte(v)
		}
	}
	return values, nil
}

func (t tableTx) List(context.Context, store.Range) ([]store.Record, error) { return nil, nil }
func (t tableTx) Put(k store.Key, v []byte)                                 { t[k] = string(v) }
func (t tableTx) Delete(k store.Key)                                        { delete(t, k) }

// A key that rules have deleted and put has the value that was put, in whatever order they
// did both.
func TestLedgerPutsAfterItDeletes(t *testing.T) {
	t.Parallel()
	k, other := store.Key{Table: store.TableDeliveries, ID: "a"}, store.Key{Table: store.TableDeliveries, ID: "b"}
	for name, rules := range map[string]func(*Ledger){
		"deleted first": func(l *Ledger) { l.Delete(k); l.Put(k, []byte("new")) },
		"put first":     func(l *Ledger) { l.Put(k, []byte("new")); l.Delete(k) },
	} {
		tx := tableTx{k: "old", other: "old"}
		l := &Ledger{Ctx: t.Context(), Tx: tx}
		rules(l)
		l.Delete(other)
		l.write()
		if _, ok := tx[other]; tx[k] != "new" || ok {
			t.Errorf("%s: the records are %v", name, tx)
		}
	}
}
