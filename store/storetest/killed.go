package storetest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/traintravel/traintravel"
)

// killEnv holds, in a process that is to be killed, the place of its store.
const killEnv = "TRAINTRAVEL_STORETEST_KILLED"

// killWorkers is how many goroutines write in the process to be killed.
const killWorkers = 8

func workerKeys(worker, n int) (counter, entry traintravel.Key) {
	return key(fmt.Sprintf("counter %d", worker)),
		traintravel.Key{Table: traintravel.TableAgenda, ID: fmt.Sprintf("%d/%08d", worker, n)}
}

// untilKilled writes to the store and says on standard output what Update has
// acknowledged, until the process is killed or its parent is gone.
func untilKilled(t *testing.T, s traintravel.Store) {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // ends with the parent
		os.Exit(1)
	}()
	ctx := context.Background()
	var mu sync.Mutex
	t.Fatal(together(killWorkers, func(worker int) error {
		for {
			var n int
			err := s.Update(ctx, func(tx traintravel.Tx) (err error) {
				counter, _ := workerKeys(worker, 0)
				if n, err = number(ctx, tx, counter); err != nil {
					return err
				}
				n++
				_, entry := workerKeys(worker, n)
				tx.Put(counter, digits(n))
				tx.Put(entry, bytes.Repeat([]byte{'x'}, 300))
				return nil
			})
			if err != nil {
				return err
			}
			mu.Lock()
			fmt.Printf("\nacknowledged %d %d\n", worker, n)
			mu.Unlock()
		}
	}))
}

// killed starts the test in a process of its own, kills that in the middle of
// its updates, and looks for what was acknowledged: all of it must be there,
// and of any other update all or nothing. It does so again on the same store.
func killed(ctx context.Context, test, dir string, open func() Durable) error {
	for range 3 {
		acknowledged, err := killOne(ctx, test, dir)
		if err != nil {
			return err
		}
		err = using(open, func(s traintravel.Store) error {
			return s.View(ctx, func(r traintravel.Reader) error { return survived(ctx, r, acknowledged) })
		})
		if err != nil {
			return doing(err, "after its process was killed")
		}
	}
	return nil
}

// survived looks for what each worker was told.
func survived(ctx context.Context, r traintravel.Reader, acknowledged map[int]int) error {
	var entries []string
	for worker := range killWorkers {
		counter, _ := workerKeys(worker, 0)
		n, err := number(ctx, r, counter)
		if err != nil {
			return err
		}
		if n < acknowledged[worker] {
			return fmt.Errorf("update %d of goroutine %d was acknowledged, and its last one there is %d", acknowledged[worker], worker, n)
		}
		for i := 1; i <= n; i++ {
			_, entry := workerKeys(worker, i)
			entries = append(entries, entry.ID)
		}
	}
	records, err := r.List(ctx, traintravel.Range{Table: traintravel.TableAgenda})
	if err != nil {
		return err
	}
	var got []string
	for _, rec := range records {
		got = append(got, rec.ID)
	}
	return differ("the counters and the entries written with them", entries, got)
}

// killOne returns the last number that each worker was told before the kill.
func killOne(ctx context.Context, test, dir string) (map[int]int, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	pattern := "^" + strings.ReplaceAll(regexp.QuoteMeta(test), "/", "$/^") + "$"
	cmd := exec.CommandContext(ctx, exe, "-test.run="+pattern, "-test.count=1")
	cmd.Env = append(os.Environ(), killEnv+"="+dir)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = cmd.Stdout // the same pipe
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	const enough = 100
	acknowledged, count := make(map[int]int), 0
	var output strings.Builder // whatever else it says
	lines := bufio.NewScanner(stdout)
	for lines.Scan() { // to the end: what it said before the kill counts
		var worker, n int
		if _, err := fmt.Sscanf(lines.Text(), "acknowledged %d %d", &worker, &n); err != nil {
			fmt.Fprintln(&output, lines.Text())
			continue
		}
		acknowledged[worker] = max(acknowledged[worker], n)
		if count++; count == enough {
			if err := cmd.Process.Kill(); err != nil {
				return nil, err
			}
		}
	}
	err = cmd.Wait()
	if count < enough {
		return nil, errors.Join(err, fmt.Errorf("the process to be killed ended by itself:\n%s", output.String()))
	}
	return acknowledged, nil
}
