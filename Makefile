# Varve needs Go (the version in go.mod is fetched by the go command itself) and make.

VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo 0.1.0)
COMMIT   ?= $(shell git rev-parse --short HEAD 2>/dev/null || echo unknown)
BRANCH   ?= $(shell git rev-parse --abbrev-ref HEAD 2>/dev/null || echo unknown)
LDFLAGS  := -s -w -X main.commit=$(COMMIT) -X main.branch=$(BRANCH)
GO       ?= go
FUZZTIME ?= 10s
BENCH    ?= .

.PHONY: run build test lint bench microbench bce fuzz e2e clean

## run: build and start the server on 127.0.0.1:4000 with the data in ./data
run: build
	./bin/varve serve

## build: the server as bin/varve
build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/varve ./cmd/varve

## test: vet and all tests
test:
	$(GO) vet ./...
	$(GO) test ./...

## lint: formatting, vet, and the rules of the tree
lint:
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo 'run gofmt -w on these files'; exit 1; }
	$(GO) vet ./...
	$(GO) test .

## bench: load a server of its own over HTTP and print what it cost (ARGS="-rows 1000000")
bench: build
	$(GO) run ./bench $(ARGS)

## microbench: the benchmarks beside the code (BENCH=Decode)
microbench:
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem ./...

## bce: bounds checks left in the kernels against the accepted list
bce:
	@$(GO) build -gcflags=-d=ssa/check_bce ./engine/kernel 2>&1 | grep -v '^#' | sed 's/:[0-9]*:[0-9]*:/:/' | sort | uniq -c > bin.bce; \
	diff engine/kernel/testdata/bce.txt bin.bce && echo 'no new bounds checks'; s=$$?; rm -f bin.bce; exit $$s

## fuzz: every fuzz test for FUZZTIME
fuzz:
	@for p in $$($(GO) list ./...); do \
	  dir=$$($(GO) list -f '{{.Dir}}' $$p); \
	  for f in $$(grep -ho '^func Fuzz[A-Za-z0-9_]*' $$dir/*_test.go 2>/dev/null | cut -d' ' -f2); do \
	    echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) $$p || exit 1; \
	  done; \
	done

## e2e: the built program, killed under load and started again
e2e:
	$(GO) test -count=1 -v ./bench/e2e

clean:
	rm -rf bin
