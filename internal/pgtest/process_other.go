//go:build !unix

package pgtest

import (
	"errors"
	"os"
	"syscall"
)

// Servers of tests are for unix systems. Elsewhere the package builds, so that
// tests that use it do.

func unprivileged() *syscall.SysProcAttr { return nil }

func giveAway(string) error { return errors.New("pgtest: no servers are started on this system") }

func killTree(p *os.Process) error { return p.Kill() }
