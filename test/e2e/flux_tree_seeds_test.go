package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// fluxMerges is the number of merges of a random script.
const fluxMerges = 4

// treeScript is a random script with a working tree: edits of the tree, of charts elsewhere and of live objects, and after each merge Flux
// does what diff said. The HelmRelease web has its chart in the tree, and shop has one of a repository.
type treeScript struct {
	fluxScript
	// drops is set while the tree has no shop, and other is the version of the chart of shop.
	drops bool
	other int
	// deleted is set once an object of web was deleted. Then none is edited any more: it may be there again or not.
	deleted bool
}

// edit adds an edit of a file of the tree.
func (s *treeScript) edit(file, body string) { s.line("edit repo/%s '%s'", file, body) }

// live adds an edit of an object of web.
func (s *treeScript) live(format string, args ...any) {
	if !s.deleted {
		s.line(format, args...)
	}
}

// any returns one of the HelmReleases of the tree as a file.
func (s *treeScript) any() string {
	if s.drops {
		return "apps/web.yaml"
	}
	return s.pick("apps/web.yaml", "apps/shop.yaml")
}

// treeEdits are the edits of the tree and of live objects that a random script chooses from.
func (s *treeScript) treeEdits() []func() {
	const web, shop, apps, chart = "apps/web.yaml", "apps/shop.yaml", "clusters/prod/apps.yaml", "charts/web/"
	return []func(){
		func() { s.edit(web, fmt.Sprintf("{spec: {values: {replicas: %d}}}", s.IntN(4))) },
		func() {
			s.edit(s.any(), fmt.Sprintf("{spec: {values: {greeting: %q, top: {a: %d}}}}",
				s.pick("hi", "0755", "1e3", "", "${greeting}", "${greeting:=hello}", "$${greeting}", "is ${word:-no} word", "${size:=3}"), s.IntN(3)))
		},
		func() {
			s.edit("apps/values.yaml", fmt.Sprintf(`{data: {values.yaml: "greeting: %s\nnumber: %d\ntop: {b: x}\n", size: "%d"}}`,
				s.pick("moin", "servus", "42", "${greeting:=gruezi}"), s.IntN(3)*1000000, s.IntN(3)))
		},
		func() {
			all := s.references()
			s.edit(s.any(), "{spec: {valuesFrom: ["+strings.Join(all[:s.IntN(len(all)+1)], ", ")+"]}}")
		},
		func() {
			s.edit("apps/secret.yaml", fmt.Sprintf(`{stringData: {values.yaml: "greeting: secretvalue%d"}}`, s.IntN(9)))
		},
		func() { // a new version of the chart in the tree
			s.minor++
			s.edit(chart+"Chart.yaml", fmt.Sprintf(`{version: 1.%d.0, appVersion: "%d"}`, s.minor, s.IntN(100)))
			s.line(`exec sed -i 's/log.level: [a-z]*/log.level: %s/' repo/charts/web/templates/web.yaml`, s.pick("info", "debug", "trace"))
		},
		func() { // another content under the same version
			s.line(`exec sed -i 's/log.level: [a-z]*/log.level: %s/' repo/charts/web/templates/web.yaml`, s.pick("warn", "error"))
		},
		func() {
			s.edit(chart+"prod.yaml", fmt.Sprintf(`{greeting: prod%d, top: {c: %d}}`, s.IntN(9), s.IntN(9)))
		},
		func() {
			s.edit(web, "{spec: {chart: {spec: {valuesFiles: "+s.pick("null", "[charts/web/prod.yaml]",
				"[charts/web/values.yaml, ./charts/web/prod.yaml]",
				"[charts/web/prod.yaml, charts/web/values.yaml]", "[values.yaml]", "[charts/web/prod.yaml, absent.yaml]")+
				", ignoreMissingValuesFiles: true}}}}")
		},
		func() {
			s.edit(s.any(), "{spec: {postRenderers: "+s.pick("null",
				`[{kustomize: {images: [{name: nginx, newTag: "1.2`+s.pick("6", "7", "8")+`"}]}}]`,
				`[{kustomize: {patches: [{patch: "- {op: replace, path: /spec/replicas, value: 1}", target: {kind: Deployment}}]}}]`,
				`[{kustomize: {patches: [{patch: "- {op: add, path: /data/added, value: \"${word:-x}\"}", target: {kind: ConfigMap}}]}}]`)+"}}")
		},
		func() {
			s.edit(s.any(), "{spec: {commonMetadata: "+s.pick("null", "{labels: {team: a}}", "{labels: {team: b}, annotations: {note: x}}")+"}}")
		},
		func() {
			s.edit(s.any(), "{spec: "+s.pick("{upgrade: {force: true}}", "{upgrade: {force: null}}", "{upgrade: {serverSideApply: disabled}}",
				"{upgrade: {serverSideApply: enabled}}", "{upgrade: {serverSideApply: auto}}", "{upgrade: {disableHooks: true}}",
				"{upgrade: {preserveValues: true}}", "{upgrade: {preserveValues: false}}", "{upgrade: {crds: Skip}}", "{timeout: 4m}")+"}")
		},
		func() { s.edit(s.any(), "{spec: {driftDetection: {mode: "+s.pick("disabled", "warn", "enabled")+"}}}") },
		func() { s.edit(web, "{spec: {releaseName: "+s.pick("web", "other")+"}}") },
		func() { s.edit(s.any(), "{spec: {suspend: "+s.pick("true", "false", "null", "null")+"}}") },
		func() {
			s.edit(apps, "{spec: {postBuild: "+s.pick("null", "{substitute: {greeting: moin}}", `{substitute: {greeting: "0755", word: "yes"}}`,
				`{substitute: {greeting: "1e3", size: "12"}}`, `{substitute: {greeting: "a: b"}}`, `{substitute: {greeting: "two\nlines"}}`)+"}}")
		},
		func() {
			all := []string{"{kind: ConfigMap, name: vars}", "{kind: Secret, name: more-vars}", "{kind: ConfigMap, name: live-vars}",
				"{kind: ConfigMap, name: absent, optional: true}"}
			s.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			s.edit(apps, "{spec: {postBuild: {substituteFrom: ["+strings.Join(all[:s.IntN(len(all)+1)], ", ")+"]}}}")
		},
		func() {
			s.edit("clusters/prod/vars.yaml", fmt.Sprintf(`{data: {greeting: %q, word: %q}}`,
				s.pick("one", "2", "true", "~"), s.pick("w", "x: y", "#")))
		},
		func() {
			s.line(`patch kubectl configmap/live-vars '{data: {greeting: %q, size: "%d"}}'`, s.pick("live", "010", "null"), s.IntN(9))
		},
		func() {
			const all = "{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: all}, spec: {values: {greeting: patched}}}"
			s.edit(apps, "{spec: {patches: "+s.pick("null",
				`[{patch: "- {op: add, path: /spec/values/replicas, value: 3}", target: {kind: HelmRelease, name: web}}]`,
				`[{patch: "`+all+`", target: {kind: HelmRelease}}]`,
				`[{patch: "- {op: replace, path: /data/size, value: \"7\"}", target: {kind: ConfigMap, name: web-values}}]`)+"}}")
		},
		func() {
			s.edit(apps, "{spec: {commonMetadata: "+s.pick("null", "{labels: {tree: a}, annotations: {note: yes it is}}")+"}}")
		},
		func() { s.edit(apps, "{spec: {suspend: "+s.pick("true", "false", "null", "null")+"}}") },
		func() { s.edit(apps, "{spec: {prune: "+s.pick("true", "false")+"}}") },
		func() { // a kustomization.yaml of the tree
			text := s.pick("", "kustomization.yaml", "kustomization-patches.yaml")
			if text == "" || s.drops {
				s.line("exec rm -f repo/apps/kustomization.yaml")
				return
			}
			s.line("exec cp %s repo/apps/kustomization.yaml", text)
		},
		func() { // somebody suspends the Kustomization in the cluster
			s.line("patch flux kustomizations.kustomize.toolkit.fluxcd.io/apps '{spec: {suspend: %s}}'", s.pick("true", "null", "null"))
		},
		func() { // shop goes, and comes back as it was
			if s.drops = !s.drops; s.drops {
				s.line("exec rm -f repo/apps/kustomization.yaml\nexec mv repo/apps/shop.yaml shop.yaml")
			} else {
				s.line("exec mv shop.yaml repo/apps/shop.yaml")
			}
		},
		func() { // where the chart of shop comes from
			if s.drops {
				return
			}
			s.edit(shop, "{spec: "+s.pick(
				`{chartRef: null, chart: {spec: {chart: web, version: "*", sourceRef: {kind: HelmRepository, name: charts}}}}`,
				`{chartRef: null, chart: {spec: {chart: web, version: ">=1.0.0", sourceRef: {kind: HelmRepository, name: oci}}}}`,
				"{chart: null, chartRef: {kind: OCIRepository, name: web}}")+"}")
		},
		func() {
			if s.drops {
				return
			}
			s.edit(shop, "{spec: {chartRef: null, chart: {spec: {chart: web, sourceRef: {kind: HelmRepository, name: "+s.pick("oci", "charts")+
				"}, valuesFiles: "+s.pick("null", "[prod.yaml]", "[values.yaml, prod.yaml]", "[values.yaml]")+"}}}}")
		},
		func() { // a new version of the chart of shop
			s.other++
			s.line("edit chart/Chart.yaml '{version: 1.%d.0}'", s.other)
			s.line(`exec sed -i 's/log.level: [a-z]*/log.level: %s/' chart/templates/shop.yaml`, s.pick("info", "debug", "trace"))
			s.line("publish chart\npush chart\nsettle")
		},
		func() { // the tag and the version stay, and the digest moves
			s.line(`exec sed -i 's/log.level: [a-z]*/log.level: %s/' chart/templates/shop.yaml`, s.pick("warn", "error"))
			s.line("%s chart\nsettle", s.pick("push", "push", "publish"))
		},
		func() {
			s.live(`patch kubectl-patch configmap/settings '{data: {%s: edited}}'`, s.pick("greeting", "number", "added"))
		},
		func() { s.live("scale deployment/web %d", s.IntN(5)) },
		func() { s.live(`patch kubectl-edit deployment/web '{metadata: {labels: {edited: "%d"}}}'`, s.IntN(9)) },
		func() {
			s.line("helm4 upgrade --as %s --server-side=true --force-conflicts %srepo/charts/web", s.pick("helm", "helm", "deployer"), s.pick("", "--set extra=1 "))
		},
		func() {
			if !s.deleted {
				s.line("delete %s", s.pick("configmap/settings", "deployment/web"))
			}
			s.deleted = true
		},
		func() {
			if !s.drops {
				s.edit(shop, "{spec: {dependsOn: "+s.pick("null", "[{name: web}]", "[{name: web}]")+"}}")
			}
		},
		func() {
			s.edit(web, "{spec: {chart: {spec: {reconcileStrategy: "+s.pick("Revision", "ChartVersion", "null")+"}}}}")
		},
		func() {
			s.line("exec rm -f repo/.sourceignore\nexec sh -c 'echo %s > repo/.sourceignore'", s.pick("none", "/charts/web/prod.yaml", "*.md"))
		},
		func() { // edits of the HelmRelease that Git does not know of
			s.line("patch %s helmreleases.helm.toolkit.fluxcd.io/web '{spec: %s}'", s.pick("flux", "kubectl", "kubectl-edit", "kubectl-patch"),
				s.pick("{suspend: true}", "{suspend: null}", "{values: {added: 1}}", "{values: {replicas: 4}}", "{timeout: 3m}"))
		},
		func() {
			s.line(`patch %s configmap/web-values '{data: {size: "%d", other: x}}'`, s.pick("kubectl", "kubectl-edit"), s.IntN(9))
		},
	}
}

// newTreeScript returns the script of a seed, with the files of a script that exists.
func newTreeScript(seed uint64, files []txtar.File) []byte {
	s := &treeScript{fluxScript: fluxScript{Rand: rand.New(rand.NewPCG(seed, 12))}}
	s.line("# Seed %d of TestFluxTree.\npublish chart\npush chart\ncreate flux live.yaml\nrepository\nsettle", seed)
	s.line("freeze\npredict web shop\nmerge")
	for range fluxMerges {
		s.line("\nfreeze")
		if s.IntN(12) == 0 { // everything goes, and comes back
			s.line("exec mv repo/clusters/prod/apps.yaml apps.yaml\npredict web shop\nmerge\n")
			s.line("freeze\nexec mv apps.yaml repo/clusters/prod/apps.yaml")
		} else {
			edits := s.treeEdits()
			for range 1 + s.IntN(3) {
				edits[s.IntN(len(edits))]()
			}
		}
		s.line("predict web shop\nmerge")
	}
	return txtar.Format(&txtar.Archive{Comment: []byte(s.script.String()), Files: files})
}

// fluxTreeScripts returns the scripts of testdata/flux/tree and random ones. All have the files of tree.txtar.
func fluxTreeScripts(t *testing.T) (out []string) {
	t.Helper()
	const dir, base = "testdata/flux/tree", "testdata/flux/tree/tree.txtar"
	tree, err := txtar.ParseFile(base)
	must(t, err)
	files := slices.DeleteFunc(tree.Files, func(f txtar.File) bool { return strings.HasPrefix(f.Name, "want") })
	made := t.TempDir()
	write := func(name string, text []byte) {
		file := filepath.Join(made, name)
		must(t, os.WriteFile(file, text, 0o600))
		out = append(out, file)
	}
	all, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	must(t, err)
	for _, name := range all {
		if name == base {
			out = append(out, name)
			continue
		}
		script, err := txtar.ParseFile(name)
		must(t, err)
		script.Files = slices.Concat(files, script.Files)
		write(filepath.Base(name), txtar.Format(script))
	}
	for i := range uint64(*fluxTrees) {
		write(fmt.Sprintf("tree-seed-%d.txtar", *fluxSeed+i), newTreeScript(*fluxSeed+i, files))
	}
	return out
}
