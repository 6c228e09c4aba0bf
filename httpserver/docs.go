package httpserver

import (
	"bytes"
	"html/template"
	"net/url"
	"strings"
	"sync"

	"github.com/swaggest/swgui/v5/static"
)

// docsPolicy lets the page of the description run its own scripts and call its
// own server, and nothing besides.
var docsPolicy = []string{"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"}

// docsTexts are the pages and files of /docs, by name, with those of the page itself
// for the two addresses at which it is. They are unpacked when the first is asked for,
// and then kept for as long as the program runs.
var docsTexts = sync.OnceValues(func() (map[string]*text, error) {
	texts := map[string]*text{}
	page, err := template.ParseFS(pageFiles, "pages/docs.html")
	if err != nil {
		return nil, err
	}
	for _, below := range []string{docsBelow, docsBeside} {
		var b bytes.Buffer
		if err := page.Execute(&b, below); err != nil {
			return nil, err
		}
		texts[below] = textOf(html, docsPolicy, b.Bytes())
	}
	for name, contentType := range map[string][]string{"docs.css": css, "docs.js": javaScript, "signed-in.html": html, "signed-in.js": javaScript} {
		b, err := pageFiles.ReadFile("pages/" + name)
		if err != nil {
			return nil, err
		}
		texts[name] = textOf(contentType, docsPolicy, b)
	}
	icon, err := static.FS.ReadFile("favicon-32x32.png")
	if err != nil {
		return nil, err
	}
	texts["favicon-32x32.png"] = textOf([]string{"image/png"}, docsPolicy, icon)
	for name, contentType := range map[string][]string{"swagger-ui.css": css, "swagger-ui-bundle.js": javaScript} {
		zipped, err := static.FS.ReadFile(name + ".gz")
		if err != nil {
			return nil, err
		}
		plain, err := unzip(zipped)
		if err != nil {
			return nil, err
		}
		t := textOf(contentType, docsPolicy, plain)
		t.zipped = contentOf(zipped)
		texts[name] = t
	}
	return texts, nil
})

// What the links of the page begin with: its address is that of a folder or beside one.
// No file has such a name.
const docsBelow, docsBeside = "./", "./docs/"

var (
	css        = []string{"text/css; charset=utf-8"}
	javaScript = []string{"text/javascript; charset=utf-8"}
)

// DocsRedirectURI returns the redirect URI of the page /docs below this base URL, as
// browsers write it, to which users return after they have signed in. Register it at the
// authorization server for the page's client, [authserver.DemoClient].
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

// docs answers with the page that shows the description to people, or with a file of
// it. Its links are relative, so that it works by any name of the server and below any
// path.
func (s *Server) docs(x *exchange) error {
	texts, err := docsTexts()
	if err != nil {
		return err
	}
	name := strings.TrimPrefix(x.params.ByName("file"), "/")
	switch {
	case name == "" && strings.HasSuffix(x.r.URL.Path, "/"):
		name = docsBelow
	case name == "":
		name = docsBeside
	case strings.HasPrefix(name, "."):
		return problemNoPath
	}
	t := texts[name]
	if t == nil {
		return problemNoPath
	}
	return x.sendText(t)
}
