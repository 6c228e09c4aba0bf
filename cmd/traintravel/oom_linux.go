package main

import "os"

// dieFirst asks the kernel to end this process before any other if memory runs out, such
// as before the server, until restore is called. A system that does not let it is no
// reason to stop.
func dieFirst() (restore func()) {
	const file = "/proc/self/oom_score_adj"
	was, err := os.ReadFile(file)
	if err != nil || os.WriteFile(file, []byte("1000"), 0) != nil {
		return func() {}
	}
	return func() { _ = os.WriteFile(file, was, 0) }
}
