package main

import (
	"path/filepath"
	"strings"
)

// feedName tells feeds that are imported together apart.
func feedName(path string) string {
	return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
}
