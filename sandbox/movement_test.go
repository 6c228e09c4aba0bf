package sandbox

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// sample has something in every field that a version of the record has.
func sample(version int) *movement {
	m := &movement{
		Movement: Movement{
			ID: uuid.UUID{1, 15: 1}, Charge: uuid.UUID{2, 15: 2}, Booking: uuid.UUID{3, 15: 3},
			Amount: traintravel.Money{Amount: 1<<53 + 1, Currency: "clf"}, Outcome: failed("code", "Ünicode."),
		},
		asked: time.Date(2026, 5, 4, 8, 30, 0, 1, time.UTC), settles: time.Date(2026, 5, 4, 8, 30, 10, 1, time.UTC), refunded: 300, fenced: true,
	}
	if version >= 2 {
		m.Outcome.Resolution, m.nonRefundable = traintravel.RefundImpossible, true
	}
	return m
}

// Files of all versions so far open: testdata/records/movement.N.json was written
// by version N and means the sample of that. A new version adds a file and changes none.
func TestOlderRecordsAreRead(t *testing.T) {
	t.Parallel()
	now, err := sample(recordVersion).encode()
	if err != nil {
		t.Fatal(err)
	}
	for v := 1; v <= recordVersion; v++ {
		b, err := os.ReadFile(filepath.Join("testdata", "records", "movement."+strconv.Itoa(v)+".json"))
		if err != nil {
			t.Fatalf("%v; of this version it would hold\n%s", err, now)
		}
		m, err := decode(sample(v).ID, bytes.TrimSpace(b))
		if err != nil {
			t.Fatal(err)
		}
		if *m != *sample(v) {
			t.Errorf("version %d is read as\n%+v, want\n%+v", v, m, sample(v))
		}
		if again, err := m.encode(); err != nil || v == recordVersion && !bytes.Equal(again, bytes.TrimSpace(b)) {
			t.Errorf("%s is written as\n%s, %v", b, again, err)
		}
	}
}

func TestImpossibleRecords(t *testing.T) {
	t.Parallel()
	b, err := sample(recordVersion).encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ what, old, new string }{
		{"version 0", `"v":2`, `"v":0`},
		{"another member", `"v":2`, `"v":2,"number":"1"`},
		{"a status that is none", `"failed"`, `"pending"`},
		{"an ID that is none", `"charge":"0`, `"charge":"x`},
		{"a resolution that is none", `"impossible"`, `"lost"`},
		{"a resolution of another status", `"impossible"`, `"made_elsewhere"`},
		{"cut short", `}`, ``},
	} {
		bad := strings.Replace(string(b), c.old, c.new, 1)
		if _, err := decode(uuid.Nil, []byte(bad)); bad == string(b) || err == nil || errors.Is(err, traintravel.ErrNewerData) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
	newer := strings.Replace(string(b), `"v":2`, `"v":3,"more":[]`, 1)
	if _, err := decode(uuid.Nil, []byte(newer)); !errors.Is(err, traintravel.ErrNewerData) {
		t.Errorf("a newer record: %v", err)
	}
}
