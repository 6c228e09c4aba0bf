package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // the packager
)

// debian makes a Debian package of a program, as packaging/deb/nfpm.yaml says.
func (r *build) debian(b built) error {
	r.say("%s/%s: Debian package", b.goos, b.goarch)
	values := map[string]string{
		"VERSION": r.version, "ARCH": b.goarch, "BUILT": filepath.Dir(b.program), "SHARED": r.tmp,
	}
	config, err := nfpm.ParseFileWithEnvMapping("packaging/deb/nfpm.yaml", func(name string) string { return values[name] })
	if err != nil {
		return fmt.Errorf("packaging/deb/nfpm.yaml: %w", err)
	}
	info, err := config.Get("deb")
	if err != nil {
		return fmt.Errorf("packaging/deb/nfpm.yaml: %w", err)
	}
	info = nfpm.WithDefaults(info)
	info.MTime = r.time
	packager, err := nfpm.Get("deb")
	if err != nil {
		return err
	}
	return r.archive(packager.ConventionalFileName(info), func(w io.Writer) error { return packager.Package(info, w) })
}
