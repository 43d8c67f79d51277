package fleet

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmdrift/helmdrift/internal/output/layout"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// leave adds a ConfigMap with the annotations of a release, and lets edit change its metadata.
func (s *server) leave(namespace, name, of string, edit func(metadata map[string]any)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add("ConfigMap", namespace, name, map[string]any{"app.kubernetes.io/managed-by": "Helm"}, map[string]any{"k": "1"})
	metadata := s.objects[collection("ConfigMap", namespace)+"/"+name]["metadata"].(map[string]any)
	metadata["annotations"].(map[string]any)["meta.helm.sh/release-name"] = of
	if edit != nil {
		edit(metadata)
	}
}

// annotate returns an edit that adds an annotation.
func annotate(name, value string) func(map[string]any) {
	return func(metadata map[string]any) { metadata["annotations"].(map[string]any)[name] = value }
}

// elsewhere stores a record in a ConfigMap, of a release in another namespace.
func (s *server) elsewhere(storage, name, namespace string) {
	s.store(storage, name, 1, "deployed", configMap("something"), namespace)
	s.mu.Lock()
	defer s.mu.Unlock()
	at := "/sh.helm.release.v1." + name + ".v1"
	record := s.objects[collection("Secret", storage)+at]
	delete(s.objects, collection("Secret", storage)+at)
	text, _ := base64.StdEncoding.DecodeString(record["data"].(map[string]any)["release"].(string))
	record["kind"], record["data"] = "ConfigMap", map[string]any{"release": string(text)}
	s.objects[collection("ConfigMap", storage)+at] = record
}

// flux marks an object as helm-controller does.
func flux(metadata map[string]any) {
	metadata["labels"].(map[string]any)["helm.toolkit.fluxcd.io/name"] = "gone"
}

// TestOrphans looks for orphans beside a release web in namespace prod, whose manifest has ConfigMap web in revision 3.
func TestOrphans(t *testing.T) {
	base := func(s *server) {
		s.store("prod", "web", 1, "superseded", configMap("web", "first", "both"))
		s.store("prod", "web", 2, "superseded", configMap("web", "both", "second"))
		s.install("prod", "web", "1")
		s.store("prod", "web", 3, "deployed", configMap("web"))
		s.store("prod", "web", 1, "superseded", configMap("web", "first", "both")) // install has written another one
	}
	for name, c := range map[string]struct {
		setup     func(s *server)
		selection Selection
		all       bool
		// want has a line for each orphan, and for each error of the scan.
		want string
	}{
		"nothing left": {},
		"dropped, with the last revision that had it": {
			setup: func(s *server) {
				s.leave("prod", "first", "web", nil)
				s.leave("prod", "both", "web", nil)
			},
			want: "both: revision 2 (superseded) had it last\nfirst: revision 1 (superseded) had it last\n",
		},
		"in no stored revision": {
			setup: func(s *server) { s.leave("prod", "copy", "web", nil) },
			want:  "copy: no stored revision has it\n",
		},
		"kept": {
			setup: func(s *server) { s.leave("prod", "second", "web", annotate("helm.sh/resource-policy", " Keep ")) },
			want:  "second: revision 2 (superseded) had it last; kept: helm.sh/resource-policy\n",
		},
		"made by a controller": {
			setup: func(s *server) {
				s.leave("prod", "second", "web", func(m map[string]any) { m["ownerReferences"] = []any{map[string]any{"kind": "Deployment"}} })
			},
		},
		"being deleted": {
			setup: func(s *server) {
				s.leave("prod", "second", "web", func(m map[string]any) { m["deletionTimestamp"] = "2026-11-20T10:00:00Z" })
			},
		},
		"taken over by an Application": {
			setup: func(s *server) {
				s.leave("prod", "second", "web", annotate("argocd.argoproj.io/tracking-id", "shop:/ConfigMap:prod/second"))
			},
		},
		"with the mark of another object": {
			setup: func(s *server) {
				s.leave("prod", "second", "web", annotate("argocd.argoproj.io/tracking-id", "shop:/ConfigMap:prod/web"))
			},
			want: "second: revision 2 (superseded) had it last\n",
		},
		"taken over by a Kustomization": {
			setup: func(s *server) {
				s.leave("prod", "second", "web", func(m map[string]any) { m["labels"].(map[string]any)["kustomize.toolkit.fluxcd.io/name"] = "apps" })
			},
		},
		"in the manifest of another release": {
			setup: func(s *server) {
				s.store("prod", "api", 1, "deployed", configMap("second"))
				s.leave("prod", "second", "web", nil)
			},
		},
		"created by the failed last revision": {
			setup: func(s *server) {
				s.store("prod", "web", 4, "failed", configMap("web", "fourth"))
				s.leave("prod", "fourth", "web", nil)
			},
		},
		"created by an earlier failed revision": {
			setup: func(s *server) {
				s.store("prod", "web", 4, "failed", configMap("web", "fourth"))
				s.store("prod", "web", 5, "failed", configMap("web"))
				s.leave("prod", "fourth", "web", nil)
			},
			want: "fourth: revision 4 (failed) had it last\n",
		},
		"of a release that is being deployed": {
			setup: func(s *server) {
				s.store("prod", "web", 4, "pending-upgrade", configMap("web"))
				s.leave("prod", "second", "web", nil)
			},
		},
		"of a release without records": {
			setup: func(s *server) { s.leave("prod", "old", "gone", nil) },
			want:  "old: the release has no records\n",
		},
		"of a release without records in a namespace that was not searched": {
			setup:     func(s *server) { s.leave("prod", "old", "gone", annotate("meta.helm.sh/release-namespace", "other")) },
			selection: Selection{Namespace: "prod"},
		},
		"of an uninstalled release": {
			setup: func(s *server) {
				s.store("prod", "gone", 1, "superseded", configMap("old"))
				s.store("prod", "gone", 2, "uninstalled", configMap("other"))
				s.leave("prod", "old", "gone", nil)
			},
			want: "old: the release was uninstalled; revision 1 (superseded) had it last\n",
		},
		"of a release that another driver stores": {
			setup: func(s *server) {
				s.leave("prod", "old", "elsewhere", nil)
				s.mu.Lock()
				defer s.mu.Unlock()
				s.add("ConfigMap", "prod", "sh.helm.release.v1.elsewhere.v1",
					map[string]any{"owner": "helm", "name": "elsewhere", "version": "1", "status": "deployed"}, nil)
			},
		},
		"beside a release of the same name": {
			setup: func(s *server) {
				s.leave("prod", "old", "gone", nil)
				s.install("other", "gone", "1")
			},
			want: "old: the release has no records\n",
		},
		"of a release whose records are elsewhere, with another driver": {
			setup: func(s *server) {
				s.leave("prod", "old", "gone", nil)
				s.elsewhere("flux-system", "gone", "prod")
			},
		},
		"of a release whose records are elsewhere, which was not searched": {
			setup: func(s *server) {
				s.leave("prod", "old", "gone", nil)
				s.store("flux-system", "gone", 1, "deployed", configMap("something"), "prod")
			},
			selection: Selection{Namespace: "prod"},
		},
		"of a release of Flux, and too many have its name": {
			setup: func(s *server) {
				s.leave("prod", "old", "gone", flux)
				for n := range maxSameName + 1 {
					s.store(fmt.Sprintf("n%d", n), "gone", 1, "deployed", configMap("something"))
				}
			},
			selection: Selection{Namespace: "prod"},
			all:       true,
			want: "! it is not known whether listed objects of release gone in namespace prod are orphans: its records may be in another " +
				"namespace, and too many releases have its name\n",
		},
		"of a release of Flux, and the role may not look elsewhere": {
			setup: func(s *server) {
				s.leave("prod", "old", "gone", flux)
				s.refuse = func(path string) int {
					if path == "/api/v1/secrets" {
						return http.StatusForbidden
					}
					return 0
				}
			},
			selection: Selection{Namespace: "prod"},
			all:       true,
			want: "! it is not known whether listed objects of release gone in namespace prod are orphans: its records may be in another " +
				"namespace, and the role may not list those of all namespaces\n",
		},
		"of no release, and the role may not look elsewhere": {
			setup: func(s *server) {
				s.leave("prod", "old", "gone", nil)
				s.refuse = func(path string) int {
					if path == "/api/v1/secrets" || path == "/api/v1/configmaps" {
						return http.StatusForbidden
					}
					return 0
				}
			},
			selection: Selection{Namespace: "prod"},
			all:       true,
			want:      "old: the release has no records\n",
		},
		"of a release of Flux, beside one of the same name that was compared": {
			setup: func(s *server) {
				s.leave("prod", "old", "gone", flux)
				s.store("flux-system", "gone", 1, "deployed", configMap("something"))
			},
			want: "old: the release has no records\n",
		},
		"of a release whose record lacks its labels": {
			setup: func(s *server) {
				s.leave("prod", "old", "unlabelled", nil)
				s.store("prod", "unlabelled", 1, "deployed", configMap("old"))
				s.mu.Lock()
				defer s.mu.Unlock()
				record := s.objects[collection("Secret", "prod")+"/sh.helm.release.v1.unlabelled.v1"]
				delete(record["metadata"].(map[string]any), "labels")
			},
		},
		"of a release with a document that cannot be read": {
			setup: func(s *server) {
				s.store("prod", "web", 3, "deployed", configMap("web")+"---\n{")
				s.leave("prod", "second", "web", nil)
			},
		},
		"unrecorded, and the other driver has a release of the same name": {
			setup: func(s *server) {
				s.leave("prod", "copy", "web", nil)
				s.leave("prod", "first", "web", nil)
				s.mu.Lock()
				defer s.mu.Unlock()
				s.add("ConfigMap", "prod", "sh.helm.release.v1.web.v1", map[string]any{"owner": "helm", "name": "web", "version": "1"}, nil)
			},
			want: "first: revision 1 (superseded) had it last\n",
		},
		"of a release that was not selected": {
			setup: func(s *server) {
				s.install("prod", "api", "1")
				s.leave("prod", "old", "api", nil)
			},
			selection: Selection{Exclude: regexp.MustCompile("^api$")},
		},
		"of no release, whose name was not selected": {
			setup:     func(s *server) { s.leave("prod", "old", "gone", nil) },
			selection: Selection{Names: []string{"web"}},
			all:       true,
		},
		"a record that cannot be read": {
			setup: func(s *server) {
				s.leave("prod", "first", "web", nil)
				s.refuse = func(path string) int {
					if strings.HasSuffix(path, "web.v2") {
						return http.StatusForbidden
					}
					return 0
				}
			},
			want: "first: revision 1 (superseded) had it last; revision 2 could not be read: get Secret prod/sh.helm.release.v1.web.v2: " +
				"/api/v1/namespaces/prod/secrets/sh.helm.release.v1.web.v2\n",
		},
		"a list that is refused": {
			setup: func(s *server) {
				s.leave("prod", "first", "web", nil)
				s.refuse = func(path string) int {
					if path == "/api/v1/configmaps" {
						return http.StatusForbidden
					}
					return 0
				}
			},
			all:  true,
			want: "! cannot list configmaps in all namespaces: /api/v1/configmaps\n",
		},
		"another driver's records that may not be listed": {
			setup: func(s *server) {
				s.leave("prod", "old", "gone", nil)
				listed := 0
				s.refuse = func(path string) int {
					switch path {
					case "/api/v1/configmaps":
						return http.StatusForbidden
					case "/api/v1/namespaces/prod/configmaps":
						if listed++; listed > 1 { // the first list has the objects
							return http.StatusForbidden
						}
					}
					return 0
				}
			},
			selection: Selection{Namespace: "prod"},
			all:       true,
			want: "! it is not known whether listed objects of release gone in namespace prod are orphans: find releases: " +
				"list configmaps in namespace prod: /api/v1/namespaces/prod/configmaps (reading a release needs the verbs list and get on configmaps " +
				"in namespace prod; see what you may do there with: kubectl auth can-i list configmaps -n prod)\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &server{}
			base(s)
			if c.setup != nil {
				c.setup(s)
			}
			source := s.connect(t)
			found, err := source.Find(t.Context(), c.selection)
			if err != nil {
				t.Fatal(err)
			}
			out, err := source.Compare(t.Context(), found, Options{AllOrphans: c.all})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, o := range out.Orphans {
				_, said := layout.Style{}.Orphan(o, false)
				got += o.Name + ": " + said + "\n"
			}
			for _, e := range out.Errors {
				got += "! " + e.Message + "\n"
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestOrphansWhileDeploying changes a release after it was found: what it dropped may be deleted in the next moment.
func TestOrphansWhileDeploying(t *testing.T) {
	s := &server{}
	s.install("prod", "web", "1")
	s.leave("prod", "dropped", "web", nil)
	source := s.connect(t)
	found, err := source.Find(t.Context(), Selection{})
	if err != nil {
		t.Fatal(err)
	}
	s.store("prod", "web", 2, "deployed", configMap("web"))
	s.install("prod", "new", "1")
	out, err := source.Compare(t.Context(), found, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Orphans) > 0 {
		t.Errorf("%v", out.Orphans)
	}
}

// TestOrphansCostNoRequest scans releases without orphans. Each record is read once, and the records and the ConfigMaps are listed once.
func TestOrphansCostNoRequest(t *testing.T) {
	requests := map[string]int{}
	s := &server{refuse: func(path string) int {
		if strings.Contains(path, "secrets") || strings.Contains(path, "configmaps") {
			requests[path]++
		}
		return 0
	}}
	want := map[string]int{"/api/v1/secrets": 1, "/api/v1/configmaps": 1}
	for n := range 12 {
		namespace, name := fmt.Sprintf("n%d", n%4), fmt.Sprintf("r%02d", n)
		s.install(namespace, name, "1")
		want["/api/v1/namespaces/"+namespace+"/secrets/sh.helm.release.v1."+name+".v1"] = 1
	}
	scan(t, s.connect(t), Options{})
	if diff := cmp.Diff(want, requests); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestOverlaps looks at who claims the objects of releases.
func TestOverlaps(t *testing.T) {
	s := &server{}
	s.install("prod", "a", "1")
	s.install("prod", "b", "1")
	s.store("prod", "c", 1, "deployed", configMap("a", "c"))
	s.leave("prod", "c", "c", annotate("argocd.argoproj.io/tracking-id", "team_shop:/ConfigMap:prod/c"))
	s.store("prod", "d", 1, "deployed", configMap("d", "e"))
	s.leave("prod", "d", "b", nil)
	s.leave("prod", "e", "nobody", nil) // there is no such release
	// A record that was copied into another namespace is the same release.
	s.store("other", "copied", 1, "deployed", strings.ReplaceAll(configMap("x"), "{name: x}", "{name: x, namespace: prod}"))
	source := s.connect(t)
	found, err := source.Find(t.Context(), Selection{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := source.Compare(t.Context(), found, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range out.Overlaps {
		text := o.Name + ":"
		for _, claim := range o.Claims {
			text += fmt.Sprintf(" %s %s/%s by %s", claim.Kind, claim.Namespace, claim.Name, claim.By)
		}
		got = append(got, text)
	}
	want := []string{
		"a: Release prod/a by manifest Release prod/c by manifest",
		"c: Release prod/c by manifest Application team/shop by mark",
		"d: Release prod/b by mark Release prod/d by manifest",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestCandidateOf checks which objects are orphans unless a manifest has them, and that hostile metadata is none.
func TestCandidateOf(t *testing.T) {
	for name, metadata := range map[string]any{
		"nothing":           nil,
		"a text":            "x",
		"no annotations":    map[string]any{"name": "a"},
		"one annotation":    map[string]any{"annotations": map[string]any{"meta.helm.sh/release-name": "web"}},
		"a number":          map[string]any{"annotations": map[string]any{"meta.helm.sh/release-name": int64(1), "meta.helm.sh/release-namespace": "prod"}},
		"annotations, text": map[string]any{"annotations": "x"},
	} {
		if _, isCandidate := candidateOf(map[string]any{"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata}); isCandidate {
			t.Errorf("%s: it is a candidate", name)
		}
	}
}

// TestClaimsIgnoreGroups checks that an object of a manifest is not an orphan at another group, such as an Ingress that moved.
func TestClaimsIgnoreGroups(t *testing.T) {
	c := newClaims()
	c.claim(object.Key{Group: "extensions", Kind: "Ingress", Namespace: "prod", Name: "web"})
	annotations := map[string]any{"meta.helm.sh/release-name": "web", "meta.helm.sh/release-namespace": "prod"}
	for _, name := range []string{"web", "other"} {
		c.see(map[string]any{"apiVersion": "networking.k8s.io/v1", "kind": "Ingress",
			"metadata": map[string]any{"namespace": "prod", "name": name, "annotations": annotations}})
	}
	left := c.candidates()[object.ReleaseName{Namespace: "prod", Name: "web"}]
	if len(left) != 1 || left[0].Name != "other" {
		t.Errorf("%v", left)
	}
}

// TestClaimsKnowHooks checks that neither a hook nor an object with a generated name is an orphan of its release.
func TestClaimsKnowHooks(t *testing.T) {
	c := newClaims()
	named := object.ReleaseName{Namespace: "prod", Name: "web"}
	c.releases[named] = &compared{uncompared: []report.NotCompared{
		{Kind: "Job", Name: "migrate", Reason: report.NotComparedHook}, {Kind: "Job", Namespace: "prod", Name: "once-", Reason: "generateName"},
		{Kind: "Secret", Namespace: "prod", Name: "masked", Path: "data.k", Reason: report.NotComparedMasked},
	}}
	annotations := map[string]any{"meta.helm.sh/release-name": "web", "meta.helm.sh/release-namespace": "prod"}
	for kind, names := range map[string][]string{"Job": {"migrate", "once-abcde", "left"}, "Secret": {"masked"}} {
		for _, name := range names {
			metadata := map[string]any{"namespace": "prod", "name": name, "annotations": annotations}
			if strings.HasPrefix(name, "once-") {
				metadata["generateName"] = "once-"
			}
			c.see(map[string]any{"apiVersion": "batch/v1", "kind": kind, "metadata": metadata})
		}
	}
	var left []string
	for _, found := range c.candidates()[named] {
		left = append(left, found.Name)
	}
	if len(left) != 2 {
		t.Errorf("%q", left)
	}
}

// TestSelectsName checks which releases without records count as selected.
func TestSelectsName(t *testing.T) {
	named := object.ReleaseName{Namespace: "prod", Name: "web"}
	for name, c := range map[string]struct {
		s    Selection
		want bool
	}{
		"all":      {Selection{}, true},
		"status":   {Selection{Statuses: []string{"failed"}}, true},
		"name":     {Selection{Names: []string{"web"}}, true},
		"others":   {Selection{Names: []string{"api"}}, false},
		"excluded": {Selection{Exclude: regexp.MustCompile("w")}, false},
		"shard":    {Selection{Shard: &report.Shard{Index: 1 - shardOf("test", "prod", "web", 2), Count: 2}}, false},
	} {
		if got := c.s.selectsName("test", named); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
