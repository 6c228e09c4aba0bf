package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The default ports of this project's programs, and those in its documents, differ from each
// other and from those of programs that often run on the same machine.
func TestDefaultPortsDoNotCollide(t *testing.T) {
	t.Parallel()
	used := map[string]string{
		"3000": "Grafana", "5432": "PostgreSQL", "9090": "Prometheus", "9091": "Pushgateway", "9093": "Alertmanager",
		"9100": "node_exporter", "4222": "NATS", "4317": "OTLP", "4318": "OTLP",
	}
	take := func(port, who string) {
		if other, taken := used[port]; taken {
			t.Errorf("%s uses port %s, which is that of %s", who, port, other)
		}
		used[port] = who
	}
	addr := regexp.MustCompile(`"addr", "[^"]*:(\d+)"`)
	files, err := filepath.Glob("../../examples/*/main.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	found := 0
	for _, file := range append(files, "settings.go", "mock.go") {
		for _, match := range addr.FindAllStringSubmatch(string(contents(t, file)), -1) {
			take(match[1], file)
			found++
		}
	}
	if found < 5 { // serve, mock, webapp, webhook-receiver, stripe-gateway
		t.Errorf("%d default addresses found, want 5 or more", found)
	}
	admin := regexp.MustCompile(`(?:admin-addr:?|ADMIN_ADDR[=:])[ ]?(?:127\.0\.0\.1|0\.0\.0\.0):(\d+)`)
	ports := map[string]bool{}
	for _, file := range []string{"../../docs/running.md", "../../docs/operations.md", "../../packaging/deb/traintravel.yaml", "../../deploy/compose/compose.yaml"} {
		match := admin.FindStringSubmatch(string(contents(t, file)))
		if match == nil {
			t.Errorf("%s names no port of --admin-addr", file)
			continue
		}
		ports[match[1]] = true
	}
	if len(ports) != 1 {
		t.Errorf("the documents give --admin-addr the ports %v, want one", ports)
	}
	for port := range ports {
		if scraped := string(contents(t, "../../deploy/prometheus/prometheus.yaml")); !strings.Contains(scraped, "traintravel:"+port) {
			t.Errorf("Prometheus does not scrape port %s", port)
		}
		take(port, "--admin-addr")
	}
	second := regexp.MustCompile(`--addr 127\.0\.0\.1:(\d+)`)
	for file, address := range map[string]*regexp.Regexp{
		"postgres.md": second, "webhooks.md": second, "../README.md": regexp.MustCompile(`ListenAndServe\("127\.0\.0\.1:(\d+)"`),
	} {
		found := address.FindAllStringSubmatch(string(contents(t, "../../docs/"+file)), -1)
		if found == nil {
			t.Errorf("%s names no address", file)
		}
		for _, match := range found {
			take(match[1], file)
		}
	}
}

func contents(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
