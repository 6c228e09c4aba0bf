package pgstore_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/traintravel/traintravel/internal/pgtest"
)

// While somebody reads an old snapshot, a list walks over what was deleted since at the
// head of its range: which is why queues are read from where nothing is left before. The
// work is counted in pages that the database looks at.
func TestDeletedRowsAreWalkedOver(t *testing.T) {
	t.Parallel()
	db := pgtest.Shared(t).NewDatabase(t)
	openURL(t, db)
	reader := connect(t, db)
	exec(t, reader, "begin isolation level repeatable read")
	exec(t, reader, "select from traintravel_agenda")
	writer := connect(t, db)
	exec(t, writer, "insert into traintravel_agenda select '\\x65'::bytea || int8send(n) || gen_random_uuid()::text::bytea, '' from generate_series(1, 5000) as n")
	exec(t, writer, "delete from traintravel_agenda")
	exec(t, writer, "vacuum analyze traintravel_agenda") // which may not remove them
	pages := func(from int) int {
		t.Helper()
		var text []byte
		sql := fmt.Sprintf("explain (analyze, buffers, format json) select id, value from traintravel_agenda where id >= '\\x65'::bytea || int8send(%d) and id < '\\x66' order by id limit 320", from)
		if err := writer.QueryRow(t.Context(), sql).Scan(&text); err != nil {
			t.Fatal(err)
		}
		var plans []struct {
			Plan struct {
				Hit  int `json:"Shared Hit Blocks"`
				Read int `json:"Shared Read Blocks"`
			}
		}
		if err := json.Unmarshal(text, &plans); err != nil {
			t.Fatal(err)
		}
		return plans[0].Plan.Hit + plans[0].Plan.Read
	}
	if head, end := pages(0), pages(4990); head < 50 || end > head/10 {
		t.Errorf("a list from the head looks at %d pages, and one from the end at %d", head, end)
	}
}
