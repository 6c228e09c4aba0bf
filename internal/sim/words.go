package main

import "fmt"

// count formats a number of things.
func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprint(n, " ", what)
}

// times formats how often something happened.
func times(n int) string {
	switch n {
	case 0:
		return "never"
	case 1:
		return "once"
	}
	return fmt.Sprint(n, " times")
}

// sum adds up counts.
func sum[K comparable](counts map[K]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}
