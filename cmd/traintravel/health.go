package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// A healthCheck asks a server whether it is ready.
type healthCheck struct {
	addr, tlsCert string // of the server, as serve has them
	live          bool   // ask whether the process answers, and no more
	timeout       time.Duration
}

func (p *program) health() *cobra.Command {
	var h healthCheck
	var asJSON bool
	c := &cobra.Command{
		Use:   "health [URL]",
		Short: "Ask a running server whether it is ready",
		Long: `Ask a running server whether it is ready to sell, at URL/readyz, and exit with 0 if
it is and with 1 if it is not. Without URL it asks the server on this machine that
--addr, TRAINTRAVEL_ADDR or the --config file describe. It is for health checks of
containers, which have no shell and no curl. The public listener does not say why a
server is not ready; the operator's (serve --admin-addr) does, if its URL is given.`,
		Example: `  traintravel health
  traintravel health --live https://trains.example`,
		Args: takes("[URL]"),
		RunE: func(c *cobra.Command, a []string) error {
			if h.timeout <= 0 {
				return usagef("invalid --timeout %v: want more than 0s", h.timeout)
			}
			base, own := "", true
			if len(a) > 0 {
				base, own = a[0], false
			}
			target, err := h.target(base)
			if err != nil {
				return err
			}
			if err := h.ask(c.Context(), target, own); err != nil {
				if asJSON {
					err = errors.Join(err, p.printJSON(object{"status": "failed", "error": err.Error()}))
				}
				return err
			}
			state := "ready"
			if h.live {
				state = "alive"
			}
			if asJSON {
				return p.printJSON(object{"status": state})
			}
			_, err = fmt.Fprintln(p.stdout, state)
			return err
		},
	}
	c.Flags().StringVar(&h.addr, "addr", "127.0.0.1:8080", "`address` that the server listens on")
	c.Flags().StringVar(&h.tlsCert, "tls-cert", "", "`file` of the server's certificate: use https; the file is not read (default: use http)")
	jsonFlag(c.Flags(), &asJSON)
	c.Flags().BoolVar(&h.live, "live", false, "ask only whether the process answers, at /healthz")
	c.Flags().DurationVar(&h.timeout, "timeout", 8*time.Second, "`duration` to wait for the answer")
	return c
}

// target is the URL to ask: below base, or of the server on this machine if base is "".
func (h *healthCheck) target(base string) (string, error) {
	if base == "" {
		if err := checkAddr("--addr", h.addr); err != nil {
			return "", err
		}
		host, service, err := net.SplitHostPort(h.addr)
		if err != nil {
			return "", err
		}
		port, err := net.LookupPort("tcp", service) // it may be a name
		if err != nil {
			return "", err
		}
		if port == 0 {
			return "", usagef("invalid --addr %s: want the port of the server, or give its URL, as 'serve' prints it", h.addr)
		}
		if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
			host = "127.0.0.1" // a listener on [::] takes IPv4 too
		}
		scheme := "http"
		if h.tlsCert != "" {
			scheme = "https"
		}
		base = scheme + "://" + net.JoinHostPort(host, strconv.Itoa(port))
	}
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return "", usagef("invalid URL %.200q: want an http or https URL such as https://trains.example", withoutSecrets(base))
	}
	path := "readyz"
	if h.live {
		path = "healthz"
	}
	return u.JoinPath(path).String(), nil
}

// ask returns nil if a server answers 200. A server on this machine has a certificate for
// its public name, not for the address that it is asked at: so it is not verified there,
// and nothing secret is sent.
func (h *healthCheck) ask(ctx context.Context, target string, own bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, h.timeout, fmt.Errorf("no answer within %v", h.timeout))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	t := http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: own}}
	if !own {
		t.Proxy = http.ProxyFromEnvironment
	}
	client := http.Client{Transport: &t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
			err = cause
		} else if inner := (*url.Error)(nil); errors.As(err, &inner) {
			err = inner.Err
		}
		return fmt.Errorf("%s: %w", withoutSecrets(target), err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
	if resp.StatusCode != http.StatusOK {
		reason := strings.ToValidUTF8(string(bytes.TrimSpace(text)), "")
		var problem struct{ Detail string }
		if json.Unmarshal(text, &problem) == nil && problem.Detail != "" {
			reason = problem.Detail
		}
		return fmt.Errorf("%s: %s: %s", withoutSecrets(target), resp.Status, reason)
	}
	return nil
}
