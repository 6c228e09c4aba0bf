package httpserver

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"html/template"
	"net/http"
	"strings"
	"sync"

	"github.com/traintravel/traintravel"
)

// frontPage is what the page at the server's own address shows.
type frontPage struct {
	Try
	Base        string
	Style       template.CSS
	Tokens      string // where tokens come from
	SignIn      bool
	Issuer      string
	Timetable   bool // is loaded
	Samples     bool // the stations of the samples are in it
	Origin      string
	Destination string
	Day         string // on which there are trips between them
}

// frontTemplate is the page, with its style and the policy that allows it alone.
var frontTemplate = sync.OnceValues(func() (f struct {
	*template.Template
	style  template.CSS
	policy []string
}, err error) {
	if f.Template, err = template.ParseFS(pageFiles, "pages/front.html"); err != nil {
		return f, err
	}
	style, err := pageFiles.ReadFile("pages/front.css")
	f.style, f.policy = template.CSS(style), styledPolicy(style)
	return f, err
})

// styledPolicy is that of a page in which a style stands, and nothing else that has to be allowed.
func styledPolicy(style []byte) []string {
	sum := sha256.Sum256(style)
	return []string{"default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"}
}

// front answers whoever opens the server's own address: people with a page that says what runs
// here, and how to try it, programs by sending them to the description.
func (s *Server) front(x *exchange) error {
	if !readAccept(x.r.Header["Accept"]).names("text/html") {
		// The link is relative, so that it leads there by any name of the server and below
		// any path.
		x.set("Location", "docs")
		x.set("Content-Length", "0") // to HEAD too
		return x.empty(http.StatusSeeOther)
	}
	f, err := frontTemplate()
	if err != nil {
		return err
	}
	page := frontPage{
		Base: x.base, Style: f.style, Tokens: plainTokens(s.openAPI.tokens), SignIn: s.openAPI.signIn, Issuer: s.issuer,
		Origin: exampleOrigin.String(), Destination: exampleDestination.String(), Day: exampleDay(s.now()).String(),
	}
	if s.try != nil {
		page.Try = s.try(x.r)
	}
	// The page is there even if the store cannot be read now.
	_, err = s.zone(x.ctx(), "origin", exampleOrigin)
	page.Samples, page.Timetable = err == nil, !errors.Is(err, traintravel.ErrNoTimetable)
	var b bytes.Buffer
	if err := f.Execute(&b, page); err != nil {
		return err
	}
	x.policy = f.policy
	x.out = append(x.out[:0], b.Bytes()...)
	x.write(http.StatusOK, html, s.fixed.noStore) // there may be a token in it
	return nil
}

// plainTokens is what Options.Tokens says, without marks of code.
func plainTokens(tokens string) string { return strings.ReplaceAll(tokens, "`", "") }
