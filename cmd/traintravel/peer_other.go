//go:build !linux && !darwin && !freebsd

package main

import "net"

// peerOf does not know who is at the other end: the mode of the socket and of its folder
// is all that keeps others out.
func peerOf(net.Conn) (who peer, known bool, err error) { return peer{}, false, nil }
