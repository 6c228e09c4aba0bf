package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/store/boltstore"
)

// An unreadable booking stops no command about others. Each command reports what it has left
// out, and exits with code 1 if its work is incomplete.
func TestCommandsWithUnreadableBooking(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "trains.db")
	r := start(t, "serve", "--data", data)
	token := func(user string) string {
		_, token, _ := once(t, nil, "token", "--user", user, "--data", data)
		return strings.TrimSpace(token)
	}
	anna, berta := token("anna"), token("berta")
	day := time.Now().AddDate(0, 0, 2).Format(time.DateOnly)
	mine, theirs := r.book(anna, day, ""), r.book(berta, day, "")
	train, _ := r.train(anna, day)
	r.stop()
	store, err := boltstore.Open(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	id := uuid.MustParse(theirs)
	if err := store.Update(t.Context(), func(tx traintravel.Tx) error {
		tx.Put(traintravel.Key{Table: traintravel.TableBookings, ID: string(id[:])}, []byte{250, 1, 2})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	r = start(t, "serve", "--data", data)
	berta = token("berta")
	r.call(berta, "GET", "/bookings/"+theirs, "", 503) // a newer server has written it
	if l := r.call(berta, "GET", "/bookings", "", 200)["data"].([]any); len(l) != 0 {
		t.Errorf("%v", l)
	}
	for _, c := range []struct {
		args string
		code int
		says []string
	}{
		{"booking doe", 0, []string{mine, "1 record could not be read and may match", "check"}},
		{"booking " + theirs, 1, []string{"newer version"}},
		{"manifest|" + train + "|" + day, 0, []string{mine, "John Doe", theirs, "(booking unreadable)", "confirmed"}},
		{"manifest|" + train + "|" + day + "|--json", 0, []string{`"unreadable": true`, `"unreadable": 1`}},
		{"subject export anna", 1, []string{mine, "John Doe", `"unreadable": 1`, "are not in the export"}},
		{"subject erase carl", 1, []string{"0 bookings erased,", "1 record could not be read", "erase the user again"}},
		{"cancel-run|" + train + "|" + day, 0, []string{"2 bookings would be cancelled", "could not be read"}},
		{"cancel-run|" + train + "|" + day + "|--yes", 1, []string{"1 booking cancelled", "not cancelled, if it is of this train: " + theirs, "cancel the train again"}},
		{"check", 1, []string{"newer-version", strings.ReplaceAll(theirs, "-", "")}},
	} {
		args := strings.Split(c.args, "|")
		if len(args) == 1 {
			args = strings.Fields(c.args)
		}
		code, out, errs := once(t, nil, append(args, "--data", data)...)
		if code != c.code {
			t.Errorf("%v ends with %d", args, code)
		}
		for _, s := range c.says {
			if !strings.Contains(out+errs, s) {
				t.Errorf("%v does not say %q:\n%s%s", args, s, out, errs)
			}
		}
	}
	r.stop()
}
