package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// apiVersion is the version of the documented interface.
const apiVersion = "1.0.0"

func (p *program) version() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  takes(),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return p.printJSON(struct {
					Version string `json:"version"`
					API     string `json:"api"`
					Go      string `json:"go"`
					OS      string `json:"os"`
					Arch    string `json:"arch"`
				}{ownVersion(), apiVersion, runtime.Version(), runtime.GOOS, runtime.GOARCH})
			}
			_, err := fmt.Fprintln(p.stdout, versionLine())
			return err
		},
	}
	jsonFlag(c.Flags(), &asJSON)
	return c
}

// versionLine is what 'version' and --version print.
func versionLine() string {
	return fmt.Sprintf("traintravel %s, Train Travel API %s, %s %s/%s", ownVersion(), apiVersion, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// release is the version that packaging/release builds, which the linker sets.
var release string

// ownVersion is the version that this program was built from.
func ownVersion() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
