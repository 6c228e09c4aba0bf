package main

// A teller takes the progress and the results of work. Neither function is nil.
type teller struct {
	progress func(done, total int64)
	say      func(text string)
}
