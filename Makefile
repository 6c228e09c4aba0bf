# What the targets do beyond one command is in .ci/run.

FUZZTIME ?= 1m

.PHONY: check test bench fuzz

check: ## what CI runs
	bash .ci/run

test: ## everything, once
	go test ./...

bench: ## all benchmarks
	go test -run '^$$' -bench . ./...

fuzz: ## every fuzz target for FUZZTIME
	FUZZTIME=$(FUZZTIME) bash .ci/run fuzz
