//go:build race

package gtfs_test

// raced says whether the race detector is on, which takes memory of its own.
const raced = true
