package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/traintravel/traintravel/internal/need"
)

// A sampleProxy is one of the samples below deploy, with addresses of this test in it.
type sampleProxy struct {
	t            *testing.T
	dir          string
	plain, https string // where it listens
	upstream     *httptest.Server
}

// newSampleProxy starts what stands for a server: it answers with the headers that it was
// sent.
func newSampleProxy(t *testing.T) *sampleProxy {
	t.Helper()
	p := &sampleProxy{t: t, dir: t.TempDir(), plain: unused(t), https: unused(t)}
	p.upstream = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		fmt.Fprintf(w, "%s %s %d\n%s\nX-Forwarded-For: %s\n%s\n%s", r.Method, r.URL, n, r.Host, r.Header["X-Forwarded-For"], r.Header["X-Forwarded-Proto"], r.Header["Authorization"])
	}))
	t.Cleanup(p.upstream.Close)
	cert, key := newCertificate(t, "trains.example")
	replace(t, filepath.Join(p.dir, "cert.pem"), cert)
	replace(t, filepath.Join(p.dir, "key.pem"), key)
	return p
}

// file writes a sample, with what differs here. Each text must be in the sample.
func (p *sampleProxy) file(sample, name string, texts ...string) string {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "deploy", filepath.FromSlash(sample)))
	if err != nil {
		p.t.Fatal(err)
	}
	for i := 0; i < len(texts); i += 2 {
		if !strings.Contains(string(text), texts[i]) {
			p.t.Fatalf("%s lacks %q", sample, texts[i])
		}
	}
	path := filepath.Join(p.dir, name)
	replace(p.t, path, []byte(strings.NewReplacer(texts...).Replace(string(text))))
	return path
}

// check runs a proxy's own check of its settings.
func (p *sampleProxy) check(program string, args ...string) {
	p.t.Helper()
	c := p.command(program, args...)
	if out, err := c.CombinedOutput(); err != nil {
		p.t.Fatalf("%s %v: %v\n%s", program, args, err, out)
	}
}

// command is one of the proxy's, which writes nothing outside of the test's folder.
func (p *sampleProxy) command(program string, args ...string) *exec.Cmd {
	c := exec.CommandContext(p.t.Context(), program, args...)
	c.Dir, c.Env = p.dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir}
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	return c
}

// run starts a proxy and asks it until it answers, as clients would, one of which says
// that its request is for another.
func (p *sampleProxy) run(program string, args ...string) {
	p.t.Helper()
	var log output
	c := p.command(program, args...)
	c.Stdout, c.Stderr = &log, &log
	if err := c.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = c.Wait() }) // after t.Context has ended
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		to := p.https
		if strings.HasSuffix(addr, ":80") {
			to = p.plain
		}
		return (&net.Dialer{}).DialContext(ctx, network, to)
	}
	transport := &http.Transport{DialContext: dial, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	client := http.Client{Transport: transport, Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	ask := func(method, url, body string) (*http.Response, string, error) {
		req, err := http.NewRequestWithContext(p.t.Context(), method, url, strings.NewReader(body))
		if err != nil {
			p.t.Fatal(err)
		}
		req.Header.Set("X-Forwarded-For", "203.0.113.7")
		req.Header.Set("Authorization", "Bearer x")
		resp, err := client.Do(req)
		if err != nil {
			return nil, "", err
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		return resp, string(text), err
	}
	resp, text, err := ask("GET", "https://trains.example/trips?limit=1", "")
	for end := time.Now().Add(time.Minute); err != nil && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		resp, text, err = ask("GET", "https://trains.example/trips?limit=1", "")
	}
	if err != nil {
		p.t.Fatalf("%v\n%s", err, &log)
	}
	if want := "GET /trips?limit=1 0\ntrains.example\nX-Forwarded-For: [127.0.0.1]\n[https]\n[Bearer x]"; resp.StatusCode != 200 || text != want || resp.ProtoMajor != 2 {
		p.t.Errorf("the server is sent %s\nwant %s\n%s %s", text, want, resp.Proto, resp.Status)
	}
	// What is too large is the server's to refuse: its answer says why.
	if resp, text, err = ask("POST", "https://trains.example/bookings", strings.Repeat("x", 80<<10)); err != nil || !strings.HasPrefix(text, "POST /bookings 81920\n") {
		p.t.Errorf("a body of 80 KiB: %v, %v %s", err, resp, text)
	}
	if resp, _, err = ask("POST", "http://trains.example/bookings", ""); err != nil || resp.StatusCode != 308 || resp.Header.Get("Location") != "https://trains.example/bookings" {
		p.t.Errorf("over http: %v, %v", resp, err)
	}
}

// nginx accepts the sample, and the server does not get the addresses that clients claim.
func TestNginxSample(t *testing.T) {
	t.Parallel()
	nginx := need.Program(t, "nginx-light", "nginx", "/usr/sbin/nginx")
	p := newSampleProxy(t)
	sample := p.file("nginx/traintravel.conf", "sample.conf",
		"127.0.0.1:8080;", p.upstream.Listener.Addr().String()+";",
		"listen 80;", "listen "+p.plain+";", "listen [::]:80;", "",
		"listen 443 ssl http2;", "listen "+p.https+" ssl http2;", "listen [::]:443 ssl http2;", "",
		"/etc/letsencrypt/live/trains.example/fullchain.pem", p.dir+"/cert.pem",
		"/etc/letsencrypt/live/trains.example/privkey.pem", p.dir+"/key.pem")
	main := filepath.Join(p.dir, "nginx.conf")
	replace(t, main, fmt.Appendf(nil, "daemon off;\nmaster_process off;\npid %s/pid;\nevents {}\nhttp {\naccess_log off;\nclient_body_temp_path %[1]s/body;\nproxy_temp_path %[1]s/proxy;\nfastcgi_temp_path %[1]s/f;\nuwsgi_temp_path %[1]s/u;\nscgi_temp_path %[1]s/s;\ninclude %s;\n}\n", p.dir, sample))
	args := []string{"-p", p.dir, "-c", main, "-e", "stderr"}
	p.check(nginx, append(args, "-t")...)
	p.run(nginx, args...)
}

// Caddy accepts the sample too.
func TestCaddySample(t *testing.T) {
	t.Parallel()
	caddy := need.Program(t, "caddy", "caddy")
	p := newSampleProxy(t)
	_, plain, _ := net.SplitHostPort(p.plain)
	_, https, _ := net.SplitHostPort(p.https)
	p.check(caddy, "validate", "--adapter", "caddyfile", "--config", p.file("caddy/Caddyfile", "Caddyfile"))
	sample := p.file("caddy/Caddyfile", "here",
		"127.0.0.1:8080", p.upstream.Listener.Addr().String(),
		"trains.example {", fmt.Sprintf("{\n\tadmin off\n\tdefault_bind 127.0.0.1\n\thttp_port %s\n\thttps_port %s\n}\n\ntrains.example {\n\ttls %s/cert.pem %[3]s/key.pem", plain, https, p.dir))
	p.run(caddy, "run", "--adapter", "caddyfile", "--config", sample)
}
