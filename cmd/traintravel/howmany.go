package main

import "fmt"

// howMany is a number with the words that go with it: those for one, or for any other.
func howMany[N int | int64](n N, one, others string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, others)
}
