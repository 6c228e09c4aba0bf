package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/httpserver"
)

// settings are the flags of serve.
type settings struct {
	storage
	addr, baseURL, keys        string
	issuer, audience, kind     string
	accounts                   string
	hold, retain, keepUnpaid   time.Duration
	rateLimit                  int
	maxRequests                int
	declines                   traintravel.DeclineLimits
	holds                      traintravel.HoldLimits
	tlsCert, tlsKey            string
	webhooks, webhookClients   []string
	webhookEvents              []string
	webhooksPerHost            int
	webhookBacklog             int
	clientClaims               []string
	proxies, origins           []string
	webhookPrivate, publicSign bool
	newKeys                    bool
	clock                      string
	anyAmount                  bool
	gateway                    string
	watch                      watching
}

func (s *settings) flags(f *pflag.FlagSet) {
	f.StringVar(&s.addr, "addr", "127.0.0.1:8080", "`address` to listen on")
	s.storage.flags(f)
	keysFlag(f, &s.keys)
	f.BoolVar(&s.newKeys, "new-keys", false, "let the keys replace those that servers of this data had: they are lost, or not to be used any more. Tokens and idempotency keys of before are refused then, and webhooks need new secrets; give it once, to one server")
	f.StringVar(&s.baseURL, "base-url", "", "`URL` that links begin with, whatever a proxy says; a path in it is one that the proxy strips before requests come here (default http://ADDR)")
	f.StringVar(&s.issuer, "issuer", "", "`URL` of the authorization server whose tokens are good (default: a built-in one, for trying out)")
	f.StringVar(&s.audience, "audience", "", "what tokens must be meant for (default: the base URL)")
	f.StringVar(&s.kind, "token-type", "at+jwt", "`typ` of the issuer's access tokens: JWT for Keycloak, for one")
	f.StringVar(&s.accounts, "accounts", "", "`file` of who may sign in at the built-in authorization server, and through which programs, such as examples/accounts.yaml (default: anybody, and a few for demonstration)")
	f.DurationVar(&s.hold, "hold", time.Hour, "how long a booking waits for its payment")
	f.DurationVar(&s.keepUnpaid, "keep-unpaid", 7*24*time.Hour, "how long after the end of its journey a booking that ended unpaid is kept; a journey that is further ahead counts as over 30 days after the hold; 0 is for ever")
	f.DurationVar(&s.retain, "retain", 0, "how long after the end of a journey its passenger is known; then name, user and card are removed from the booking; 0 is for ever")
	f.IntVar(&s.rateLimit, "rate-limit", 600, "requests a minute for each client and user; 0 is no limit")
	f.IntVar(&s.maxRequests, "max-requests", 1024, "requests of one kind that are worked on or wait at a time, and those of one address, beyond which they are refused; 0 is no limit")
	f.IntVar(&s.declines.Booking, "booking-declines", 5, "a booking's hold ends after this many declined payments; 0 means no limit")
	f.IntVar(&s.declines.Card, "card-declines", 20, "declined payments an hour with one card, or from one bank account, after which more are refused with 429; 0 is no limit")
	f.IntVar(&s.declines.User, "user-declines", 50, "the same for each user; a program that pays for many travellers as one user may need more")
	f.IntVar(&s.holds.User, "user-holds", 9, "bookings that a user may hold at a time without having paid for them, beyond which more are refused with 409; 0 means no limit")
	f.IntVar(&s.holds.Train, "train-holds", 9, "how many of them may be for one train on one date; 0 means no limit but --user-holds")
	f.StringSliceVar(&s.holds.Clients, "holds-client", nil, "`ID` of a program that may hold as many as it likes, with a token of its own")
	f.StringVar(&s.tlsCert, "tls-cert", "", "`file` of the certificate, and those that it rests on, in PEM: serve https. It is read again when it changes (default: serve http)")
	f.StringVar(&s.tlsKey, "tls-key", "", "`file` of the certificate's key, in PEM")
	f.StringVar(&s.gateway, "gateway", "", "`URL` of the program that moves the money, with the secret of both in "+gatewaySecret+" (default: none is moved)")
	f.StringSliceVar(&s.webhooks, "webhook", nil, "`URL` of the operator's own that the events of all bookings are posted to, signed with the secret in "+webhookSecret+" (default: the one in the keys file)")
	f.StringSliceVar(&s.webhookEvents, "webhook-event", nil, "`event` to be posted to --webhook, of "+eventNames()+" (default newBooking)")
	f.StringSliceVar(&s.webhookClients, "webhook-client", nil, "`ID` of a program that may subscribe to the events of all bookings made through it, with a token of its own")
	f.IntVar(&s.webhooksPerHost, "webhooks-per-host", 3, "how many webhooks to one host a user may have, through all programs")
	f.IntVar(&s.webhookBacklog, "webhook-backlog", 1000, "how many events may wait for one webhook of a user or program; beyond that the oldest become dead letters")
	f.StringSliceVar(&s.clientClaims, "client-claim", nil, "`NAME=VALUE` of a claim that the --issuer's tokens have if a program acts for itself, and never in a user's token, beside gty=client-credentials and idtyp=app: without one of them, a program is taken for a user")
	f.BoolVar(&s.webhookPrivate, "webhook-allow-private", false, "let subscribers name private addresses (the operator's own --webhook always may)")
	f.StringSliceVar(&s.proxies, "trusted-proxy", nil, "`network` such as 10.0.0.0/8 whose X-Forwarded headers count: -For, and, without --base-url, -Proto, -Host and -Prefix")
	f.StringSliceVar(&s.origins, "cors-origin", nil, "`origin` such as https://shop.example whose pages may call the API, and the built-in sign-in's endpoints for programs, in browsers; * is all")
	f.BoolVar(&s.publicSign, "public-signin", false, "let the built-in sign-in, which asks for no password, serve more than this machine: on an --addr that is not a loopback address, under a --base-url that is none, or behind a --trusted-proxy")
	f.StringVar(&s.clock, "clock", "", "`instant` such as 2024-02-01T08:00:00Z at which the service's clock starts")
	s.watch.flags(f)
	f.BoolVar(&s.anyAmount, "any-amount", false, "accept any positive amount in any currency as payment")
}

// tokens says where they come from.
func (s *settings) tokens() string {
	if s.issuer == "" {
		return "An access token (RFC 9068) that you have already, such as `traintravel token` prints."
	}
	audience := s.audience
	if audience == "" {
		audience = s.baseURL
	}
	return fmt.Sprintf("An access token (RFC 9068) of %s for the audience `%s`.", s.issuer, audience)
}

// check finds all mistakes in the settings that can be found without trying.
func (s *settings) check(f *pflag.FlagSet) error {
	var errs []error
	if err := s.storage.check(f); err != nil {
		errs = append(errs, err)
	}
	if err := checkAddr("--addr", s.addr); err != nil {
		errs = append(errs, err)
	}
	errs = append(errs, s.watch.check(s.addr)...)
	if err := checkBase(s.baseURL); err != nil {
		errs = append(errs, err)
	}
	for _, u := range append([]struct{ flag, value string }{{"--issuer", s.issuer}}, webhookFlags(s.webhooks)...) {
		if u.value == "" {
			continue
		}
		if parsed, err := url.Parse(u.value); err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Host == "" {
			errs = append(errs, usagef("%s: %.200q is no absolute http or https URL", u.flag, withoutSecrets(u.value)))
		}
	}
	for flag, value := range map[string]string{"--issuer": s.issuer, "--audience": s.audience} {
		if u, err := url.Parse(value); err != nil && strings.Contains(value, "//") || err == nil && u.User != nil || (err != nil || u.Host == "") && barePassword(value) {
			errs = append(errs, usagef("%s: %.200q cannot be read, or has a user: whoever uses the API is shown it, and the server needs no password of the authorization server's", flag, withoutSecrets(value)))
		}
	}
	if err := checkKeysFlag(s.keys); err != nil {
		errs = append(errs, err)
	}
	if !s.shared() && s.keys != "" && wherever(s.keys) == wherever(s.data) {
		errs = append(errs, usagef("--keys and --data both name %s: keys have a file of their own", s.keys))
	}
	for _, e := range s.webhookEvents {
		if !slices.Contains(traintravel.EventTypes(), traintravel.EventType(e)) {
			errs = append(errs, usagef("--webhook-event: %.200q is none of %s", withoutSecrets(e), eventNames()))
		}
	}
	if len(s.webhookEvents) > 0 && len(s.webhooks) == 0 {
		errs = append(errs, usagef("--webhook-event needs --webhook, where the events are to go"))
	}
	if _, err := s.claims(); err != nil {
		errs = append(errs, err)
	}
	if s.retain != 0 && s.retain < time.Hour {
		errs = append(errs, usagef("--retain: %v is less than an hour", s.retain))
	}
	if s.keepUnpaid != 0 && s.keepUnpaid < 48*time.Hour {
		errs = append(errs, usagef("--keep-unpaid: %v is less than 48h, in which requests are answered again and payments watched", s.keepUnpaid))
	}
	if s.hold <= 0 {
		errs = append(errs, usagef("--hold: %v is not above zero", s.hold))
	}
	if s.rateLimit < 0 {
		errs = append(errs, usagef("--rate-limit: %d is below zero", s.rateLimit))
	}
	if s.maxRequests < 0 {
		errs = append(errs, usagef("--max-requests: %d is below zero", s.maxRequests))
	}
	for _, d := range []struct {
		flag  string
		value int
	}{{"--booking-declines", s.declines.Booking}, {"--card-declines", s.declines.Card}, {"--user-declines", s.declines.User},
		{"--user-holds", s.holds.User}, {"--train-holds", s.holds.Train}} {
		if d.value < 0 || d.value > 1000 {
			errs = append(errs, usagef("%s: %d is not 0 to 1000", d.flag, d.value))
		}
	}
	if s.webhooksPerHost < 1 {
		errs = append(errs, usagef("--webhooks-per-host: %d is below 1", s.webhooksPerHost))
	}
	if s.webhookBacklog < 1 {
		errs = append(errs, usagef("--webhook-backlog: %d is below 1", s.webhookBacklog))
	}
	if (s.tlsCert == "") != (s.tlsKey == "") {
		errs = append(errs, usagef("--tls-cert and --tls-key belong together: give both or none"))
	}
	if s.issuer != "" && s.audience == "" && s.baseURL == "" {
		errs = append(errs, usagef("--issuer needs --audience, or --base-url, which tokens are meant for"))
	}
	if s.issuer != "" && s.accounts != "" {
		errs = append(errs, usagef("--accounts is for the built-in authorization server: with --issuer there is none"))
	}
	if err := s.checkSignIn(nil); err != nil {
		errs = append(errs, err)
	}
	for _, o := range s.origins {
		if _, err := httpserver.CrossOrigin([]string{o}); err != nil || o != "*" && strings.Contains(o, "*") {
			errs = append(errs, usagef("--cors-origin: %.200q is no origin as browsers send it, such as https://shop.example, nor *", withoutSecrets(o)))
		}
	}
	if _, err := s.networks(); err != nil {
		errs = append(errs, err)
	}
	if _, err := s.start(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// checkBase returns an error unless links can begin with what --base-url says, if anything.
func checkBase(baseURL string) error {
	if baseURL == "" || isBase(baseURL) {
		return nil
	}
	return usagef("--base-url: %.200q is not an http or https URL such as https://trains.example/api, without a query and without a slash at its end", withoutSecrets(baseURL))
}

// isBase says whether links can begin with a text.
func isBase(text string) bool {
	_, err := httpserver.DocsRedirectURI(text) // refuses what is none
	return err == nil && baseForm.MatchString(text)
}

var baseForm = regexp.MustCompile(`^(?i:https?)://[A-Za-z0-9.:\[\]_-]+(/[A-Za-z0-9._~%-]+)*$`)

// checkAddr refuses what is no address to listen on.
func checkAddr(flag, addr string) error {
	_, port, err := net.SplitHostPort(addr)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return usagef("%s: %.200q is not an address such as 127.0.0.1:8080: %v", flag, withoutSecrets(addr), reason(err))
	}
	return nil
}

// reason is what an error of net says beside the address.
func reason(err error) string {
	if e, ok := errors.AsType[*net.AddrError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		return e.Err
	}
	return err.Error()
}

// listen opens what --addr says.
func listen(addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("--addr: %w", err)
	}
	return l, nil
}

// dataFolder makes sure that a data file has somewhere to be.
func dataFolder(data string) error {
	dir := filepath.Dir(data)
	switch info, err := os.Stat(dir); {
	case err != nil:
		return fmt.Errorf("--data: the folder of %s: %w", data, err)
	case !info.IsDir():
		return fmt.Errorf("--data: %s is no folder", dir)
	}
	return nil
}

// flagError makes an option that a package refuses the flag that it is from.
func flagError(err error) error {
	e, ok := errors.AsType[*traintravel.InvalidError](err)
	if !ok {
		return err
	}
	flags := map[string]string{
		"Options.BaseURL": "--base-url", "Options.TrustedProxies": "--trusted-proxy", "Options.CORSOrigins": "--cors-origin",
		"Options.HoldFor": "--hold", "Options.Webhooks.Backlog": "--webhook-backlog", "Options.Webhooks.Operator[0]": webhookSecret, // the URLs have been checked
	}
	if flag := flags[e.Field]; flag != "" {
		return usagef("%s: %s", flag, e.Reason)
	}
	return err
}

func webhookFlags(urls []string) (flags []struct{ flag, value string }) {
	for _, u := range urls {
		if u == "" {
			u = "(empty)"
		}
		flags = append(flags, struct{ flag, value string }{"--webhook", u})
	}
	return flags
}

func (s *settings) networks() (nets []netip.Prefix, err error) {
	for _, text := range s.proxies {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			addr, e := netip.ParseAddr(text)
			if e != nil {
				return nil, usagef("--trusted-proxy: %.200q is no network such as 10.0.0.0/8", withoutSecrets(text))
			}
			p = netip.PrefixFrom(addr, addr.BitLen())
		}
		nets = append(nets, p)
	}
	return nets, nil
}

// claims are those of programs that act for themselves.
func (s *settings) claims() (claims []httpserver.Claim, err error) {
	if len(s.clientClaims) > 0 && s.issuer == "" {
		return nil, usagef("--client-claim needs --issuer: the built-in authorization server names programs so that no user is named alike")
	}
	for _, text := range s.clientClaims {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" || value == "" {
			return nil, usagef("--client-claim: %.200q is not of the form NAME=VALUE", withoutSecrets(text))
		}
		claims = append(claims, httpserver.Claim{Name: name, Value: value})
	}
	return claims, nil
}

// start is when the service's clock starts, if --clock says so. Years that no timetable
// has are refused: there is nothing to sell then.
func (s *settings) start() (time.Time, error) {
	if s.clock == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, s.clock)
	if err != nil {
		return time.Time{}, usagef("--clock: %.200q is no instant of the form 2024-02-01T08:00:00Z", withoutSecrets(s.clock))
	}
	if first, last := traintravel.FirstDate, traintravel.LastDate; t.Before(first.Start(time.UTC)) || !t.Before((last + 1).Start(time.UTC)) {
		return time.Time{}, usagef("--clock: %s is not between %v and %v, the dates that timetables may have", s.clock, first, last)
	}
	return t, nil
}

// declineLimits are the limits as the service takes them.
func (s *settings) declineLimits() traintravel.DeclineLimits {
	return traintravel.DeclineLimits{Booking: limit(s.declines.Booking), Card: limit(s.declines.Card), User: limit(s.declines.User)}
}

// holdLimits are the limits as the service takes them.
func (s *settings) holdLimits() traintravel.HoldLimits {
	return traintravel.HoldLimits{User: limit(s.holds.User), Train: limit(s.holds.Train), Clients: s.holds.Clients}
}

// limit is a limit as httpserver takes it.
func limit(n int) int {
	if n == 0 {
		return -1
	}
	return n
}
