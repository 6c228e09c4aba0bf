// Command webapp is a small booking site: it finds trips, signs people in when they book,
// takes payments and shows tickets. It gets all its data from the Train Travel API over HTTP,
// with the token of the user who is signed in, or with its own token to search for people who
// are not. It needs a server:
//
//	go run ./cmd/traintravel serve
//	go run ./examples/webapp
//
// At an authorization server of your own it needs a client with a secret, for both grants,
// authorization_code and client_credentials; WEBAPP_CLIENT_SECRET has the secret.
//
// The files: api.go has the requests to the API, signin.go and discovery.go the authorization
// code flow with PKCE, own.go the site's own token, visitors.go the limit for each visitor of
// requests with that token, session.go the sessions of users, and routes.go the addresses of
// all pages. The pages, in the order in which users see them: the search (search.go,
// stations.go), the results (results.go) with their calendar (days.go), one trip or an outward
// and a return trip (trip.go), which are booked together (book.go), paid together (pay.go,
// card.go, paid.go) and have one receipt (receipt.go), and the bookings with their tickets
// (booking.go), including past ones. The search, and the bookings that are paid together, are
// in the addresses. The site keeps only the sessions and, for a while, what users booked and
// paid.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Getenv("WEBAPP_CLIENT_SECRET"), os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "webapp:", err)
		os.Exit(1)
	}
}

// The client that every traintravel server without accounts of its own accepts. Its secret is
// in the source code: use it only to try the site.
const (
	demoClient = "webapp"
	demoSecret = "overland-example-only"
)

// run serves the site until the context ends. The secret is that of its client, empty for
// the demo client's.
func run(ctx context.Context, args []string, secret string, out, log io.Writer) error {
	flags := flag.NewFlagSet("webapp", flag.ContinueOnError)
	flags.SetOutput(log)
	addr := flags.String("addr", "127.0.0.1:8090", "`address` to listen on")
	var o options
	flags.StringVar(&o.API, "api", "http://127.0.0.1:8080", "`URL` of the Train Travel API")
	flags.StringVar(&o.ClientID, "client-id", demoClient, "`ID` of this site at the authorization server; WEBAPP_CLIENT_SECRET has its secret")
	flags.StringVar(&o.URL, "base-url", "", "`URL` that people reach this site by, with the path below which a proxy has it, if any (default http://ADDRESS, and 127.0.0.1 if that is all addresses)")
	flags.IntVar(&o.VisitorRate, "visitor-rate", visitorRate, "most `requests` a minute to the API for each address of visitors who are not signed in")
	flags.StringVar(&o.Proxies, "trusted-proxy", "", "`networks` of proxies, such as 10.0.0.0/8, whose X-Forwarded-For has the address of a visitor; separated by commas")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unknown argument %q", flags.Arg(0))
	}
	if o.VisitorRate < 1 {
		return fmt.Errorf("invalid --visitor-rate %d: want 1 or more", o.VisitorRate)
	}
	switch {
	case secret != "":
		o.Secret = secret
	case o.ClientID == demoClient:
		o.Secret = demoSecret
	default:
		return fmt.Errorf("the client %q needs a secret: set WEBAPP_CLIENT_SECRET", o.ClientID)
	}
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		return err
	}
	defer listener.Close()
	if o.URL == "" {
		o.URL = "http://" + hereOf(listener.Addr())
	}
	if here, err := url.Parse(o.URL); secret == "" && err == nil && (here.Scheme != "http" || here.Hostname() != "127.0.0.1" || strings.Trim(here.Path, "/") != "") {
		return fmt.Errorf("sign-in would fail at %s: the demo client may use only http://127.0.0.1, at any port and without a path; for another base URL set WEBAPP_CLIENT_SECRET, and give the client the redirect URI %[1]s/callback", o.URL)
	}
	o.Log = slog.New(slog.NewTextHandler(log, nil))
	site, err := newSite(o)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler: site, MaxHeaderBytes: 32 << 10,
		ReadTimeout: 10 * time.Second, WriteTimeout: 60 * time.Second, IdleTimeout: 2 * time.Minute,
		ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelWarn),
	}
	fmt.Fprintf(out, "The booking site is at %s and asks %s.\n", o.URL, o.API)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		return server.Shutdown(drain)
	}
}

// hereOf is how a browser on this machine reaches an address that is listened on.
func hereOf(a net.Addr) string {
	if tcp, ok := a.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return fmt.Sprintf("127.0.0.1:%d", tcp.Port)
	}
	return a.String()
}
