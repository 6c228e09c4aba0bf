package main

import (
	"net"
	"path/filepath"
	"strings"
	"testing"
)

// The built-in sign-in is refused if a setting shows that other machines can reach the server,
// before a file is made, and config reports it too.
func TestPublicSignInIsRefused(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{
		{"--base-url", "https://trains.example"},
		{"--base-url", "http://192.0.2.1:8080/api"},
		{"--base-url", "http://localhost.example"},
		{"--trusted-proxy", "127.0.0.1"},
		{"--trusted-proxy", "10.0.0.0/8", "--base-url", shownBase},
	} {
		for _, command := range []string{"serve", "config"} {
			dir := t.TempDir()
			args := append([]string{command, "--data", filepath.Join(dir, "t.db"), "--addr", "127.0.0.1:0"}, flags...)
			code, stdout, stderr := once(t, nil, args...)
			if code != 2 || stdout != "" || !strings.Contains(stderr, flags[0]+" ") || !strings.Contains(stderr, "--issuer URL") || !strings.Contains(stderr, "--public-signin") {
				t.Errorf("%v: %d, %s%s", args, code, stdout, stderr)
			}
			only(t, dir)
		}
		for _, more := range [][]string{{"--public-signin"}, {"--issuer", "https://id.example", "--audience", "x"}} {
			if code, _, stderr := once(t, nil, append(append([]string{"config"}, flags...), more...)...); code != 0 {
				t.Errorf("%v %v: %d, %s", flags, more, code, stderr)
			}
		}
	}
	// Accounts say who may sign in; they still ask for no password.
	code, _, stderr := once(t, []string{"STATION_BOARD_SECRET=0123456789abcdef", "WEBAPP_CLIENT_SECRET=0123456789abcdef"}, "serve", "--accounts", "../../examples/accounts.yaml", "--base-url", "https://trains.example",
		"--data", filepath.Join(t.TempDir(), "t.db"), "--addr", "127.0.0.1:0")
	if code != 2 || !strings.Contains(stderr, "--public-signin") {
		t.Errorf("accounts: %d, %s", code, stderr)
	}
}

func TestPublic(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]bool{
		"": false, "http://127.0.0.1:8080": false, "https://127.1.2.3/api": false, "http://[::1]:80": false, "http://LocalHost:8080": false, "http://trains.localhost": false,
		"http://10.0.0.1": true, "http://[fe80::1]": true, "http://0.0.0.0:8080": true, "https://127.0.0.1.example": true, "https://notlocalhost": true,
	} {
		s := settings{baseURL: base}
		if got := s.public(&net.TCPAddr{IP: net.IPv6loopback, Port: 1}) != ""; got != want {
			t.Errorf("%q: %v", base, got)
		}
	}
	s := settings{}
	for _, addr := range []net.Addr{&net.TCPAddr{IP: net.IPv4zero}, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)}, &net.UnixAddr{Name: "/x"}} {
		if s.public(addr) == "" {
			t.Errorf("%v is taken for an address of this machine alone", addr)
		}
	}
}
