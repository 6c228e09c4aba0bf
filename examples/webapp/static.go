package main

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"strings"
	"time"
)

//go:embed static
var staticFiles embed.FS

// assets are the files that pages are made with. Their addresses carry a hash of all of
// them, so browsers may keep them for good, and they may refer to each other.
var assets = readAssets()

type assetFiles struct {
	hash  string
	files map[string][]byte // by name
}

func readAssets() *assetFiles {
	a, h := &assetFiles{files: map[string][]byte{}}, sha256.New()
	entries, _ := staticFiles.ReadDir("static") // in order; what is embedded can be read
	for _, e := range entries {
		b, _ := staticFiles.ReadFile("static/" + e.Name())
		a.files[e.Name()] = b
		_, _ = h.Write(b)
	}
	a.hash = hex.EncodeToString(h.Sum(nil)[:8])
	return a
}

func (a *assetFiles) path(name string) string { return "/static/" + a.hash + "/" + name }

func (a *assetFiles) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, ours := strings.CutPrefix(r.URL.Path, a.path(""))
	b, ok := a.files[name]
	if !ours || !ok {
		http.Error(w, "There is no such file.", http.StatusNotFound)
		return
	}
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Set("ETag", `"`+a.hash+`"`)
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(b))
}
