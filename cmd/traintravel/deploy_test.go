package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// deployed reads a file below deploy.
func deployed(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "deploy", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A dashboard is what Grafana shows, as far as tests look at it.
type dashboard struct {
	UID    string
	Panels []panel
	Annotations,
	Templating struct {
		List []struct{ Name, Expr, Definition string }
	}
}

type panel struct {
	ID                       int
	Type, Title, Description string
	GridPos                  struct{ X, Y, W, H int }
	Targets                  []struct{ RefID, Expr string }
}

func readDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	if err := json.Unmarshal([]byte(deployed(t, "grafana/traintravel.json")), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// dashboardQueries are the queries of the dashboard as Grafana sends them, for all servers.
func dashboardQueries(t *testing.T) (list []string) {
	t.Helper()
	set := strings.NewReplacer("$instance", ".+", "$__rate_interval", "1m")
	d := readDashboard(t)
	for _, a := range d.Annotations.List {
		list = append(list, set.Replace(a.Expr))
	}
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			list = append(list, set.Replace(target.Expr))
		}
	}
	if len(list) < 30 {
		t.Fatalf("the dashboard has %d queries", len(list))
	}
	for _, q := range list {
		if strings.Contains(q, "$") {
			t.Errorf("%s has a variable that the dashboard does not have", q)
		}
	}
	return list
}

// Each panel has a description, and none covers another.
func TestDashboard(t *testing.T) {
	t.Parallel()
	d := readDashboard(t)
	ids, cells := map[int]bool{}, map[[2]int]string{}
	for _, p := range d.Panels {
		if ids[p.ID] || p.Title == "" || p.Type != "row" && (p.Description == "" || len(p.Targets) == 0) {
			t.Errorf("panel %d: its number is taken, or it lacks a title, a description or a query: %+v", p.ID, p)
		}
		ids[p.ID] = true
		if p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("%s is wider than the dashboard", p.Title)
		}
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				cell := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				if other := cells[cell]; other != "" {
					t.Fatalf("%s covers %s", p.Title, other)
				}
				cells[cell] = p.Title
			}
		}
	}
	for _, v := range []string{"datasource", "instance"} {
		if !slices.ContainsFunc(d.Templating.List, func(l struct{ Name, Expr, Definition string }) bool { return l.Name == v }) {
			t.Errorf("it has no variable %s", v)
		}
	}
}

// A composed is a service of the compose file.
type composed struct {
	Image       string
	Environment map[string]string
	Ports       []string
	Volumes     []string
	ReadOnly    bool `yaml:"read_only"`
	Healthcheck struct{ Test []string }
	DependsOn   map[string]any `yaml:"depends_on"`
}

// The compose file names settings and files that are there, opens no port to other
// machines, and asks for every password.
func TestCompose(t *testing.T) {
	t.Parallel()
	text := deployed(t, "compose/compose.yaml")
	var file struct {
		Services map[string]composed
		Volumes  map[string]any
	}
	if err := yaml.Unmarshal([]byte(text), &file); err != nil {
		t.Fatal(err)
	}
	for name, s := range file.Services {
		for _, port := range s.Ports {
			if !strings.HasPrefix(port, "127.0.0.1:") {
				t.Errorf("%s opens %s to other machines", name, port)
			}
		}
		for _, v := range s.Volumes {
			from, _, _ := strings.Cut(v, ":")
			_, named := file.Volumes[from]
			if _, err := os.Stat(filepath.Join("..", "..", "deploy", "compose", from)); err != nil && !named {
				t.Errorf("%s mounts %s: %v", name, v, err)
			}
		}
		for other := range s.DependsOn {
			if _, ok := file.Services[other]; !ok {
				t.Errorf("%s depends on %s, which is not in the file", name, other)
			}
		}
	}

	example := deployed(t, "compose/.env.example")
	values := map[string]string{}
	for _, v := range regexp.MustCompile(`\$\{(\w+)(:[?-])([^}]*)\}`).FindAllStringSubmatch(text, -1) {
		values[v[0]] = v[3]
		if v[2] == ":?" {
			values[v[0]] = "secret"
		}
		if commented := strings.Contains(text, "#"+v[1]+": "); v[2] == ":?" && !commented && !strings.Contains(example, "\n"+v[1]+"=\n") {
			t.Errorf(".env.example does not name %s", v[1])
		}
	}
	server := file.Services["traintravel"]
	environ := []string{"TRAINTRAVEL_ADDR=:8080"} // as the image has it
	for name, value := range server.Environment {
		if set, ok := values[value]; ok {
			value = set
		}
		environ = append(environ, name+"="+value)
	}
	code, out, errs := config(t, environ)
	if code != 0 || !strings.Contains(out, "postgres: postgres://") {
		t.Errorf("serve would not start: %d, %s%s", code, out, errs)
	}
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, "TRAINTRAVEL_") && !strings.Contains(out, "# "+name+"\n") {
			t.Errorf("%s sets nothing:\n%s", name, out)
		}
	}
	if !server.ReadOnly || strings.Join(server.Healthcheck.Test, " ") != "CMD /usr/bin/traintravel health" {
		t.Errorf("%+v", server)
	}

	// Who scrapes whom, and who shows it, is where the others look for it.
	_, port, _ := strings.Cut(server.Environment["TRAINTRAVEL_ADMIN_ADDR"], ":")
	for in, want := range map[string]string{
		"prometheus/prometheus.yaml":                       `"traintravel:` + port + `"`,
		"grafana/provisioning/datasources/prometheus.yaml": "url: http://prometheus:9090\n",
		"grafana/provisioning/dashboards/traintravel.yaml": "path: /var/lib/grafana/dashboards\n",
	} {
		if !strings.Contains(deployed(t, in), want) {
			t.Errorf("%s lacks %s", in, want)
		}
	}
	if !slices.Contains(file.Services["grafana"].Volumes, "../grafana/traintravel.json:/var/lib/grafana/dashboards/traintravel.json:ro") {
		t.Error("the dashboard is not where Grafana looks for it")
	}
}
