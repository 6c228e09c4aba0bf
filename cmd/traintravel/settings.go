package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
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
	siteURL                    string
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
	demo                       bool
	gateway                    string
	watch                      watching
}

func (s *settings) flags(f *pflag.FlagSet) {
	f.StringVar(&s.addr, "addr", "127.0.0.1:8080", "`address` to listen on")
	s.storage.flags(f)
	keysFlag(f, &s.keys)
	f.BoolVar(&s.newKeys, "new-keys", false, "accept keys other than those that servers of this data used before, because those are lost or retired. Earlier tokens and idempotency keys are then refused, and webhooks need new secrets. Give it once, to one server")
	f.StringVar(&s.baseURL, "base-url", "", "`URL` that links begin with, whatever a proxy says; the proxy strips its path, if it has one, from requests (default http://ADDR)")
	f.StringVar(&s.siteURL, "site-url", "", "`URL` of a booking site for travellers, such as examples/webapp, to which the page / links (default: http://127.0.0.1:8090 for people on this machine, no link for others)")
	f.StringVar(&s.issuer, "issuer", "", "`URL` of the authorization server whose tokens are accepted (default: a built-in one, for trying out)")
	f.StringVar(&s.audience, "audience", "", "`audience` that tokens must have (default: the base URL)")
	f.StringVar(&s.kind, "token-type", "at+jwt", "`typ` header of the issuer's access tokens; Keycloak's is JWT")
	f.StringVar(&s.accounts, "accounts", "", "`file` of the users and clients of the built-in authorization server, such as examples/accounts.yaml (default: anybody may sign in, through a few demo clients)")
	exclude(f, "issuer", "accounts")
	f.DurationVar(&s.hold, "hold", time.Hour, "`duration` for which a booking holds its places without payment")
	f.DurationVar(&s.keepUnpaid, "keep-unpaid", 7*24*time.Hour, "`duration` for which a booking that ended unpaid is kept after its journey, or after 30 days from its hold if the journey is later; 0 means for ever")
	f.DurationVar(&s.retain, "retain", 0, "`duration` after a journey, at the end of which the passenger's name, user and card are removed from the booking; 0 means never")
	f.IntVar(&s.rateLimit, "rate-limit", 600, "`number` of requests a minute for each client and user; 0 means no limit")
	f.IntVar(&s.maxRequests, "max-requests", 1024, "`number` of requests of one kind, and of one address, that may be in progress or waiting; more are refused; 0 means no limit")
	f.IntVar(&s.declines.Booking, "booking-declines", 5, "`number` of declined payments after which a booking's hold ends; 0 means no limit")
	f.IntVar(&s.declines.Card, "card-declines", 20, "`number` of declined payments an hour with one card or bank account, after which more are refused with 429; 0 means no limit")
	f.IntVar(&s.declines.User, "user-declines", 50, "`number` of declined payments an hour of one user, as for --card-declines; a program that pays for many travellers as one user may need more")
	f.IntVar(&s.holds.User, "user-holds", 9, "`number` of unpaid bookings that a user may hold at a time; more are refused with 409; 0 means no limit")
	f.IntVar(&s.holds.Train, "train-holds", 9, "`number` of unpaid bookings that a user may hold for one train on one date; 0 means no limit but --user-holds")
	f.StringSliceVar(&s.holds.Clients, "holds-client", nil, "`ID` of a client to which --user-holds and --train-holds do not apply when it acts for itself, with a token of its own")
	f.StringVar(&s.tlsCert, "tls-cert", "", "`file` of the TLS certificate and its chain, in PEM, to serve https; it is reloaded when it changes (default: serve http)")
	f.StringVar(&s.tlsKey, "tls-key", "", "`file` of the private key of --tls-cert, in PEM")
	f.StringVar(&s.gateway, "gateway", "", "`URL` of the payment gateway, which has the same secret as "+gatewaySecret+" here (default: a sandbox that moves no money)")
	f.StringSliceVar(&s.webhooks, "webhook", nil, "`URL` of the operator's own webhook, to which the events of all bookings are posted, signed with the secret in "+webhookSecret+" (default: the one in the keys file)")
	f.StringSliceVar(&s.webhookEvents, "webhook-event", nil, "`event` that is posted to --webhook: "+eventNames()+" (default newBooking)")
	f.StringSliceVar(&s.webhookClients, "webhook-client", nil, "`ID` of a client that may subscribe, with a token of its own, to the events of all bookings made through it")
	f.IntVar(&s.webhooksPerHost, "webhooks-per-host", 3, "`number` of webhooks to one host that a user may have, through all clients")
	f.IntVar(&s.webhookBacklog, "webhook-backlog", 1000, "`number` of events that may wait for one webhook of a user or client; beyond it the oldest become dead letters")
	f.StringSliceVar(&s.clientClaims, "client-claim", nil, "`NAME=VALUE` of a claim that only tokens of clients that act for themselves have, beside gty=client-credentials and idtyp=app; a client whose token has none of them is treated as a user")
	f.BoolVar(&s.webhookPrivate, "webhook-allow-private", false, "let users and clients subscribe with private addresses (--webhook may always have one)")
	f.StringSliceVar(&s.proxies, "trusted-proxy", nil, "`network` such as 10.0.0.0/8 whose X-Forwarded-For is trusted and, without --base-url, X-Forwarded-Proto, -Host and -Prefix")
	f.StringSliceVar(&s.origins, "cors-origin", nil, "`origin` such as https://shop.example whose pages may call the API and the built-in token endpoints from a browser; * means all")
	f.BoolVar(&s.publicSign, "public-signin", false, "let other machines use the built-in sign-in, which asks for no password: with an --addr or a --base-url that is not a loopback address, or behind a --trusted-proxy")
	f.StringVar(&s.clock, "clock", "", "`time` such as 2024-02-01T08:00:00Z at which the clock of the service starts (default: the real time)")
	s.watch.flags(f)
	f.BoolVar(&s.demo, "demo", true, "load the demo network if the data has no timetable yet; --demo=false starts without one, until one is imported, and is the default with --gateway")
	f.BoolVar(&s.anyAmount, "any-amount", false, "accept a payment of any positive amount in any currency")
}

// tokens says where they come from.
func (s *settings) tokens() string {
	if s.issuer == "" {
		return "An access token (RFC 9068), such as one that `traintravel token` prints."
	}
	audience := s.audience
	if audience == "" {
		audience = s.baseURL
	}
	return fmt.Sprintf("An access token (RFC 9068) of %s for the audience `%s`.", s.issuer, audience)
}

// check finds all mistakes in the settings that can be found without trying, and completes
// the defaults that depend on other settings.
func (s *settings) check(f *pflag.FlagSet) error {
	var errs []error
	if s.gateway != "" && !f.Changed("demo") { // nobody should pay real money for invented trains
		s.demo = false
	}
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
	if s.siteURL != "" && !isBase(strings.TrimSuffix(s.siteURL, "/")) {
		errs = append(errs, usagef("invalid --site-url %.200q: want an http or https URL such as https://trains.example/shop, without a query", withoutSecrets(s.siteURL)))
	}
	for _, u := range append([]struct{ flag, value string }{{"--issuer", s.issuer}}, webhookFlags(s.webhooks)...) {
		if u.value == "" {
			continue
		}
		if parsed, err := url.Parse(u.value); err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Host == "" {
			errs = append(errs, usagef("invalid %s %.200q: want an absolute http or https URL", u.flag, withoutSecrets(u.value)))
		}
	}
	for flag, value := range map[string]string{"--issuer": s.issuer, "--audience": s.audience} {
		if u, err := url.Parse(value); err != nil && strings.Contains(value, "//") || err == nil && u.User != nil || (err != nil || u.Host == "") && barePassword(value) {
			errs = append(errs, usagef("invalid %s %.200q: want a URL without a user and a password, because everyone who uses the API sees it", flag, withoutSecrets(value)))
		}
	}
	if err := s.checkIssuer(); err != nil {
		errs = append(errs, err)
	}
	if err := checkKeysFlag(s.keys); err != nil {
		errs = append(errs, err)
	}
	if !s.shared() && s.keys != "" && wherever(s.keys) == wherever(s.data) {
		errs = append(errs, usagef("--keys and --data both name %s: give --keys another file", s.keys))
	}
	for _, e := range s.webhookEvents {
		if !slices.Contains(traintravel.EventTypes(), traintravel.EventType(e)) {
			errs = append(errs, invalidChoice("--webhook-event", withoutSecrets(e), flagValues()["webhook-event"]))
		}
	}
	if len(s.webhookEvents) > 0 && len(s.webhooks) == 0 {
		errs = append(errs, usagef("--webhook-event needs --webhook: give the URL to which the events are posted"))
	}
	if _, err := s.claims(); err != nil {
		errs = append(errs, err)
	}
	if s.retain != 0 && s.retain < time.Hour {
		errs = append(errs, usagef("invalid --retain %v: want 0 or at least 1h", s.retain))
	}
	if s.keepUnpaid != 0 && s.keepUnpaid < 48*time.Hour {
		errs = append(errs, usagef("invalid --keep-unpaid %v: want 0 or at least 48h, because idempotency keys and pending payments need the booking that long", s.keepUnpaid))
	}
	if s.hold <= 0 {
		errs = append(errs, usagef("invalid --hold %v: want more than 0s", s.hold))
	}
	if s.rateLimit < 0 {
		errs = append(errs, usagef("invalid --rate-limit %d: want 0 or more", s.rateLimit))
	}
	if s.maxRequests < 0 {
		errs = append(errs, usagef("invalid --max-requests %d: want 0 or more", s.maxRequests))
	}
	for _, d := range []struct {
		flag  string
		value int
	}{{"--booking-declines", s.declines.Booking}, {"--card-declines", s.declines.Card}, {"--user-declines", s.declines.User},
		{"--user-holds", s.holds.User}, {"--train-holds", s.holds.Train}} {
		if d.value < 0 || d.value > 1000 {
			errs = append(errs, usagef("invalid %s %d: want 0 to 1000", d.flag, d.value))
		}
	}
	if s.webhooksPerHost < 1 {
		errs = append(errs, usagef("invalid --webhooks-per-host %d: want 1 or more", s.webhooksPerHost))
	}
	if s.webhookBacklog < 1 || s.webhookBacklog > traintravel.LongestBacklog {
		errs = append(errs, usagef("invalid --webhook-backlog %d: want 1 to %d", s.webhookBacklog, traintravel.LongestBacklog))
	}
	if (s.tlsCert == "") != (s.tlsKey == "") {
		errs = append(errs, usagef("%s is missing: give both --tls-cert and --tls-key, or neither", cmp.Or(missingOf(s.tlsCert, "--tls-cert"), "--tls-key")))
	}
	if s.issuer != "" && s.audience == "" && s.baseURL == "" {
		errs = append(errs, usagef("--issuer needs --audience or --base-url: give the audience of its tokens"))
	}
	if s.issuer != "" && s.accounts != "" {
		errs = append(errs, usagef("--accounts and --issuer exclude each other: --accounts is for the built-in authorization server"))
	}
	if err := s.checkSignIn(nil); err != nil {
		errs = append(errs, err)
	}
	for _, o := range s.origins {
		if _, err := httpserver.CrossOrigin([]string{o}); err != nil || o != "*" && strings.Contains(o, "*") {
			errs = append(errs, usagef("invalid --cors-origin %.200q: want * or an origin such as https://shop.example", withoutSecrets(o)))
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

// checkIssuer returns an error unless the URL of the issuer, if it is one, can be asked for keys.
func (s *settings) checkIssuer() error {
	u, err := url.Parse(s.issuer)
	if err != nil || u.User != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" { // which is named already, or not set
		return nil
	}
	if _, err := httpserver.RemoteKeys(httpserver.RemoteOptions{Issuer: s.issuer}); err != nil {
		return usagef("invalid --issuer %.200q: %w", withoutSecrets(s.issuer), err)
	}
	return nil
}

// checkBase returns an error unless links can begin with what --base-url says, if anything.
func checkBase(baseURL string) error {
	if baseURL == "" || isBase(baseURL) {
		return nil
	}
	return usagef("invalid --base-url %.200q: want an http or https URL such as https://trains.example/api, without a query and without a slash at its end", withoutSecrets(baseURL))
}

// isBase says whether links can begin with a text.
func isBase(text string) bool {
	_, err := httpserver.DocsRedirectURI(text) // fails for an invalid one
	return err == nil && baseForm.MatchString(text)
}

var baseForm = regexp.MustCompile(`^(?i:https?)://[A-Za-z0-9.:\[\]_-]+(/[A-Za-z0-9._~%-]+)*$`)

// missingOf is the name of a flag that has no value.
func missingOf(value, flag string) string {
	if value == "" {
		return flag
	}
	return ""
}

// flagError names the flag that an invalid option of a package came from.
func flagError(err error) error {
	e, ok := errors.AsType[*traintravel.InvalidError](err)
	if !ok {
		return err
	}
	flags := map[string]string{
		"Options.BaseURL": "--base-url", "Options.TrustedProxies": "--trusted-proxy", "Options.CORSOrigins": "--cors-origin",
		"Options.HoldFor": "--hold", "Options.Webhooks.Backlog": "--webhook-backlog",
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
				return nil, usagef("invalid --trusted-proxy %.200q: want a network such as 10.0.0.0/8", withoutSecrets(text))
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
		return nil, usagef("--client-claim needs --issuer: the built-in authorization server marks the tokens of clients itself")
	}
	for _, text := range s.clientClaims {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" || value == "" {
			return nil, usagef("invalid --client-claim %.200q: want NAME=VALUE", withoutSecrets(text))
		}
		claims = append(claims, httpserver.Claim{Name: name, Value: value})
	}
	return claims, nil
}

// start is when the service's clock starts, if --clock says so. Years that no timetable
// may have are refused, because nothing could be sold.
func (s *settings) start() (time.Time, error) {
	if s.clock == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, s.clock)
	if err != nil {
		return time.Time{}, usagef("invalid --clock %.200q: want a time such as 2024-02-01T08:00:00Z", withoutSecrets(s.clock))
	}
	if first, last := traintravel.FirstDate, traintravel.LastDate; t.Before(first.Start(time.UTC)) || !t.Before((last + 1).Start(time.UTC)) {
		return time.Time{}, usagef("invalid --clock %s: want a time from %v to %v, which timetables may have", s.clock, first, last)
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

// webhookSecret is the environment variable that has the secret of the operator's own
// webhooks.
const webhookSecret = "TRAINTRAVEL_WEBHOOK_SECRET"

// eventNames are all types of events.
func eventNames() string {
	var names []string
	for _, e := range traintravel.EventTypes() {
		names = append(names, string(e))
	}
	return strings.Join(names, ", ")
}

// gatewaySecret is the environment variable with the secret that this server shares with the
// program at --gateway. A flag would show it to all users of the machine.
const gatewaySecret = "TRAINTRAVEL_GATEWAY_SECRET"
