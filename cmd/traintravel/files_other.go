//go:build !unix

package main

import "math"

// filesAtOnce is how many files the process may have open at a time: unlimited, as this system
// does not say.
func filesAtOnce() uint64 { return math.MaxUint64 }
