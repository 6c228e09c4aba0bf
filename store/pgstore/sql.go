package pgstore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/traintravel/traintravel"
)

// A querier is a connection, or a pool of them.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// tableName returns a table's name in the database; empty if the table does not exist.
func tableName(t traintravel.Table) string {
	if !slices.Contains(traintravel.Tables(), t) {
		return ""
	}
	return "traintravel_" + t.String()
}

// get reads the values of keys in one statement.
func get(ctx context.Context, q querier, keys []traintravel.Key) ([][]byte, error) {
	values := make([][]byte, len(keys))
	if len(keys) == 1 {
		name := tableName(keys[0].Table)
		if name == "" {
			return values, nil
		}
		rows, err := q.Query(ctx, "select value from "+name+" where id = $1", []byte(keys[0].ID))
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		for rows.Next() {
			if err := rows.Scan(&values[0]); err != nil {
				return nil, err
			}
		}
		return values, rows.Err()
	}
	found := map[traintravel.Key][]byte{}
	if err := scanKeys(ctx, q, keys, func(k traintravel.Key, v []byte) { found[k] = v }); err != nil {
		return nil, err
	}
	for i, k := range keys {
		values[i] = found[k]
	}
	return values, nil
}

// scanKeys calls fn with each of the keys that there is.
func scanKeys(ctx context.Context, q querier, keys []traintravel.Key, fn func(traintravel.Key, []byte)) error {
	sql, args := selectKeys(keys)
	if sql == "" {
		return nil
	}
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return err
	}
	return eachKey(rows, fn)
}

func eachKey(rows pgx.Rows, fn func(traintravel.Key, []byte)) error {
	defer rows.Close()
	for rows.Next() {
		var table int16
		var id, value []byte
		if err := rows.Scan(&table, &id, &value); err != nil {
			return err
		}
		fn(traintravel.Key{Table: traintravel.Table(table), ID: string(id)}, value)
	}
	return rows.Err()
}

// selectKeys is the one statement that reads keys, whatever their tables; empty
// if no key can be.
func selectKeys(keys []traintravel.Key) (sql string, args []any) {
	byTable := map[traintravel.Table][][]byte{}
	for _, k := range keys {
		if tableName(k.Table) != "" {
			byTable[k.Table] = append(byTable[k.Table], []byte(k.ID))
		}
	}
	var b strings.Builder
	for _, t := range traintravel.Tables() { // in one order, so that few statements are prepared
		ids := byTable[t]
		if len(ids) == 0 {
			continue
		}
		if len(args) > 0 {
			b.WriteString(" union all ")
		}
		args = append(args, ids)
		fmt.Fprintf(&b, "select %d::smallint, id, value from %s where id = any($%d)", t, tableName(t), len(args))
	}
	return b.String(), args
}

// list reads a range.
func list(ctx context.Context, q querier, r traintravel.Range) ([]traintravel.Record, error) {
	sql, args := selectRange(r)
	if sql == "" {
		return nil, nil
	}
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return scanRecords(rows)
}

func scanRecords(rows pgx.Rows) ([]traintravel.Record, error) {
	defer rows.Close()
	var records []traintravel.Record
	for rows.Next() {
		var id, value []byte
		if err := rows.Scan(&id, &value); err != nil {
			return nil, err
		}
		records = append(records, traintravel.Record{ID: string(id), Value: value})
	}
	return records, rows.Err()
}

// selectRange is the statement that reads a range; empty for one that selects
// nothing.
func selectRange(r traintravel.Range) (sql string, args []any) {
	name := tableName(r.Table)
	if name == "" || r.To != "" && r.From >= r.To {
		return "", nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "select id, value from %s where id >= $1", name)
	args = append(args, []byte(r.From))
	if r.To != "" {
		b.WriteString(" and id < $2")
		args = append(args, []byte(r.To))
	}
	b.WriteString(" order by id")
	if r.Reverse {
		b.WriteString(" desc")
	}
	if r.Limit > 0 {
		args = append(args, r.Limit)
		fmt.Fprintf(&b, " limit $%d", len(args))
	}
	return b.String(), args
}

// The statements that write the records of a table: IDs and values, or IDs.
func insert(t traintravel.Table) string {
	return "insert into " + tableName(t) + " (id, value) select * from unnest($1::bytea[], $2::bytea[])"
}

func upsert(t traintravel.Table) string {
	return insert(t) + " on conflict (id) do update set value = excluded.value"
}

func remove(t traintravel.Table) string {
	return "delete from " + tableName(t) + " where id = any($1)"
}
