//go:build !race

package gtfs_test

const raced = false
