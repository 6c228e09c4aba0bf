//go:build unix

package pgtest

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// serverUser returns whom servers run as if we are root.
func serverUser() (uid, gid int, ok bool) {
	if os.Geteuid() != 0 {
		return 0, 0, false
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			uid, err1 := strconv.Atoi(u.Uid)
			gid, err2 := strconv.Atoi(u.Gid)
			return uid, gid, err1 == nil && err2 == nil
		}
	}
	return 0, 0, false
}

// unprivileged says how programs are started: not as root, and in a group of
// processes that no terminal and no killer of ours knows.
func unprivileged() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if uid, gid, ok := serverUser(); ok {
		attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	return attr
}

// giveAway makes a folder the servers'.
func giveAway(dir string) error {
	if uid, gid, ok := serverUser(); ok {
		return os.Chown(dir, uid, gid)
	}
	return nil
}

// killTree kills a process and its children, none of which can do anything
// between the first death and the last.
func killTree(p *os.Process) error {
	if err := p.Signal(syscall.SIGSTOP); err != nil { // no more children from here on
		return err
	}
	all := append(children(p.Pid), p.Pid)
	for _, signal := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} {
		for _, pid := range all {
			if err := syscall.Kill(pid, signal); err != nil && err != syscall.ESRCH {
				return fmt.Errorf("pgtest: killing process %d: %w", pid, err)
			}
		}
	}
	for begun := time.Now(); slices.ContainsFunc(all[:len(all)-1], exists); time.Sleep(time.Millisecond) {
		if time.Since(begun) > patience {
			return fmt.Errorf("pgtest: a child of process %d does not die", p.Pid)
		}
	}
	return nil
}

// children lists the children of a process, where there is a /proc. Elsewhere
// they end soon after it.
func children(of int) (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range all {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if f := status(pid); err == nil && len(f) > 1 && f[1] == strconv.Itoa(of) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// exists says whether a process is there and no zombie, as one is whose new
// parent is slow to ask for its end.
func exists(pid int) bool {
	f := status(pid)
	return len(f) > 1 && f[0] != "Z"
}

// status returns what /proc says of a process: its state, its parent, and more.
func status(pid int) []string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
}
