package main

import "os"

// dieFirst asks the kernel to end this process before any other, such as the server, if memory
// runs out, until restore is called. If the system refuses, it does nothing.
func dieFirst() (restore func()) {
	const file = "/proc/self/oom_score_adj"
	was, err := os.ReadFile(file)
	if err != nil || os.WriteFile(file, []byte("1000"), 0) != nil {
		return func() {}
	}
	return func() { _ = os.WriteFile(file, was, 0) }
}
