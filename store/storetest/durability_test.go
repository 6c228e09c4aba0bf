package storetest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/traintravel/traintravel"
)

// A journal is a durable store, if a slow one to open: a file with a line for
// each update. A last line without an end was never acknowledged.
type journal struct {
	traintravel.Store
	mode string // what is wrong with it; "" is nothing

	mu   sync.Mutex
	file *os.File
	late bytes.Buffer // what is not in the file yet, but should be
}

type journalWrite struct {
	Table uint8
	ID    []byte
	Value []byte // null deletes
}

func openJournal(t testing.TB, dir, mode string) *journal {
	file, err := os.OpenFile(filepath.Join(dir, "journal"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	j := &journal{Store: sound(), mode: mode, file: file}
	whole := int64(0)
	for r := bufio.NewReader(file); ; {
		line, err := r.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		var ws []journalWrite
		if err := errors.Join(err, json.Unmarshal(line, &ws)); err != nil {
			t.Fatal(err)
		}
		if err := j.apply(t.Context(), ws); err != nil {
			t.Fatal(err)
		}
		whole += int64(len(line))
	}
	if _, err := file.Seek(whole, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	return j
}

func (j *journal) apply(ctx context.Context, ws []journalWrite) error {
	return j.Store.Update(ctx, func(tx traintravel.Tx) error {
		for _, w := range ws {
			k := traintravel.Key{Table: traintravel.Table(w.Table), ID: string(w.ID)}
			if w.Value == nil {
				tx.Delete(k)
			} else {
				tx.Put(k, w.Value)
			}
		}
		return nil
	})
}

func (j *journal) Update(ctx context.Context, fn func(traintravel.Tx) error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.Store.Update(ctx, func(tx traintravel.Tx) error {
		t := newTrial(tx)
		if err := t.run(fn); err != nil {
			return err
		}
		var ws []journalWrite
		for _, w := range t.writes {
			ws = append(ws, journalWrite{uint8(w.key.Table), []byte(w.key.ID), w.value})
		}
		if err := j.log(ws); err != nil {
			return err
		}
		t.apply(tx)
		return nil
	})
}

func (j *journal) log(ws []journalWrite) error {
	line := func(ws []journalWrite) []byte {
		b, err := json.Marshal(ws)
		if err != nil {
			panic(err)
		}
		return append(b, '\n')
	}
	switch j.mode {
	case "written at Close", "never written":
		j.late.Write(line(ws))
		return nil
	case "written half by half":
		for i := range ws {
			if _, err := j.file.Write(line(ws[i : i+1])); err != nil {
				return err
			}
			if i < len(ws)-1 && len(ws) < 10 {
				time.Sleep(5 * time.Millisecond) // nearly always, when the kill comes, half is written
			}
		}
		return nil
	}
	_, err := j.file.Write(line(ws))
	return err
}

func (j *journal) Close() error {
	if j.mode == "written at Close" {
		if _, err := j.file.Write(j.late.Bytes()); err != nil {
			return err
		}
	}
	return j.file.Close()
}

// TestDurability: the suite passes on a store that is durable.
func TestDurability(t *testing.T) {
	RunDurability(t, func(t testing.TB, dir string) Durable { return openJournal(t, dir, "") })
}

// TestReopenFindsFaults: reopening finds updates that were never written.
func TestReopenFindsFaults(t *testing.T) {
	t.Parallel()
	for _, c := range durable {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := c.run(t.Context(), func() Durable { return openJournal(t, dir, "never written") }); err == nil {
				t.Error("the check does not find it")
			}
		})
	}
}

// TestKilledFindsFaults: a kill finds updates that were acknowledged too early or written only
// partly.
func TestKilledFindsFaults(t *testing.T) {
	for _, mode := range []string{"written at Close", "written half by half"} {
		t.Run(mode, func(t *testing.T) {
			open := func(dir string) *journal { return openJournal(t, dir, mode) }
			if dir := os.Getenv(killEnv); dir != "" {
				untilKilled(t, open(dir))
				return
			}
			dir := t.TempDir()
			err := killed(t.Context(), t.Name(), dir, func() Durable { return open(dir) })
			if err == nil {
				t.Error("the check does not find it")
			} else {
				t.Log(err)
			}
		})
	}
}
