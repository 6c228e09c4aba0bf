// Package audittest reads a store whole for tests, and damages stores in the ways that a check
// must find.
package audittest
