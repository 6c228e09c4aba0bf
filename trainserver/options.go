package trainserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/cities"
	"github.com/traintravel/traintravel/httpserver"
	"github.com/traintravel/traintravel/httpserver/authserver"
	"github.com/traintravel/traintravel/internal/agreed"
	"github.com/traintravel/traintravel/internal/keys"
	"github.com/traintravel/traintravel/internal/thishost"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/ticket"
)

// Options configures a [Server]. BaseURL is required.
type Options struct {
	// BaseURL is the URL at which clients reach the server, such as
	// https://shop.example/trains. All links begin with it. Its path is the path below which
	// the server is mounted, whether the host strips it from requests or not (see
	// [httpserver.Server.Below]).
	BaseURL string

	// SiteURL is where a booking site for travellers is, such as examples/webapp. The page at /
	// links to it, for everybody who opens that page. Empty is no link.
	SiteURL string

	// KeysFile is the file of the secrets: the keys that sign tickets and the tokens of the
	// built-in sign-in, the secret of webhooks, and the keys of the store's fingerprints and
	// sealed secrets. New makes it if it does not exist, readable only by its owner. Keep a
	// copy: without it, tickets that were sold cannot be verified, and New refuses the store.
	// If it is empty, the keys end with the process; use that only with a store in memory.
	KeysFile string

	// NewKeys allows the keys to replace other keys that servers of the store had, if those
	// are lost or retired. Without it, New returns ErrOtherKeys.
	NewKeys bool

	// Issuer is the authorization server whose tokens are accepted. Nil means HTTP.Auth or,
	// if that is nil, the built-in sign-in.
	Issuer *Issuer

	// SignIn is the built-in sign-in, which asks for no password and is for trying out. Nil,
	// without Issuer and HTTP.Auth, is the zero SignIn if the host of BaseURL is a loopback
	// address; another BaseURL is refused then.
	SignIn *SignIn

	// Service has the settings of the service. New fills in zero fields: Gateway with the
	// sandbox, which moves no money; Webhooks, with its Sender, SealKey and the Secrets of the
	// operator's endpoints; Cities with those of Europe; CheckName with the check of package
	// ticket; FingerprintKey; Logger.
	Service traintravel.Options

	// HTTP has the settings of the HTTP server. New sets BaseURL, Tickets, TicketKeys, SignIn,
	// Issuer and Now, fills in Auth, Tokens, Try and Logger if they are zero, and adds the
	// link of SiteURL to those that Try returns.
	HTTP httpserver.Options

	// Logger receives messages for the operator. Nil logs nothing.
	Logger *slog.Logger
}

// An Issuer is an authorization server that issues JWT access tokens. URL is required.
type Issuer struct {
	// URL is its identifier: https, or http if its host is loopback.
	URL string

	// Audience is the required audience of tokens. Empty means the base URL.
	Audience string

	// TokenType and ClientClaims are as in [httpserver.VerifierOptions].
	TokenType    string
	ClientClaims []httpserver.Claim

	// Fetched is as in [httpserver.RemoteOptions].
	Fetched func(error)
}

// A SignIn is the built-in authorization server. The zero value lets anybody sign in under any
// name. If the host of Options.BaseURL is a loopback address, it also has the client of
// examples/webapp, whose secret is public.
type SignIn struct {
	// Users are the users that the sign-in page offers. With OnlyUsers nobody else may sign
	// in.
	Users     []authserver.User
	OnlyUsers bool

	// Clients are the programs that may ask for tokens, besides the page /docs.
	Clients []authserver.Client

	// OtherBases are base URLs besides Options.BaseURL at which people open the page /docs,
	// such as http://localhost:8080.
	OtherBases []string

	// TokenCommand prints an access token: the page at / shows it to people on this machine.
	// Empty is none.
	TokenCommand string

	// Links are shown on the page at / to people on this machine.
	Links []httpserver.Link
}

// check completes the options, and refuses invalid ones. Other packages check the options that
// New passes to them.
func (o *Options) check() error {
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if _, err := httpserver.DocsRedirectURI(o.BaseURL); err != nil {
		return invalid("Options.BaseURL", strings.TrimPrefix(err.Error(), "baseURL: "))
	}
	if strings.HasSuffix(o.BaseURL, "/") {
		return invalid("Options.BaseURL", "ends with a slash: remove it")
	}
	if o.SiteURL != "" && !webURL(o.SiteURL) {
		return invalid("Options.SiteURL", fmt.Sprintf("%.200q is not an absolute http or https URL", o.SiteURL))
	}
	if o.SignIn != nil {
		for _, link := range o.SignIn.Links {
			if !webURL(link.URL) {
				return invalid("Options.SignIn.Links", fmt.Sprintf("the URL %.200q is not an absolute http or https URL", link.URL))
			}
		}
	}
	ways := 0
	for _, given := range []bool{o.Issuer != nil, o.SignIn != nil, o.HTTP.Auth != nil} {
		if given {
			ways++
		}
	}
	switch {
	case ways > 1:
		return invalid("Options.Issuer", "set only one of Issuer, SignIn and HTTP.Auth")
	case ways == 0 && !thishost.URL(o.BaseURL):
		return invalid("Options.SignIn", "the built-in sign-in asks for no password, and clients elsewhere can reach "+o.BaseURL+": set Issuer or HTTP.Auth; or set SignIn, if anybody may sign in")
	case ways == 0:
		o.SignIn = &SignIn{}
	}
	return nil
}

// webURL says whether a page can link to a URL.
func webURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

func invalid(field, reason string) error {
	return &traintravel.InvalidError{Field: field, Reason: reason}
}

// ring returns the keys.
func (o *Options) ring() (*keys.Ring, error) {
	if o.KeysFile == "" {
		return keys.New()
	}
	return keys.Create(o.KeysFile)
}

// forget removes the keys file that a failed New has made, unless the store may need its keys.
func (o *Options) forget(ctx context.Context, store traintravel.Store, ring *keys.Ring) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer stop()
	recorded, err := agreed.Read(ctx, store)
	if err != nil || recorded != nil && recorded.Fingerprint == ring.Prints().Fingerprint {
		return nil
	}
	if err := os.Remove(o.KeysFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the keys file made by this start: %w", err)
	}
	return nil
}

// service are the settings of the service, complete.
func (o *Options) service(store traintravel.Store, ring *keys.Ring) (traintravel.Options, error) {
	s := o.Service
	s.Logger = cmp.Or(s.Logger, o.Logger)
	if s.Gateway == nil {
		s.Gateway = sandbox.Open(store)
		o.Logger.Warn("sandbox payments move no money; for trying out only")
	}
	if s.Cities == nil {
		s.Cities = cities.Europe()
	}
	if s.CheckName == nil {
		s.CheckName = ticket.CheckName
	}
	if s.FingerprintKey == nil {
		s.FingerprintKey = ring.Fingerprint()
	}
	hooks := traintravel.WebhookOptions{}
	if s.Webhooks != nil {
		hooks = *s.Webhooks
	}
	if hooks.Sender == nil {
		sender, err := httpserver.NewWebhookSender(httpserver.WebhookSenderOptions{BaseURL: o.BaseURL, Tickets: true})
		if err != nil {
			return s, err
		}
		hooks.Sender = sender
	}
	if hooks.SealKey == nil {
		hooks.SealKey = ring.Seal()
	}
	own := make([]traintravel.OperatorWebhook, len(hooks.Operator))
	for i, hook := range hooks.Operator {
		if own[i] = hook; hook.Secrets == nil {
			own[i].Secrets = []traintravel.Secret{traintravel.Secret(ring.WebhookSecret())}
		}
	}
	hooks.Operator = own
	s.Webhooks = &hooks
	return s, nil
}

// http are the settings of the HTTP server, complete but for what the sign-in adds.
func (o *Options) http(ring *keys.Ring) (h httpserver.Options, err error) {
	h = o.HTTP
	h.BaseURL, h.Now = o.BaseURL, o.Service.Now
	h.Logger = cmp.Or(h.Logger, o.Logger)
	if h.Tickets, err = ticket.NewIssuer(ring.Tickets()[0]); err != nil {
		return h, err
	}
	h.TicketKeys, err = ticket.NewKeys(keys.Public(ring.Tickets())...)
	return h, err
}

// remote completes the settings for the tokens of an authorization server elsewhere.
func (o *Options) remote(h *httpserver.Options) error {
	of := *o.Issuer
	of.Audience = cmp.Or(of.Audience, o.BaseURL)
	source, err := httpserver.RemoteKeys(httpserver.RemoteOptions{Issuer: of.URL, Logger: o.Logger, Fetched: of.Fetched})
	if err != nil {
		return invalid("Options.Issuer", err.Error())
	}
	h.Issuer = of.URL
	h.Tokens = cmp.Or(h.Tokens, "An access token (RFC 9068) of "+of.URL+" for the audience `"+of.Audience+"`.")
	h.Auth, err = httpserver.NewVerifier(httpserver.VerifierOptions{
		Issuer: of.URL, Audience: of.Audience, Keys: source, TokenType: of.TokenType, ClientClaims: of.ClientClaims,
	})
	return err
}
