//go:build !linux

package main

// dieFirst does nothing: the system does not let a process say that it is to be ended first.
func dieFirst() (restore func()) { return func() {} }
