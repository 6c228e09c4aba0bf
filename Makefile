# What the targets do beyond one command is in .ci/run.

FUZZTIME ?= 1m

.PHONY: check test bench fuzz release

check: ## what CI runs
	bash .ci/run

test: ## everything, once
	go test ./...

bench: ## all benchmarks
	go test -run '^$$' -bench . ./...

fuzz: ## every fuzz target for FUZZTIME
	FUZZTIME=$(FUZZTIME) bash .ci/run fuzz

release: ## binaries, archives, Debian packages and their checksums, in dist; VERSION=1.2.3 if there is no tag
	rm -rf dist
	go run ./packaging/release -out dist -version '$(VERSION)'
