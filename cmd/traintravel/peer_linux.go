package main

import (
	"net"
	"syscall"
)

// peerOf returns who is at the other end of a unix socket: when it connected, or when it
// began to listen.
func peerOf(conn net.Conn) (who peer, known bool, err error) {
	err = onSocket(conn, func(fd int) error {
		c, err := syscall.GetsockoptUcred(fd, syscall.SOL_SOCKET, syscall.SO_PEERCRED)
		if err == nil {
			who = peer{user: int(c.Uid), process: int(c.Pid)}
		}
		return err
	})
	return who, true, err
}
