# make           builds bin/helmdrift
# make check     checks a change quickly, before a commit
# make fix       writes the files again that are made from code
# make test      checks everything; this is what CI runs
# make help      lists these and six other targets, and make help-all all of them
#
# Only Go and make are needed. The binaries of the control plane are built into the user's cache, outside of this tree.

VERSION    ?= $(shell sed -n 's/^var version = "\(.*\)"/\1/p' cmd/helmdrift/version.go)
LDFLAGS    := -s -w -X main.version=$(VERSION)
# The release is built without cgo and with trimmed paths. With the same settings everywhere, vet, staticcheck, tests and builds share one
# compilation of each package, also of those of Kubernetes. Programs that tests build are linked faster without symbols (-s). With more
# memory, compilers spend less of their time on collecting garbage, and so do staticcheck and what builds the planes. Tests do not get GOGC,
# because helmdrift obeys it; those that take long call SetGCPercent.
export CGO_ENABLED := 0
TOOLEXEC           := '-toolexec=env GOGC=400'
USER_FLAGS         := $(filter-out -trimpath -ldflags=-s,$(subst $(TOOLEXEC),,$(shell go env GOFLAGS)))
export GOFLAGS     := $(USER_FLAGS) -trimpath -ldflags=-s $(if $(findstring -toolexec,$(USER_FLAGS)),,$(TOOLEXEC))
lint planes: export GOGC ?= 400
# Otherwise git writes into .git when a build asks for the commit, and Go repeats the tests that list the root of the tree.
export GIT_OPTIONAL_LOCKS := 0
# "make vet" looks at more than "go test" would.
GOTEST     := go test -vet=off
LAUNCHER   := bin/controlplane
TOOL       := go tool -modfile=$(CURDIR)/tools/go.mod
STATICCHECK := $(TOOL) staticcheck
# vet and lint check these modules as the main one, and test/controlplane, which compiles Kubernetes. signing and argocd check their
# modules; test/flux and test/helmfile have no code.
MODULES    := tools tools/release $(addprefix test/,browser ci deploy e2e formats gitops release)
# These modules need what the main module needs.
WITH_ROOT  := $(addprefix test/,browser deploy e2e formats gitops)
# The differential test of the defaults reads generated objects before and after Kubernetes' own defaulting.
PAIRS      := bin/defaults.ndjson
PER_KIND   ?= 200
MAX_SIZE   := 60000000

# These are the targets that "make help" lists.
HELP       := build demo check fix test unit e2e cluster bench help-all

.PHONY: build help help-all demo cluster cluster-down bench bench-charts bench-chart-files snapshots docs fix clean
.PHONY: check test fmt-check vet vet-systems lint unit e2e stories modules guests apidiff vulncheck docs-check pre-push
.PHONY: postgresql chromium npm dpkg shellcheck ruby pre-commit
.PHONY: oracle rights hiding writes growth secrets forecast soak conformance flux argocd helmfile terraform planes defaults peers peer-charts
.PHONY: plugin release-files snapshot-release signing changelog release-notes
# A recipe that fails half-way is repeated.
.DELETE_ON_ERROR:

build: ## builds the stripped binary and checks its size
	go build -ldflags '$(LDFLAGS)' -o bin/helmdrift ./cmd/helmdrift
	@size=$$(wc -c < bin/helmdrift); echo "bin/helmdrift: $$size bytes (limit $(MAX_SIZE))"; test $$size -lt $(MAX_SIZE)

help: ## lists the targets that most changes need
	@awk -F ':.*## ' -v few=' $(HELP) ' '/^[a-z0-9-]+:/ && NF > 1 && index(few, " " $$1 " ") { printf "%-9s %s\n", $$1, $$2 }' Makefile

help-all: ## lists all targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:/ && NF > 1 { printf "%-17s %s\n", $$1, $$2 }' Makefile

plugin: build ## makes the plugin of Helm, which "helm plugin install bin/helm-drift" installs
	@mkdir -p bin/helm-drift
	cp bin/helmdrift deploy/plugin/plugin.complete LICENSE NOTICE bin/helm-drift
	sed 's/^version: .*/version: $(VERSION:v%=%)/' deploy/plugin/plugin.yaml > bin/helm-drift/plugin.yaml

release-files: plugin ## makes the completions, the manual pages and the programs that a release needs
	rm -rf bin/release/* # a new bin/release would be a change of bin, which tests list
	mkdir -p bin/release/completions bin/release/man bin/release/plugin
	bin/helmdrift completion bash > bin/release/completions/helmdrift.bash
	bin/helmdrift completion zsh > bin/release/completions/helmdrift.zsh
	bin/helmdrift completion fish > bin/release/completions/helmdrift.fish
	bin/helmdrift completion powershell > bin/release/completions/helmdrift.ps1
	$(GOTEST) ./cmd/helmdrift -count=1 -run '^TestManPages$$' -args -man $(CURDIR)/bin/release/man
	gzip -9 -n bin/release/man/*.1
	cp bin/helm-drift/plugin.yaml bin/helm-drift/plugin.complete bin/release/plugin
	cd tools/release && go build -o $(CURDIR)/bin/release/ ./cmd/sbom ./cmd/image

bin/goreleaser: tools/release/go.mod
	@echo "compiling goreleaser: 4 to 8 minutes on two cores, once"
	cd tools/release && go build -ldflags='-s -w' -o $(CURDIR)/bin/goreleaser github.com/goreleaser/goreleaser/v2

# goreleaser reads the commit only if there is a remote.
WITH_REMOTE := GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=remote.origin.url GIT_CONFIG_VALUE_0=https://github.com/helmdrift/helmdrift

snapshot-release: bin/goreleaser dpkg ruby ## makes a release in dist/, without signing and publishing, and tests its files
	bin/goreleaser check
	$(WITH_REMOTE) bin/goreleaser release --snapshot --clean --skip=sign
	bin/release/image -dist dist -version snapshot -time "$$(git log -1 --format=%cI)" -layout dist/image
	cd test/release && $(WITH_REMOTE) go test -count=1 -timeout 30m -v ./... -args -dist $(CURDIR)/dist
	@echo "SKIPPED, because they need the network and the identity of the workflow: signatures (make signing has some), provenance, publishing"

signing: bin/goreleaser ## signs and verifies a small release as the workflow does, with a Sigstore of its own
	@echo "compiling cosign and Rekor: 4 minutes of processor time, once"
	cd tools/release && go build -o $(CURDIR)/bin/release/ ./cmd/image
	cd test/signing && go vet ./... && $(STATICCHECK) ./... && go test -count=1 -timeout 30m -v ./...

# bin/steps prints at the end where the time went. The tests alone do not use all processors from their start to their end, so lint runs
# beside them; make check shows sooner what it finds.
test: bin/steps ## runs all checks and all tests
	@MAKE='$(MAKE)' bin/steps fmt-check planes vet build unit+e2e+lint

bin/steps: tools/cmd/steps/main.go tools/go.mod
	@cd tools && go build -o $(CURDIR)/bin/steps ./cmd/steps

check: fmt-check modules ## checks a change quickly: format, vet, staticcheck, modules, short tests, known vulnerabilities
	go vet ./...
	$(STATICCHECK) ./...
	$(GOTEST) -short ./...
	cd tools && go vet ./... && $(GOTEST) -count=1 -short ./...
	@$(MAKE) --no-print-directory apidiff
	@$(MAKE) --no-print-directory vulncheck VULN_OFFLINE=skip

pre-push: # pre-commit names the remote before a push, and only then
	@test -z "$$PRE_COMMIT_REMOTE_NAME" || $(MAKE) --no-print-directory check

# What needs a control plane has a target of its own: defaults, snapshots, conformance.
fix: docs ## formats the code, and writes the files again that are made from code or modules
	gofmt -w cmd internal pkg test tools
	go mod tidy
	@set -e; for module in $(WITH_ROOT); do echo "cd $$module && go mod tidy"; (cd $$module && go mod tidy); done
	go test ./test/project -run '^TestNotice$$' -args -update
	go test ./internal/kinds -run '^TestApplySchema$$' -args -update

docs-check: ## fails if NOTICE, changelog.d, docs/cli.md or the names of files in docs/dev are not current
	go test -short ./test/project
	cd tools && go test -count=1 -short ./cmd/changelog
	go test ./cmd/helmdrift -run 'TestCLIReference|TestArchitecture|TestDependenciesAreExplained|TestArrows'

modules: ## fails if go.mod or go.sum is not tidy, or if a downloaded module was changed
	go mod tidy -diff
	@set -e; for module in $(WITH_ROOT); do (cd $$module && go mod tidy -diff); done
	go mod verify > /dev/null

# VULN_DB names another database, VULN_PACKAGES other packages. VULN_OFFLINE=skip passes, and says so, if the database cannot be reached.
VULN_PACKAGES ?= ./...
VULN_OFFLINE  ?= fail
vulncheck: ## fails if the program can reach a known vulnerability
	@status=0; said=$$($(TOOL) govulncheck $(if $(VULN_DB),-db $(VULN_DB)) $(VULN_PACKAGES) 2>&1) || status=$$?; \
	if [ $$status = 0 ]; then echo "govulncheck: no known vulnerability is reached"; exit; fi; \
	if [ $(VULN_OFFLINE) = skip ] && printf '%s' "$$said" | grep -q 'fetching vulnerabilities'; then \
		echo "govulncheck is SKIPPED: its database cannot be reached:"; status=0; \
	fi; \
	printf '%s\n' "$$said"; exit $$status

# GUESTS='-size argo flux' says how many bytes these two add to the binary.
guests: ## removes each guest from a copy of the tree, and builds the rest
	cd tools && go build -o $(CURDIR)/bin/guests ./cmd/guests
	bin/guests $(GUESTS)

# Programs import pkg/...; what is incompatible with the last tag needs an entry in changelog.d.
apidiff: bin/changelog ## fails on an incompatible change of the packages for programs that no entry in changelog.d names
	@cd tools && go build -o $(CURDIR)/bin/apidiff golang.org/x/exp/cmd/apidiff
	@bin/changelog api $(CURDIR)/bin/apidiff

bin/changelog: $(wildcard tools/cmd/changelog/*.go) tools/go.mod
	cd tools && go build -o $(CURDIR)/bin/changelog ./cmd/changelog

changelog: bin/changelog ## moves the entries of changelog.d into CHANGELOG.md, as the section of VERSION
	bin/changelog assemble $(VERSION)

release-notes: bin/changelog ## writes the section of VERSION in CHANGELOG.md to bin/notes.md, as the text of a release
	bin/changelog notes $(VERSION) > bin/notes.md

fmt-check: ## fails if a file is not as gofmt writes it
	@bad=$$(gofmt -l cmd internal pkg test tools); test -z "$$bad" || { echo "not formatted:"; echo "$$bad"; exit 1; }

vet: ## runs go vet in all modules
	go vet ./...
	@set -e; for module in $(MODULES); do echo "cd $$module && go vet ./..."; (cd $$module && go vet ./...); done
	cd test/controlplane && go vet ./...

vet-systems: ## checks that the program and its tests compile on the other systems that releases are for
	$(foreach os,darwin windows,GOOS=$(os) go vet ./... &&) true

lint: ## runs staticcheck in all modules
	$(STATICCHECK) ./...
	@set -e; for module in $(MODULES); do echo "cd $$module && staticcheck ./..."; (cd $$module && $(STATICCHECK) ./...); done
	cd test/controlplane && $(STATICCHECK) . ./cmd/controlplane ./cmd/fakenode

# Some tests compile programs, which takes longer than the ten minutes of go test on a cold and busy machine. The tests of the small modules
# read files outside of them, and the test cache of Go does not notice that such a file has changed.
unit: $(PAIRS) postgresql chromium npm dpkg shellcheck pre-commit release-files ## runs all tests but the end-to-end tests
	HELMDRIFT_DEFAULTS_PAIRS=$(CURDIR)/$(PAIRS) $(GOTEST) -timeout 30m ./...
	cd tools && $(GOTEST) -count=1 ./...
	cd test/deploy && $(GOTEST) -count=1 ./...
	cd test/formats && $(GOTEST) -count=1 ./...
	cd test/ci && $(GOTEST) -count=1 ./...
	cd tools/release && $(GOTEST) -count=1 ./cmd/...
	cd test/release && $(GOTEST) -count=1 -timeout 30m ./...
	cd test/gitops && $(GOTEST) -count=1 ./...
	cd test/browser && $(GOTEST) -count=1 -timeout 30m ./...
	cd test/controlplane && $(GOTEST) -count=1 ./...

e2e: planes postgresql ## runs the end-to-end tests
	@command -v curl > /dev/null || echo "the test of the CronJob is SKIPPED: there is no curl"
	@for tool in bash jq patch script; do command -v $$tool > /dev/null || \
		echo "the test of the commands in docs is SKIPPED: there is no $$tool (Debian: apt-get install bash jq patch bsdutils)"; done
	cd test/e2e && $(GOTEST) -count=1 -timeout 90m ./...

stories: planes ## runs the stories, and makes each diff of them from a snapshot with masked secrets and from one that keeps them
	cd test/e2e && $(GOTEST) -count=1 -timeout 2h -run 'TestStories$$' -snapshots=both .

postgresql: # go test hides why it skips a test
	@ls /usr/lib/postgresql/*/bin/postgres > /dev/null 2>&1 || \
		echo "tests of HELM_DRIVER=sql are SKIPPED: there is no /usr/lib/postgresql/*/bin/postgres (Debian: apt-get install postgresql)"

dpkg:
	@command -v dpkg > /dev/null && test "$$(id -u)" = 0 || echo "the test of the package for Debian is SKIPPED: it needs dpkg, and runs as root only"

chromium:
	@command -v chromium > /dev/null || command -v chromium-browser > /dev/null || command -v google-chrome > /dev/null || \
		echo "tests of -o html in a browser are SKIPPED: there is no chromium (Debian: apt-get install chromium)"

npm:
	@command -v npm > /dev/null || echo "the test of GitLab jobs by GitLab's schema is SKIPPED: there is no npm (Debian: apt-get install npm)"

shellcheck:
	@command -v shellcheck > /dev/null || \
		echo "the check of scripts in workflows is SKIPPED: there is no shellcheck (Debian: apt-get install shellcheck)"

pre-commit:
	@command -v pre-commit > /dev/null || \
		echo "the test of the hooks of git is SKIPPED: there is no pre-commit (Debian: apt-get install pre-commit)"

ruby:
	@command -v ruby > /dev/null || echo "the test of Homebrew's cask by ruby is SKIPPED: there is no ruby (Debian: apt-get install ruby)"

N ?= 1000
oracle: planes ## predicts N random upgrades and rollbacks per engine, and compares with what Helm 3 and Helm 4 do
	cd test/e2e && go test -count=1 -timeout 12h -run TestRandom/oracle -oracle.n=$(N) -oracle.budget=5h .

rights: planes ## repeats N diffs of the stories without each of their rights
	cd test/e2e && go test -count=1 -timeout 12h -run 'TestRights|TestFleet/Rights' -rights.n=$(N) .

hiding: planes ## tries N combinations of each group of fields that may hide others; all of them from 400
	cd test/e2e && go test -count=1 -timeout 12h -run TestHiding -hiding.n=$(N) .

# The counters of coverage count the steps of the code of this module.
growth: ## tries N random hostile texts: the work on them must grow in proportion to their length
	go test -count=1 -timeout 12h -v -cover -covermode=atomic -coverpkg=github.com/helmdrift/helmdrift/... \
		-run '^TestWorkGrowsWithText$$' ./test/growth -args -growth=$(N) -steps
	go test -count=1 -timeout 12h -v -run '^TestFindersAreLinear$$' ./internal/secret -args -growth=$(N)

secrets: ## tries N random secrets in each encoding, and N releases with encoded secrets at each place
	go test -count=1 -timeout 12h -v -run '^TestEncodedSecrets$$' ./internal/secret -args -rounds=$(N)
	go test -count=1 -timeout 12h -v -run '^FuzzNoSecretIsShown$$' ./cmd/helmdrift -args -seeds=$(N)

conformance: planes ## records the cases of testdata/conformance again, from at most N random cases per engine
	rm -f testdata/conformance/*.json
	cd test/e2e && go test -count=1 -timeout 2h -run TestRecordConformance -oracle.n=$(N) -conformance.dir $(CURDIR)/testdata/conformance .

forecast: planes ## compares the forecast of N random upgrades and fixes per engine with what the controllers do
	cd test/e2e && go test -count=1 -timeout 12h -run TestRandom/forecast -forecast.n=$(N) -forecast.budget=5h .

writes: planes ## compares what a fix of N forged or copied records writes, by the audit log, with what it may write
	cd test/e2e && go test -count=1 -timeout 12h -run 'TestWrites$$' -writes.n=$(N) .

# test/argocd says which version. It needs Go 1.27, which go downloads as a module. bin/argocd also gets the definitions of its kinds, and
# the script by which it looks for signatures of commits.
bin/argocd/argocd: test/argocd/go.mod test/argocd/main.go test/argocd/manifests.go test/argocd/differences.go
	@echo "compiling Argo CD: 1,970 packages, once"
	@mkdir -p bin/argocd
	cd test/argocd && GOTOOLCHAIN=auto go build -ldflags='-s -w' -o $(CURDIR)/bin/argocd/argocd .
	cd test/argocd && cp -f $$(GOTOOLCHAIN=auto go list -m -f '{{.Dir}}/manifests/crds/app*-crd.yaml' github.com/argoproj/argo-cd/v3) \
		$(CURDIR)/bin/argocd
	cd test/argocd && install -m 755 "$$(GOTOOLCHAIN=auto go list -m -f '{{.Dir}}/hack/git-verify-wrapper.sh' github.com/argoproj/argo-cd/v3)" \
		$(CURDIR)/bin/argocd

bin/argocd/helm: test/e2e/go.mod
	@mkdir -p bin/argocd
	cd test/e2e && go build -o $(CURDIR)/bin/argocd/helm helm.sh/helm/v4/cmd/helm

bin/argocd/kustomize: test/helmfile/go.mod
	@mkdir -p bin/argocd
	cd test/helmfile && go build -o $(CURDIR)/bin/argocd/kustomize sigs.k8s.io/kustomize/kustomize/v5

# The application-controller serves its metrics on all interfaces, so the test has a network with nothing but a loopback interface.
OWN_NETWORK := unshare --map-root-user --net sh -c 'ip link set lo up && exec "$$@"' sh

SYNCS ?= 20
SETS ?= 40
KUSTOMIZATIONS ?= 100

argocd: build planes bin/kubectl bin/argocd/argocd bin/argocd/helm bin/argocd/kustomize ## compares SYNCS random syncs, SETS random ApplicationSets and KUSTOMIZATIONS with what Argo CD does, and the charts in ARGO_CHARTS
	cd test/argocd && GOTOOLCHAIN=auto go vet ./story && GOTOOLCHAIN=auto go test -c -o $(CURDIR)/bin/argocd/story.test ./story
	rm -rf bin/argocd/sets bin/argocd/syncs && mkdir bin/argocd/sets bin/argocd/syncs
	cd test/argocd/story && $(OWN_NETWORK) $(CURDIR)/bin/argocd/story.test -test.timeout 120m -test.v -syncs $(SYNCS) -sets $(SETS) \
		-sets.dir $(CURDIR)/bin/argocd/sets -syncs.dir $(CURDIR)/bin/argocd/syncs $(if $(ARGO_CHARTS),-charts $(ARGO_CHARTS)) -programs $(CURDIR)/bin/argocd:$(CURDIR)/bin
	go test -count=1 ./internal/argo/appset -run TestRecorded -recorded $(CURDIR)/bin/argocd/sets
	go test -count=1 -v ./internal/engine/argocd -run 'TestRecordedManagers|TestDifferences' -recorded $(CURDIR)/bin/argocd/syncs -argocd $(CURDIR)/bin/argocd
	go test -count=1 -timeout 30m -v ./internal/argo -run TestKustomizations -argocd $(CURDIR)/bin/argocd -kustomizations $(KUSTOMIZATIONS)
	$(if $(ARGO_CHARTS),go test -count=1 -timeout 60m -v ./internal/argo -run TestRenderings -argocd $(CURDIR)/bin/argocd -charts $(ARGO_CHARTS))

soak: planes ## scans a fleet 100 times while others deploy
	cd test/e2e && go test -count=1 -timeout 2h -run 'TestFleet/Soak' -soak.scans=100 .

# test/flux says which versions. bin/flux also gets the definitions of their kinds.
FLUX := github.com/fluxcd/helm-controller github.com/fluxcd/kustomize-controller github.com/fluxcd/source-controller
SOPS := github.com/getsops/sops/v3/cmd/sops filippo.io/age/cmd/age-keygen

bin/flux/helm-controller: test/flux/go.mod
	@echo "compiling the controllers of Flux: 8 minutes of processor time, once"
	@mkdir -p bin/flux
	cd test/flux && go build -ldflags='-s -w' -o $(CURDIR)/bin/flux/ $(FLUX) $(SOPS)
	cd test/flux && cp -f $$(go list -m -f '{{.Dir}}/config/crd/bases/*.yaml' $(FLUX)) $(CURDIR)/bin/flux

SEEDS ?= 20

flux: planes bin/flux/helm-controller ## tries what docs/gitops.md says of Flux with its controllers, and compares what they do in SEEDS random scripts
	cd test/e2e && go test -count=1 -timeout 5h -run '^TestFlux(Tree)?$$' -flux $(CURDIR)/bin/flux -flux.seeds $(SEEDS) .

# test/helmfile says which versions.
bin/helmfile/helmfile: test/helmfile/go.mod
	@echo "compiling helmfile and what it calls: 7 minutes of processor time, once"
	@mkdir -p bin/helmfile
	cd test/helmfile && go build -ldflags='-s -w' -o $(CURDIR)/bin/helmfile/ github.com/helmfile/helmfile \
		sigs.k8s.io/kustomize/kustomize/v5 $(SOPS)

HELMFILES ?= 20

# HELM_DIFF names the binary of the plugin helm-diff, which is not built here.
helmfile: planes bin/helmfile/helmfile ## compares what diff --helmfile predicts for HELMFILES random helmfiles with what helmfile sync does
	@test -n "$$HELM_DIFF" || echo "the commands of docs/helmfile.md are SKIPPED: HELM_DIFF names no program of helm-diff"
	cd test/e2e && go test -count=1 -timeout 3h -v -run '^TestHelmfile' -helmfile $(CURDIR)/bin/helmfile -helmfile.n $(HELMFILES) \
		-helmfile.inputs $$(cd ../helmfile && go list -m -f '{{.Dir}}' github.com/helmfile/helmfile)/test/integration .

# TERRAFORM names a folder with the programs tofu and terraform-provider-helm, which are not built here.
terraform: planes ## compares what diff --plan predicts for plans written by hand with what OpenTofu and the provider in TERRAFORM do
	@test -n "$(TERRAFORM)" || { echo "TERRAFORM names no folder with tofu and terraform-provider-helm"; exit 1; }
	cd test/e2e && go test -count=1 -timeout 1h -v -run '^TestTerraform$$' -terraform $(TERRAFORM) .

$(LAUNCHER): $(wildcard test/controlplane/*.go test/controlplane/cmd/controlplane/*.go)
	cd test/controlplane && go build -o $(CURDIR)/$(LAUNCHER) ./cmd/controlplane

planes: $(LAUNCHER) ## compiles the control plane, which takes minutes the first time
	$(LAUNCHER) build > /dev/null

$(PAIRS): $(LAUNCHER) $(wildcard test/controlplane/cmd/gendefaults/*.go)
	$(LAUNCHER) gendefaults -pairs $(PAIRS) -seed 1 -per-kind $(PER_KIND)

defaults: $(LAUNCHER) ## rewrites the table of defaults
	$(LAUNCHER) gendefaults -table internal/kinds/defaults.json

demo: build ## shows a saved report at once, and then the same on a control plane of its own
	@echo; echo '$$ helmdrift diff --snapshot testdata/snapshots/web.json.gz'
	@bin/helmdrift diff --snapshot testdata/snapshots/web.json.gz --fail-on none --no-pager
	@echo; echo "That was a snapshot. Next, a real API server with controllers: the first time, $(LAUNCHER) compiles Kubernetes, which takes"
	@echo "about 6 minutes on two cores; after that, seconds. Ctrl-C ends it, and nothing is left running."
	@$(MAKE) --no-print-directory planes
	cd test/e2e && go build -o $(CURDIR)/bin/demo ./cmd/demo
	bin/demo --controlplane $(LAUNCHER) --module test/controlplane --helmdrift bin/helmdrift --chart testdata/charts/demo

docs: ## writes the pages and pictures of docs that are made from code
	go test ./cmd/helmdrift ./internal/output/schema -run 'TestCLIReference|TestPictures|TestReportPage' -args -update-docs

snapshots: build planes ## makes the snapshot of the README again, from the release of the demo
	cd test/e2e && go build -o $(CURDIR)/bin/demo ./cmd/demo
	bin/demo --controlplane $(LAUNCHER) --module test/controlplane --helmdrift bin/helmdrift --chart testdata/charts/demo \
		--snapshot testdata/snapshots/web.json.gz

cluster: planes ## starts a cluster for experiments
	@$(LAUNCHER) start --controllers --fake-nodes 1

cluster-down: $(LAUNCHER) ## stops that cluster and deletes it
	@$(LAUNCHER) stop

# make bench FLEET=20,200,2000 takes an hour. HELM and KUBECTL name other binaries, and HELM_DIFF that of the plugin, which is not built here.
FLEET   ?= 20,200
HELM    ?= bin/helm
KUBECTL ?= bin/kubectl

bin/helm: test/e2e/go.mod
	cd test/e2e && go build -o $(CURDIR)/bin/helm helm.sh/helm/v3/cmd/helm

bin/kubectl: test/e2e/go.mod $(wildcard test/e2e/cmd/kubectl/*.go)
	cd test/e2e && go build -o $(CURDIR)/bin/kubectl ./cmd/kubectl

bench: build planes $(filter bin/%,$(HELM) $(KUBECTL)) ## measures speed, a large chart against Helm's own steps, and a fleet against other tools
	go test -run '^$$' -bench . -benchmem ./pkg/...
	cd test/e2e && go test -run '^$$' -bench LargeChart -benchtime 10x .
	cd test/e2e && go build -o $(CURDIR)/bin/fleetbench ./cmd/fleetbench
	bin/fleetbench -controlplane $(LAUNCHER) -module test/controlplane -helmdrift bin/helmdrift -helm $(HELM) -kubectl $(KUBECTL) -releases $(FLEET)

# HELM_DIFF and HELM_DRIFT name the binaries of the plugins, which are not built here. PEERS_FLAGS are flags of bin/peers, such as -v.
PEER_CHARTS ?= $(wildcard bin/peer-charts/*.tgz)
PEERS_FLAGS ?=

bin/helm4: test/e2e/go.mod
	cd test/e2e && go build -o $(CURDIR)/bin/helm4 helm.sh/helm/v4/cmd/helm

peers: build planes bin/helm bin/helm4 bin/kubectl ## compares what helmdrift and other tools say with what helm upgrade does
	cd test/e2e && go build -o $(CURDIR)/bin/peers ./cmd/peers
	bin/peers -controlplane $(LAUNCHER) -module test/controlplane $(PEERS_FLAGS) $(PEER_CHARTS)

peer-charts: CHARTS := test/e2e/cmd/peers/charts.txt
peer-charts: bin/helm ## downloads the public charts for make peers; helm must know the repositories by the names in the list
	@$(PULL)

# PULL downloads the charts that the list CHARTS names, into a folder of bin that is called as the target.
PULL = mkdir -p bin/$@; while read -r name version; do bin/helm pull "$$name" --version "$$version" -d bin/$@ || exit 1; done < $(CHARTS)

bench-chart-files: CHARTS := test/e2e/cmd/fleetbench/charts.txt
bench-chart-files: bin/helm ## downloads the public charts for make bench-charts; helm must know the repositories by the names in the list
	@$(PULL)

BENCH_CHARTS ?= $(wildcard bin/bench-chart-files/*.tgz)

bench-charts: build planes $(filter bin/%,$(HELM) $(KUBECTL)) $(if $(BENCH_CHARTS),,bench-chart-files) ## measures speed on public charts, against bare lists and against other tools
	cd test/e2e && go build -o $(CURDIR)/bin/fleetbench ./cmd/fleetbench
	bin/fleetbench -controlplane $(LAUNCHER) -module test/controlplane -helmdrift bin/helmdrift -helm $(HELM) -kubectl $(KUBECTL) \
		-rounds 4 -charts $(or $(BENCH_CHARTS),bin/bench-chart-files/*.tgz)

clean: ## deletes bin and dist; docs/tutorial.md names the caches outside
	rm -rf bin dist
