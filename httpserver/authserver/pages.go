package authserver

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"strings"
)

//go:embed pages
var files embed.FS

// pages are what people see. They have no scripts.
type pages struct {
	path      string // of the issuer
	templates *template.Template
	css       []byte
}

func newPages(path string) (*pages, error) {
	t, err := template.ParseFS(files, "pages/*.html")
	if err != nil {
		return nil, err
	}
	css, err := files.ReadFile("pages/style.css")
	return &pages{path: path, templates: t, css: css}, err
}

// policy is the Content-Security-Policy of a page whose forms lead, after a
// redirect, to these places besides this server.
func policy(forms ...string) string {
	return strings.TrimRight("default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self' "+strings.Join(forms, " "), " ")
}

// show answers with a page.
func (p *pages) show(w http.ResponseWriter, status int, name, policy string, data map[string]any) {
	data["Path"] = p.path
	var page bytes.Buffer
	if err := p.templates.ExecuteTemplate(&page, name, data); err != nil {
		http.Error(w, "This went wrong here.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", policy)
	w.WriteHeader(status)
	_, _ = w.Write(page.Bytes())
}

// fault answers with a page that says what is wrong and, if the application can
// be told, has a link that tells it. Nobody is sent there unasked.
func (p *pages) fault(w http.ResponseWriter, status int, text, back string) {
	// The redirect URI was checked: only schemes that cannot run anything here.
	p.show(w, status, "fault.html", policy(), map[string]any{"Text": text, "Back": template.URL(back)})
}

func (p *pages) style(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	w.Header().Set("Cache-Control", "public, max-age=300")
	_, _ = w.Write(p.css)
}
