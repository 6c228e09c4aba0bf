package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// Every command that prints a result has --json. Servers have --log-format, and help and
// completion print texts.
func TestEveryCommandHasJSON(t *testing.T) {
	t.Parallel()
	without := map[string]bool{"serve": true, "mock": true, "help": true, "completion": true, "payment": true, "subject": true}
	var below func(path ...string)
	below = func(path ...string) {
		code, help, stderr := once(t, nil, append(path, "--help")...)
		if code != 0 {
			t.Fatalf("%v --help: %d, %s", path, code, stderr)
		}
		if len(path) > 0 && !without[path[len(path)-1]] && !strings.Contains(help, "--json") {
			t.Errorf("traintravel %s has no --json", strings.Join(path, " "))
		}
		_, list, _ := strings.Cut(help, "Available Commands:\n")
		list, _, _ = strings.Cut(list, "\n\n")
		for line := range strings.Lines(list) {
			if name := strings.Fields(line)[0]; name != "help" && name != "completion" {
				below(append(path[:len(path):len(path)], name)...)
			}
		}
	}
	below()
}

// With --json, a command prints one JSON object and nothing else, with a server and without.
func TestJSONOfCommands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, backup := filepath.Join(dir, "t.db"), filepath.Join(dir, "backup.db")
	r := start(t, "serve", "--data", data, "--webhook", "http://127.0.0.1:1/")
	token := issue(t, "anna", data)
	id := r.book(token, soon(), "")
	run := func(want int, args ...string) object {
		t.Helper()
		code, stdout, stderr := once(t, nil, append(args, "--json")...)
		var o object
		if err := json.Unmarshal([]byte(stdout), &o); code != want || err != nil || strings.Contains(stderr, "warning") {
			t.Fatalf("%v: %d, want %d, %v: %s%s", args, code, want, err, stdout, stderr)
		}
		return o
	}
	has := func(o object, names ...string) object {
		t.Helper()
		for _, name := range names {
			if _, ok := o[name]; !ok {
				t.Errorf("there is no %s in %v", name, o)
			}
		}
		return o
	}
	has(run(0, "version"), "version", "api", "go")
	has(run(0, "token", "--user", "anna", "--data", data), "access_token", "token_type", "expires_in")
	has(run(0, "health", r.base), "status")
	has(run(0, "config", "--data", data), "settings", "secrets_set")
	for _, served := range []bool{true, false} {
		if !served {
			r.stop()
		}
		found := has(run(0, "booking", id, "--data", data), "bookings", "more", "unreadable")["bookings"].([]any)
		booking := has(found[0].(object), "id", "user_id", "issuer", "legs", "payments", "confirmed_at")
		leg := booking["legs"].([]any)[0].(object)
		train := leg["train"].(string)
		day := leg["departure_time"].(string)[:10]
		place := leg["coach"].(string) + ":1"
		if m := has(run(0, "manifest", train, day, "--data", data), "train", "riders", "sections"); len(m["riders"].([]any)) != 1 {
			t.Errorf("the manifest is %v", m)
		}
		if b := run(0, "block", train, day, leg["coach"].(string)+":40", "--data", data); b["blocked"] != true || len(b["places"].([]any)) != 1 {
			t.Errorf("%s: %v", place, b)
		}
		if b := run(0, "block", train, day, leg["coach"].(string)+":40", "--undo", "--data", data); b["blocked"] != false {
			t.Errorf("%s: %v", place, b)
		}
		if c := run(0, "cancel-run", train, day, "--data", data); c["bookings_to_cancel"] != 1. || c["cancelled"] != false {
			t.Errorf("cancel-run: %v", c)
		}
		hooks := has(run(0, "webhooks", "--data", data), "webhooks", "disabled")["webhooks"].([]any)
		events := has(hooks[0].(object), "url", "removed", "undelivered")["undelivered"].([]any)
		event := has(events[0].(object), "id", "type", "status", "attempts")["id"].(string)
		if retried := run(0, "webhooks", "retry", event, "--data", data)["retried"].([]any); len(retried) != 1 || retried[0] != event {
			t.Errorf("retried are %v", retried)
		}
		has(run(0, "webhooks", "retry", "--all", "--data", data), "webhooks")
		has(run(0, "payment", "stuck", "--data", data), "payments", "unreadable")
		has(run(0, "subject", "export", "anna", "--data", data), "bookings", "webhooks")
		has(run(0, "check", "--data", data), "records", "faults")
		has(run(0, "backup", backup, "--force", "--data", data), "file", "bytes", "keys_file")
		if rep := has(run(0, "import", writeFeed(t, "1"), "--dry-run", "--force", "--data", data), "changes", "feeds", "trains"); rep["trains"] != 1. || rep["dry_run"] != true {
			t.Errorf("import: %v", rep)
		}
		has(run(0, "ticket-keys", "--data", data), "keys")
	}
	keys := run(0, "token-keys", "rotate", "--data", data)["keys"].([]any)
	if first := has(keys[0].(object), "id", "signs"); len(keys) != 2 || first["signs"] != true {
		t.Errorf("keys are %v", keys)
	}
	has(keys[1].(object), "verifies_until")
	if o := has(run(0, "restore", backup, "--data", filepath.Join(dir, "other.db")), "restored", "bookings", "warning"); o["bookings"] != 1. || !strings.Contains(o["warning"].(string), "Keys file") {
		t.Errorf("restore: %v", o)
	}
	has(run(0, "compact", "--data", data), "file", "bytes_before", "bytes_after")
	booking := run(0, "booking", id, "--data", data)["bookings"].([]any)[0].(object)
	leg := booking["legs"].([]any)[0].(object)
	train, day := leg["train"].(string), leg["departure_time"].(string)[:10]
	if c := run(0, "cancel-run", train, day, "--yes", "--data", data); c["bookings_cancelled"] != 1. || len(c["refunds"].([]any)) != 1 || c["cancelled"] != true {
		t.Errorf("cancel-run: %v", c)
	}
	if c := run(0, "cancel-run", train, day, "--undo", "--data", data); c["cancelled"] != false {
		t.Errorf("cancel-run: %v", c)
	}
	refund := ""
	for _, p := range run(0, "booking", id, "--data", data)["bookings"].([]any)[0].(object)["payments"].([]any) {
		if _, is := p.(object)["refund_of"]; is {
			refund = p.(object)["id"].(string)
		}
	}
	if s := run(0, "payment", "settle", refund, "--as", "made-elsewhere", "--reason", "in cash", "--by", "carla", "--data", data); s["booking_status"] != "cancelled" {
		t.Errorf("settle: %v", s)
	}
	has(run(0, "subject", "erase", "anna", "--data", data), "bookings_erased", "bookings_kept", "webhooks_ended")
}

// A failed command prints its message instead of JSON, and its exit code shows the failure.
func TestJSONOfFailures(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "none.db")
	for _, args := range [][]string{{"booking", "anna"}, {"check"}, {"payment", "stuck"}, {"backup", data + "2"}} {
		if code, stdout, stderr := once(t, nil, append(args, "--json", "--data", data)...); code != 1 || stdout != "" || !strings.Contains(stderr, "none.db not found") {
			t.Errorf("%v: %d, %s%s", args, code, stdout, stderr)
		}
	}
}
