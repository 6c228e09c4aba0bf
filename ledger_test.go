package traintravel

import (
	"context"
	"testing"
)

// tableTx is a transaction on a map.
type tableTx map[Key]string

func (t tableTx) Get(_ context.Context, keys ...Key) ([][]byte, error) {
	values := make([][]byte, len(keys))
	for i, k := range keys {
		if v, ok := t[k]; ok {
			values[i] = []byte(v)
		}
	}
	return values, nil
}

func (t tableTx) List(context.Context, Range) ([]Record, error) { return nil, nil }
func (t tableTx) Put(k Key, v []byte)                           { t[k] = string(v) }
func (t tableTx) Delete(k Key)                                  { delete(t, k) }

// A key that rules have deleted and put has the value that was put, in whatever order they
// did both.
func TestLedgerPutsAfterItDeletes(t *testing.T) {
	t.Parallel()
	k, other := Key{TableDeliveries, "a"}, Key{TableDeliveries, "b"}
	for name, rules := range map[string]func(*ledger){
		"deleted first": func(l *ledger) { l.delete(k); l.put(k, []byte("new")) },
		"put first":     func(l *ledger) { l.put(k, []byte("new")); l.delete(k) },
	} {
		tx := tableTx{k: "old", other: "old"}
		l := &ledger{ctx: t.Context(), tx: tx}
		rules(l)
		l.delete(other)
		l.write()
		if _, ok := tx[other]; tx[k] != "new" || ok {
			t.Errorf("%s: the records are %v", name, tx)
		}
	}
}
