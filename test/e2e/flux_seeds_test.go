package e2e

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/rogpeppe/go-internal/txtar"
)

var (
	fluxSeeds = flag.Int("flux.seeds", 20, "how many random scripts TestFlux runs")
	fluxSeed  = flag.Uint64("flux.seed", 1, "the first seed of these scripts")
)

// fluxEdits is the number of edits of a random script.
const fluxEdits = 5

// fluxScript is a random script: edits of a HelmRelease, of what it names and of live objects, and after each of them diff says what
// helm-controller does, and it does that.
type fluxScript struct {
	*rand.Rand
	script strings.Builder
	// minor is the version of the chart, and name is the name of the release.
	minor int
	name  string
	// chart is the folder of the chart, publish is the command that brings it to its source, and flags are those of next after a space.
	chart, publish, flags string
	// others are edits that only this script chooses from.
	others []func()
	// suspended is set while the HelmRelease is, and deployed is the name of the release that Flux made last.
	suspended bool
	deployed  string
}

// line adds a line.
func (s *fluxScript) line(format string, args ...any) { fmt.Fprintf(&s.script, format+"\n", args...) }

// patch adds an edit of the HelmRelease.
func (s *fluxScript) patch(spec string) {
	s.line("patch flux helmreleases.helm.toolkit.fluxcd.io/web '{spec: %s}'", spec)
}

// pick returns one of the texts.
func (s *fluxScript) pick(all ...string) string { return all[s.IntN(len(all))] }

// references returns references in a random order, with paths that overlap each other and the values.
func (s *fluxScript) references() []string {
	all := []string{
		"{kind: ConfigMap, name: web-values}", "{kind: Secret, name: web-secret}",
		"{kind: ConfigMap, name: web-values, valuesKey: size, targetPath: number}",
		"{kind: ConfigMap, name: web-values, valuesKey: size, targetPath: top.a}",
		"{kind: ConfigMap, name: web-values, valuesKey: size, targetPath: greeting, literal: true}",
		"{kind: ConfigMap, name: absent, optional: true}",
	}
	s.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// edits are the edits that a random script chooses from, in the order of a script that chooses several.
func (s *fluxScript) edits() []func() {
	return []func(){
		// The suspension is the first edit: the controller may act between two edits on what it has heard of.
		func() { s.suspended = !s.suspended; s.patch(fmt.Sprintf("{suspend: %t}", s.suspended)) },
		func() { s.patch(fmt.Sprintf("{values: {replicas: %d}}", s.IntN(4))) },
		func() {
			s.patch(fmt.Sprintf("{values: {greeting: %q, top: {a: %d}}}", s.pick("hi", "yes", "0755", "1e3", ""), s.IntN(3)))
		},
		func() {
			s.line(`patch kubectl configmap/web-values '{data: {values.yaml: "greeting: %s\nnumber: %d\ntop: {b: x}\n", size: "%d"}}'`,
				s.pick("moin", "servus", "42"), s.IntN(3)*1000000, s.IntN(3))
		},
		func() {
			all := s.references()
			s.patch("{valuesFrom: [" + strings.Join(all[:s.IntN(len(all)+1)], ", ") + "]}")
		},
		func() {
			s.minor++
			s.line(`exec sed -i 's/^version: .*/version: 1.%d.0/; s/^appVersion: .*/appVersion: "%d"/' %s/Chart.yaml`, s.minor, s.IntN(100), s.chart)
			s.line(`exec sed -i 's/log.level: [a-z]*/log.level: %s/' %s/templates/web.yaml`, s.pick("info", "debug", "trace"), s.chart)
			s.line(s.publish)
			if s.chart == "chart" { // a bucket is waited for
				s.line("await helmcharts.source.toolkit.fluxcd.io/$NS-web status.artifact.revision 1.%d.0", s.minor)
			}
		},
		func() { // another content under the same version
			s.line(`exec sed -i 's/log.level: [a-z]*/log.level: %s/' %s/templates/web.yaml`, s.pick("warn", "error"), s.chart)
			s.line(s.publish)
		},
		func() {
			s.patch("{postRenderers: " + s.pick("null", `[{kustomize: {images: [{name: nginx, newTag: "1.2`+s.pick("6", "7", "8")+`"}]}}]`,
				`[{kustomize: {patches: [{patch: "- {op: replace, path: /spec/replicas, value: 1}", target: {kind: Deployment}}]}}]`) + "}")
		},
		func() {
			s.patch("{commonMetadata: " + s.pick("null", "{labels: {team: a}}", "{labels: {team: b}, annotations: {note: x}}") + "}")
		},
		func() {
			s.patch(s.pick("{upgrade: {force: true}}", "{upgrade: {force: false}}", "{upgrade: {serverSideApply: disabled}}",
				"{upgrade: {serverSideApply: enabled}}", "{upgrade: {serverSideApply: auto}}", "{upgrade: {disableHooks: true}}",
				"{upgrade: {preserveValues: true}}", "{upgrade: {preserveValues: false}}", "{upgrade: {crds: Skip}}", "{timeout: 4m}"))
		},
		func() { s.patch("{driftDetection: {mode: " + s.pick("disabled", "warn", "enabled") + "}}") },
		func() {
			s.line(`patch kubectl-patch configmap/settings '{data: {%s: edited}}'`, s.pick("greeting", "number", "added"))
		},
		func() { s.line("scale deployment/web %d", s.IntN(5)) },
		func() { s.line(`patch kubectl-edit deployment/web '{metadata: {labels: {edited: "%d"}}}'`, s.IntN(9)) },
		func() { s.line("helm4 upgrade --as helm --server-side=true --force-conflicts " + s.chart) },
		func() { s.name = s.pick("web", "other"); s.patch("{releaseName: " + s.name + "}") },
	}
}

// newFluxScript returns the script of a seed, with the files of a script that exists.
func newFluxScript(seed uint64, files []txtar.File) []byte {
	s := &fluxScript{Rand: rand.New(rand.NewPCG(seed, 11)), name: "web", deployed: "web", chart: "chart", publish: "publish chart"}
	return s.run("chart", seed, files)
}

// run writes the script. Source names what is special about it.
func (s *fluxScript) run(source string, seed uint64, files []txtar.File) []byte {
	s.line("# Seed %d of TestFlux, with a %s.\n%s\nrelease web\nfreeze\napply release.yaml\nnext web%s\njudge web",
		seed, source, s.publish, s.flags)
	for range fluxEdits {
		s.line("freeze")
		edits := append(s.edits(), s.others...)
		chosen := make([]int, 1+s.IntN(2))
		for i := range chosen {
			chosen[i] = s.IntN(len(edits))
		}
		if len(s.others) > 0 {
			chosen = append(chosen, len(edits)-1-s.IntN(len(s.others)))
		}
		slices.Sort(chosen)
		// Two edits of one kind may change nothing in the end, and a controller that hears of both acts on the first.
		for _, i := range slices.Compact(chosen) {
			edits[i]()
		}
		if s.line("next web%s\njudge web", s.flags); !s.suspended {
			s.deployed = s.name
		}
		s.line("release %s", s.deployed)
	}
	return txtar.Format(&txtar.Archive{Comment: []byte(s.script.String()), Files: files})
}

// runFluxSeeds runs random scripts. A seed that failed once is kept in testdata/flux/next/seeds.txt.
func runFluxSeeds(t *testing.T, run func(t *testing.T, p testscript.Params)) {
	t.Helper()
	base, err := txtar.ParseFile("testdata/flux/next/next.txtar")
	must(t, err)
	kept, err := os.ReadFile("testdata/flux/next/seeds.txt")
	must(t, err)
	var seeds []uint64
	for _, field := range strings.Fields(string(kept)) {
		var seed uint64
		if _, err := fmt.Sscan(field, &seed); err != nil {
			t.Fatalf("testdata/flux/next/seeds.txt: %v", err)
		}
		seeds = append(seeds, seed)
	}
	for i := range uint64(*fluxSeeds) {
		seeds = append(seeds, *fluxSeed+i)
	}
	dir := t.TempDir()
	for _, seed := range seeds {
		file := filepath.Join(dir, fmt.Sprintf("seed-%d.txtar", seed))
		must(t, os.WriteFile(file, newFluxScript(seed, base.Files), 0o600))
		t.Run("seeds", func(t *testing.T) { run(t, testscript.Params{Files: []string{file}}) })
	}
	for i := range uint64(*fluxBuckets) {
		file := filepath.Join(dir, fmt.Sprintf("bucket-seed-%d.txtar", *fluxSeed+i))
		must(t, os.WriteFile(file, newBucketScript(*fluxSeed+i, base.Files), 0o600))
		t.Run("seeds", func(t *testing.T) { run(t, testscript.Params{Files: []string{file}}) })
	}
	for i := range uint64(*fluxRegistries) {
		file := filepath.Join(dir, fmt.Sprintf("registry-seed-%d.txtar", *fluxSeed+i))
		must(t, os.WriteFile(file, newRegistryScript(*fluxSeed+i, base.Files), 0o600))
		t.Run("seeds", func(t *testing.T) { run(t, testscript.Params{Files: []string{file}}) })
	}
}
