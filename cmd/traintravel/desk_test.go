package main

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// train is the train of the first trip of a day, and that trip.
func (r *running) train(token, day string) (train, trip string) {
	r.t.Helper()
	trips := r.call(token, "GET", "/trips?direct=true&origin="+berlin+"&destination="+paris+"&date="+day, "", 200)["data"].([]any)
	first := trips[0].(map[string]any)
	return first["legs"].([]any)[0].(map[string]any)["train"].(string), first["id"].(string)
}

// The commands of station staff work with and without a running server.
func TestDesk(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "trains.db")
	r := start(t, "serve", "--data", data)
	_, token, _ := once(t, nil, "token", "--user", "anna", "--data", data)
	token = strings.TrimSpace(token)
	day := time.Now().AddDate(0, 0, 2).Format(time.DateOnly)
	id := r.book(token, day, "")
	train, trip := r.train(token, day)

	desk := func(wantCode int, args ...string) string {
		t.Helper()
		code, out, errs := once(t, nil, append(args, "--data", data)...)
		if code != wantCode || wantCode != 0 && errs == "" {
			t.Fatalf("%v: %d, %s%s", args, code, out, errs)
		}
		return out + errs
	}
	has := func(text string, parts ...string) {
		t.Helper()
		for _, p := range parts {
			if !strings.Contains(text, p) {
				t.Errorf("%q is not in\n%s", p, text)
			}
		}
	}
	for _, while := range []string{"served", "stopped"} {
		shown := desk(0, "manifest", train, day)
		has(shown, train, "John Doe", "confirmed", id, "Berlin Hauptbahnhof", "free")
		var m struct {
			Riders []struct {
				ID    string `json:"booking_id"`
				Coach string
				Seat  int
			}
			Sections []struct{ Confirmed, Free, Blocked int }
		}
		if err := json.Unmarshal([]byte(desk(0, "manifest", train, day, "--json")), &m); err != nil || len(m.Riders) != 1 || m.Riders[0].ID != id {
			t.Fatal(err, m)
		}
		coach := m.Riders[0].Coach
		free := m.Sections[0].Free
		has(desk(1, "block", train, day, coach+":*"), "the place is taken")
		has(desk(0, "block", train, day, coach+":30", "--to", "Paris Gare du Nord"), ": 1 place is blocked")
		if err := json.Unmarshal([]byte(desk(0, "manifest", train, day, "--json")), &m); err != nil || m.Sections[0].Free != free-1 {
			t.Error(err, m.Sections)
		}
		has(desk(0, "block", train, day, coach+":30", "--undo"), "unblocked")
		has(desk(1, "block", train, day, coach+":30", "--undo"), "a block of coach "+coach+", seat 30: not found", "'manifest' lists")
		has(desk(1, "cancel-run", train, day, "--undo"), "is not cancelled")
		has(desk(2, "block", train, day, coach), "invalid place ")
		has(desk(1, "block", train, day, "none:1"), "has no seat")
		has(desk(2, "block", train, day, "none:*"), "has no coach")
		has(desk(2, "block", train, day, coach+":1", "--from", "Atlantis"), "the train calls at", "Berlin Hauptbahnhof")
		has(desk(0, "booking", "john"), id, "John Doe", train, "payment of", "succeeded", "confirmed")
		has(desk(0, "booking", id), "John Doe")
		has(desk(1, "booking", "Nobody Else"), "no booking found")
		has(desk(2, "booking", "john", "--limit", "0"), "want 1 or more")
		has(desk(1, "manifest", "X 1", day), "no train")
		has(desk(2, "manifest", train, "tomorrow"), "invalid DATE \"tomorrow\"")
		has(desk(2, "manifest", train, day, "--departs", "at eight"), "invalid --departs \"at eight\": want a time")
		has(desk(0, "cancel-run", train, day), ": 1 booking would be cancelled", "--yes")
		r.stop()
		if while == "served" {
			continue
		}
		shown = desk(0, "cancel-run", train, day, "--yes")
		has(shown, "CANCELLED", ": 1 booking cancelled", "refunds of")
		if !regexp.MustCompile(`refunds of \d+\.\d\d eur`).MatchString(shown) {
			t.Error(shown)
		}
	}
	r = start(t, "serve", "--data", data)
	_, token, _ = once(t, nil, "token", "--user", "anna", "--data", data)
	token = strings.TrimSpace(token)
	cancelled := r.call(token, "GET", "/bookings/"+id, "", 200)
	if over, _ := cancelled["over"].(map[string]any); over["cancelled_by"] != "operator" || over["train"] != train {
		t.Errorf("the booking is %v", cancelled)
	}
	ref, _ := cancelled["reference"].(string)
	has(desk(0, "booking", strings.ToLower(ref)), id, "reference "+ref)
	r.call(token, "GET", "/trips/"+trip, "", 404)
	r.call(token, "POST", "/bookings", `{"trip_id": "`+trip+`", "passenger_name": "John Doe"}`, 404)
	has(desk(0, "cancel-run", train, day, "--yes"), "0 bookings cancelled, no refund")
	has(desk(0, "cancel-run", train, day, "--undo"), "on sale again")
	r.call(token, "POST", "/bookings", `{"trip_id": "`+trip+`", "passenger_name": "John Doe"}`, 201)
	has(desk(0, "booking", "john doe"), "refund of -", "cancelled with its train by the operator", "confirmed", "held until")
	past := time.Now().AddDate(0, 0, -9).Format(time.DateOnly)
	has(desk(1, "block", train, past, "1:1"), "has arrived at its last stop")
	has(desk(1, "cancel-run", train, past), "has arrived at its last stop", "give --past")
	has(desk(1, "cancel-run", train, past, "--yes"), "give --past")
	has(desk(0, "cancel-run", train, past, "--past"), "0 bookings would be cancelled")
	has(desk(0, "cancel-run", train, past, "--past", "--yes"), "CANCELLED", "0 bookings cancelled")
	has(desk(0, "cancel-run", train, past, "--yes"), "0 bookings cancelled")
}
