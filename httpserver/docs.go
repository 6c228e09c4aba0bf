package httpserver

import (
	"bytes"
	"compress/gzip"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/swaggest/swgui/v5/static"
)

// docsPolicy lets the page of the description run its own scripts and call its
// own server, and nothing besides.
var docsPolicy = []string{"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"}

// A docsFile is a file of the page.
type docsFile struct {
	contentType []string
	read        func(name string) ([]byte, error)
	zipped      bool // what read returns is compressed with gzip
}

var docsFiles = map[string]docsFile{
	"docs.css":             {css, ownFile, false},
	"docs.js":              {javaScript, ownFile, false},
	"signed-in.html":       {html, ownFile, false},
	"signed-in.js":         {javaScript, ownFile, false},
	"favicon-32x32.png":    {[]string{"image/png"}, static.FS.ReadFile, false},
	"swagger-ui.css":       {css, zippedFile, true},
	"swagger-ui-bundle.js": {javaScript, zippedFile, true},
}

var (
	css        = []string{"text/css; charset=utf-8"}
	javaScript = []string{"text/javascript; charset=utf-8"}
)

func ownFile(name string) ([]byte, error) { return pageFiles.ReadFile("pages/" + name) }

func zippedFile(name string) ([]byte, error) { return static.FS.ReadFile(name + ".gz") }

// DocsRedirectURI is where the page /docs, opened below this base URL, has people
// sent back to once they have signed in, as browsers write it. The authorization
// server has to know it for the client of the page, [authserver.DemoClient].
//
// [authserver.DemoClient]: https://pkg.go.dev/github.com/traintravel/traintravel/httpserver/authserver#DemoClient
func DocsRedirectURI(baseURL string) (string, error) {
	b, err := parseBase(baseURL)
	if err != nil {
		return "", badOption("baseURL", err.Error())
	}
	u, err := url.Parse(b.text)
	if err != nil {
		return "", err
	}
	u.Host, _ = hostInBrowser(u) // a base has a good one
	return u.JoinPath("docs", "signed-in.html").String(), nil
}

// front sends whoever opens the server's own address to the page for people. The
// link is relative, so that it leads there by any name of the server and below any
// path.
func (s *Server) front(x *exchange) error {
	x.set("Location", "docs")
	x.set("Content-Length", "0") // to HEAD too
	return x.empty(http.StatusSeeOther)
}

// docs answers with the page that shows the description to people. Its links
// are relative, so that it works by any name of the server and below any path.
func (s *Server) docs(x *exchange) error {
	name := strings.TrimPrefix(x.params.ByName("file"), "/")
	if name != "" {
		return x.docsFile(name)
	}
	t, err := template.ParseFS(pageFiles, "pages/docs.html")
	if err != nil {
		return err
	}
	below := "./docs/"
	if strings.HasSuffix(x.r.URL.Path, "/") {
		below = "./"
	}
	var b strings.Builder
	if err := t.Execute(&b, below); err != nil {
		return err
	}
	x.policy = docsPolicy
	return send(x, html, b.String())
}

// docsFile answers with a file of the page, compressed if the client can read
// that.
func (x *exchange) docsFile(name string) error {
	f, ok := docsFiles[name]
	if !ok {
		return problemNoPath
	}
	b, err := f.read(name)
	if err != nil {
		return err
	}
	if f.zipped {
		x.w.Header().Add("Vary", "Accept-Encoding")
		if x.unzips() {
			x.set("Content-Encoding", "gzip")
		} else if b, err = unzip(b); err != nil {
			return err
		}
	}
	x.policy = docsPolicy
	return send(x, f.contentType, b)
}

// unzips says whether the client reads what is compressed with gzip.
func (x *exchange) unzips() bool {
	for _, coding := range readAccept(x.r.Header["Accept-Encoding"]) {
		if coding.name == "gzip" {
			return coding.quality > 0
		}
	}
	return false
}

func unzip(b []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
