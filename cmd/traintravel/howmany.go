package main

import "fmt"

// howMany is a number with the words that go with it: those for one, or for any other.
func howMany[N int | int64](n N, one, others string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, others)
}

// unreadable says that so many records could not be read, and what that means; "" if n is 0.
func unreadable(n int, means string) string {
	if n == 0 {
		return ""
	}
	return howMany(n, "record", "records") + " could not be read" + means + ": run 'traintravel check', which names them"
}
