package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Shells complete values of flags and arguments: those of a list, names of files where a file
// is wanted, and else nothing.
func TestCompletion(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "t.db")
	start(t, "serve", "--data", data).stop()
	_, listed, _ := once(t, nil, "token-keys", "--data", data)
	key, _, _ := strings.Cut(listed, " ")
	const files, none, endings = ":0", ":4", ":8"
	for line, want := range map[string][]string{
		"serve --log-level ":                     {"debug", "info", "warn", "error", none},
		"serve --log-level=":                     {"debug", "info", "warn", "error", none},
		"serve --webhook-event new":              {"newBooking", "bookingConfirmed", "bookingCancelled", "bookingExpired", "paymentFailed", none}, // the shell compares
		"serve --hold ":                          {none},
		"serve --issuer ":                        {none},
		"serve --tls-cert ":                      {files},
		"serve --config ":                        {"yaml", "yml", endings},
		"serve ":                                 {none},
		"payment settle x --as ":                 {"succeeded", "failed", "made-elsewhere", "impossible", none},
		"payment se":                             {"settle", none},
		"import ":                                {"zip", endings},
		"backup ":                                {files},
		"verify-ticket ":                         {files},
		"manifest ":                              {":36"},
		"token --scope ":                         {"read", "write", "read write", none},
		"token-keys remove --data " + data + " ": {key, none},
		"completion ":                            {"bash", "fish", "powershell", "zsh", none},
		"help pay":                               {"payment", none},
	} {
		words := strings.Split(line, " ")
		code, stdout, stderr := once(t, nil, append([]string{"__complete"}, words...)...)
		var got []string
		for l := range strings.Lines(stdout) {
			value, _, _ := strings.Cut(strings.TrimSpace(l), "\t")
			got = append(got, value)
		}
		if code != 0 || !slices.Equal(got, want) {
			t.Errorf("%q: %d, %q, want %q; %s", line, code, got, want, stderr)
		}
	}
	today := time.Now()
	_, dates, _ := once(t, nil, "__complete", "manifest", "ICE 1", "")
	if got := strings.Fields(dates); len(got) != 15 || got[0] != today.Format(time.DateOnly) && got[0] != time.Now().Format(time.DateOnly) {
		t.Errorf("dates are %v", got)
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if code, script, stderr := once(t, []string{"TRAINTRAVEL_CONFIG=/nowhere"}, "completion", shell); code != 0 || len(script) < 1000 || stderr != "" {
			t.Errorf("%s: %d, %d bytes, %s", shell, code, len(script), stderr)
		}
	}
}
