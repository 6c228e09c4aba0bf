package main

import (
	"bytes"
	"crypto/cipher"
	"embed"
	"html/template"
	"log/slog"
	"net/http"
	"time"
)

// options are what differs between one such site and another.
type options struct {
	API         string           // URL of the Train Travel API
	ClientID    string           // at the authorization server
	Secret      string           // of that client
	URL         string           // of this site
	VisitorRate int              // requests to the API a minute for each visitor who is not signed in; 0 is visitorRate
	Proxies     string           // networks whose X-Forwarded-For is trusted, separated by commas
	Log         *slog.Logger     // nil is silent
	Now         func() time.Time // nil is time.Now
}

// A site answers all requests.
type site struct {
	options  options
	log      *slog.Logger
	now      func() time.Time
	host     string
	root     string // path of this site at the host, without a slash at its end
	secure   bool   // https
	cookie   string // what the names of cookies begin with
	client   *http.Client
	provider *provider
	stations *atlas
	visitors *visitors
	anybody  reader // who has not signed in
	days     *shelf[cheapest]
	sessions *shelf[*session]
	orders   *shelf[[]string] // IDs of bookings, by the form that made them
	paid     *shelf[link]     // bookings, by the session that paid them and their IDs
	signIns  cipher.AEAD      // seals those that have begun
	ended    *shelf[struct{}] // sign-ins, by verifier
	pages    *template.Template
	handler  http.Handler
}

// A cheapest is what is known of a day: the least price, or that there are no trips. It is
// the zero value if nothing is known.
type cheapest struct {
	Price *price
	None  bool
}

// maxForm limits a form, in bytes. Nine names of 200 characters, of 12 bytes each in a form,
// have 21600.
const maxForm = 32 << 10

// policy lets a page have what is from here, and no scripts or styles within itself.
// A form may lead to where people sign in, if the API refuses their token.
func (s *site) policy() string {
	forms := "'self'"
	if m := s.provider.known(); m != nil {
		forms += " " + m.origin()
	}
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
		"base-uri 'none'; frame-ancestors 'none'; form-action " + forms
}

// readerOf is how to ask the API for a page: in the name of who is signed in, so that each
// user has their own quota, or in that of the site.
func (s *site) readerOf(user *session) reader {
	if user == nil {
		return s.anybody
	}
	return user.reader
}

// A page is what templates show.
type page struct {
	Title    string
	About    string // for search engines and previews; empty is of the whole site
	SignedIn bool
	CSRF     string
	Notice   string
	Body     any
}

//go:embed templates
var templates embed.FS

// parsePages reads the pages of a site below a path, with which all their links begin.
func parsePages(root string) (*template.Template, error) {
	return template.New("").Funcs(template.FuncMap{
		"root":  func() string { return root },
		"asset": func(name string) string { return root + assets.path(name) }, "clock": clock, "day": day, "duration": duration, "iso": iso, "money": money, "later": later, "longTime": longTime, "longDay": longDay, "shortDay": shortDay,
	}).ParseFS(templates, "templates/*.html")
}

// show answers with a page. It is made whole first, so that none ends in the middle.
func (s *site) show(w http.ResponseWriter, status int, name string, user *session, p page) error {
	if user != nil {
		p.SignedIn, p.CSRF, p.Notice = true, user.csrf, user.told()
	}
	var b bytes.Buffer
	if err := s.pages.ExecuteTemplate(&b, name+".html", p); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
	return nil
}
