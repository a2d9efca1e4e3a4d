# Varve needs Go (the version in go.mod is fetched by the go command itself) and make.

COMMIT   ?= $(shell git rev-parse --short HEAD 2>/dev/null)
BRANCH   ?= $(shell git rev-parse --abbrev-ref HEAD 2>/dev/null)
LDFLAGS  := -s -w -X main.commit=$(COMMIT) -X main.branch=$(BRANCH)
GO       ?= go
FUZZTIME ?= 10s
BENCH    ?= .

# Packages of hot loops, and the number of bounds checks that the compiler left in each of their files. The functions of
# SQL (fn_*.go) are left out: they do far more for a row than a check, and their loops lie in loops.go.
HOT := ./engine/vector ./engine/jsontext ./engine/filter ./sst/encoding ./sqlexec/expr ./sqlexec/intern ./flatten
BCE  = $(GO) build -trimpath -gcflags=-d=ssa/check_bce $(HOT) 2>&1 | sed -n 's,^varve/\([a-z/_0-9]*\.go\):.*,\1,p' | grep -v '/fn_[a-z]*\.go$$' | sort | uniq -c | awk '{ print $$1, $$2 }'

DASHBOARD_META ?= $(CURDIR)/bin/dashboard

.PHONY: run build release image dashboard-lib dashboard-compiler dashboard-check dashboard-test dashboard-bench superset-test pgadmin-test cold-figures test long lint bench peers microbench bce bce-accept fuzz docs-test e2e clean

## run: build and start the server on 127.0.0.1:4000 with the data in ./data
run: build
	@echo "clients of PostgreSQL are served with: ./bin/varve serve --pg-addr 127.0.0.1:5432"
	./bin/varve serve

## build: the server with its dashboard as bin/varve
build:
	CGO_ENABLED=0 $(GO) build -trimpath -tags dashboard -ldflags '$(LDFLAGS)' -o bin/varve ./cmd/varve

## release: archives, Debian packages and their sums in dist, of the commit, made twice and compared (needs git and dpkg-deb)
release:
	$(GO) run ./cmd/release

## image: the container image varve:VERSION (needs docker)
image:
	docker build -f cmd/release/container/Dockerfile -t varve -t varve:$$(cat cmd/varve/VERSION) \
	  --build-arg VERSION=$$(cat cmd/varve/VERSION) --build-arg REVISION=$$(git rev-parse HEAD) --build-arg CREATED=$$(git log -1 --format=%cI) .

## dashboard-lib: bundle the dashboard's libraries again from the lock file in server/dashboard/libsrc (needs npm)
dashboard-lib: dashboard-compiler
	mkdir -p $(DASHBOARD_META)
	for b in ui plot editor; do \
	  $(GO) tool esbuild server/dashboard/libsrc/$$b.js --bundle --minify --format=esm --target=es2022 --legal-comments=none --log-level=warning \
	    --alias:lru-cache=./server/dashboard/libsrc/nocache.js --metafile=$(DASHBOARD_META)/$$b.meta.json --outfile=$(DASHBOARD_META)/$$b.js || exit 1; \
	done
	cp server/dashboard/libsrc/node_modules/uplot/dist/uPlot.min.css $(DASHBOARD_META)/plot.css
	cd server/dashboard/libsrc && META_DIR=$(DASHBOARD_META) node libraries.mjs

## dashboard-compiler: the compiler that checks the types of the dashboard's modules (needs npm)
dashboard-compiler:
	cd server/dashboard/libsrc && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error

## dashboard-check: the types of the dashboard's modules (needs dashboard-compiler)
dashboard-check:
	cd server/dashboard/libsrc && npm run --silent check

## dashboard-test: the dashboard in a browser (needs chromium)
dashboard-test:
	$(GO) test -count=1 -tags 'dashboard browser' -timeout 30m ./server/dashboard $(ARGS)

## dashboard-bench: what the dashboard's pages cost in a browser, beside both bounds (needs chromium)
dashboard-bench:
	$(GO) test -v -count=1 -tags 'dashboard browser' -timeout 20m -run '^TestBounds$$' ./server/dashboard -args -bounds $(ARGS)

## superset-test: Apache Superset with a server as its database (needs python3 and psql; installs 800 MB)
superset-test: build
	server/read/pgwire/testdata/superset/run.sh

## pgadmin-test: pgAdmin connects to a server and walks its tree (needs python3 and psql; installs 400 MB)
pgadmin-test: build
	server/read/pgwire/testdata/pgadmin/run.sh

## open-test: engines of others read open tables (installs 450 MB of Python packages once, says what is missing)
open-test:
	server/read/iceberg/testdata/clients/run.sh

## cold-figures: what a move to a bucket costs, and queries of one that is 30 ms away, for VARVE_COLD_MILLIONS million rows
cold-figures:
	VARVE_COLD_MILLIONS=$${VARVE_COLD_MILLIONS:-2} $(GO) test -count=1 -v -timeout 60m -run TestColdFigures ./cmd/varve

## test: vet and all tests
test:
	$(GO) vet ./...
	$(GO) test -timeout 30m ./...

## long: the tests of random runs and of faults, with the more seeds and places that VARVE_LONG gives them
long:
	VARVE_LONG=1 $(GO) test -count=1 -timeout 60m -run "^($$(awk 'FNR == 1 { name = "" } /^func Test/ { sub(/\(.*/, "", $$2); name = $$2 } \
		/^func effort/ { next } /[ (]effort\(|Getenv\("VARVE_LONG"\)/ { if (name != "") print name }' engine/*_test.go sqlexec/*_test.go sqlexec/exec/*_test.go | sort -u | paste -sd'|'))$$" ./engine ./sqlexec ./sqlexec/exec

## lint: formatting, vet, and the rules of the tree
lint:
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo 'run gofmt -w on these files'; exit 1; }
	$(GO) vet ./...
	$(GO) test .

## bench: load a server of its own over HTTP and print what it cost (ARGS="-rows 1000000")
bench: build
	$(GO) run ./bench $(ARGS)

## peers: the servers of others that bench -peers measures beside ours, in bin/peers (versions: bench/peers/go.mod)
peers:
	mkdir -p bin/peers
	cd bench/peers && $(GO) build -tags remove_all_sd -o ../../bin/peers/prometheus github.com/prometheus/prometheus/cmd/prometheus
	cd bench/peers && $(GO) build -o ../../bin/peers/victoria-metrics github.com/VictoriaMetrics/VictoriaMetrics/app/victoria-metrics

## microbench: the benchmarks beside the code (BENCH=Decode)
microbench:
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem ./...

## bce: bounds checks left in the hot loops; fails when a file has more than the accepted list says
bce:
	@$(BCE) | awk 'NR == FNR { accepted[$$2] = $$1; next } $$1 > accepted[$$2] + 0 { print $$2 ": " $$1 " bounds checks, accepted are " accepted[$$2] + 0; bad = 1 } \
	  END { if (!bad) print "no new bounds checks"; exit bad }' docs/bce.txt -

## bce-accept: take the bounds checks as they are now for the accepted list
bce-accept:
	@$(BCE) > docs/bce.txt

## fuzz: every fuzz test for FUZZTIME
fuzz:
	@for p in $$($(GO) list ./...); do \
	  dir=$$($(GO) list -f '{{.Dir}}' $$p); \
	  for f in $$(grep -ho '^func Fuzz[A-Za-z0-9_]*' $$dir/*_test.go 2>/dev/null | cut -d' ' -f2); do \
	    echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) $$p || exit 1; \
	  done; \
	done

## docs-test: the blocks and links of README and docs, and that what is generated is current
docs-test:
	$(GO) test -count=1 ./bench/e2e -run '^Test(Documents|DocumentsTogether|Same|Links|PagesBegin)$$'
	$(GO) test -count=1 ./docs
	$(GO) test -count=1 ./cmd/varve -run '^Test(ManualIsCurrent|ConfigIsDocumented|ScriptsOfTheManual)$$'
	$(GO) test -count=1 ./server/read/query -run '^TestManual$$'
	$(GO) test -count=1 ./server/dashboard -run '^TestFunctionsPage$$'
	$(GO) test -count=1 ./sqlexec -run '^TestManualNamesEveryFunction$$'

## e2e: the built program, killed under load and started again
e2e:
	$(GO) test -count=1 -v ./bench/e2e

clean:
	rm -rf bin dist
