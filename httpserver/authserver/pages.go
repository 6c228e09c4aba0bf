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

// pages are the HTML pages. They have no scripts.
type pages struct {
	path      string // of the issuer
	templates *template.Template
}

func newPages(path string) (*pages, error) {
	t, err := template.New("").Funcs(template.FuncMap{"initial": initial}).ParseFS(files, "pages/*.html")
	return &pages{path: path, templates: t}, err
}

// policy is the Content-Security-Policy of a page whose forms lead, after a redirect, to
// these origins besides this server.
func policy(forms ...string) string {
	return strings.TrimRight("default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self' "+strings.Join(forms, " "), " ")
}

// show answers with a page.
func (p *pages) show(w http.ResponseWriter, status int, name, policy string, data map[string]any) {
	data["Path"] = p.path
	var page bytes.Buffer
	if err := p.templates.ExecuteTemplate(&page, name, data); err != nil {
		http.Error(w, "The server failed to show this page.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", policy)
	w.WriteHeader(status)
	_, _ = w.Write(page.Bytes())
}

// fault responds with a page that shows an error.
func (p *pages) fault(w http.ResponseWriter, status int, text string) {
	p.show(w, status, "fault.html", policy(), map[string]any{"Title": "This request failed", "Text": text})
}

// faultOf responds with a page that shows the error of an application's request, with a link
// that reports the error to the application. It does not redirect there by itself.
func (p *pages) faultOf(w http.ResponseWriter, text, back string) {
	p.show(w, http.StatusBadRequest, "fault.html", policy(), map[string]any{
		"Title": "This request failed", "Text": text,
		"Back": template.URL(back), // the redirect URI was checked: only schemes that cannot run anything here
	})
}

// stale responds to a form that is no longer valid, with a link to the page that it was on.
func (p *pages) stale(w http.ResponseWriter, again string) {
	p.show(w, http.StatusForbidden, "fault.html", policy(), map[string]any{
		"Title": "This page is out of date", "Again": again,
		"Text": "It was open for too long, or you have signed in or out since, perhaps in another window. Nothing was changed.",
	})
}

// sentence turns an error into a sentence.
func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// file serves a file that pages use.
func (p *pages) file(name, contentType string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		content, err := files.ReadFile("pages/" + name)
		if err != nil { // it is embedded
			http.Error(w, "The server failed to show this page.", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Cache-Control", "public, max-age=300")
		_, _ = w.Write(content)
	}
}
