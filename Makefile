# What the targets do beyond one command is in .ci/run.

FUZZTIME ?= 1m

.PHONY: check test bench fuzz release deb image

check: ## what CI runs
	bash .ci/run

test: ## everything, once
	go test ./...

bench: ## all benchmarks
	go test -run '^$$' -bench . ./...

fuzz: ## every fuzz target for FUZZTIME
	FUZZTIME=$(FUZZTIME) bash .ci/run fuzz

RELEASE = GOWORK=off go -C packaging/release run . -version '$(VERSION)'

release: ## archives, Debian packages, container images and their checksums, in dist; VERSION=1.2.3 if there is no tag
	rm -rf dist
	$(RELEASE) -out dist

deb: ## the Debian package for this machine, in dist/deb
	rm -rf dist/deb
	$(RELEASE) -out dist/deb -targets here -formats deb

image: ## the container image for this machine, in dist/image
	rm -rf dist/image
	$(RELEASE) -out dist/image -targets here -formats image
