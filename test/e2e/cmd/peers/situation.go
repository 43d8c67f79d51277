package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/helmdrift/helmdrift/test/conformance/corpus"
	"github.com/helmdrift/helmdrift/test/e2e/harness"
)

// situation is a release that commands are asked about.
type situation struct {
	name, release, namespace string
	// major is the version of Helm that installs and upgrades.
	major string
	// chart is installed, and next is the chart of the upgrade.
	chart, next string
	about       []question
	// edit is done before the commands are asked; nil if there is none. corpus is the case whose live object is made; nil if there is none.
	edit   *edit
	corpus *corpus.Case
}

// demoChart is the chart that is edited.
const demoChart = "testdata/charts/demo"

// situations returns what is measured: first the untouched charts, then the edits, then the cases of the corpus.
func (o options) situations(dir string) ([]situation, error) {
	var list []situation
	demo := filepath.Join(o.repository, demoChart)
	for number, chart := range append([]string{demo}, o.charts...) {
		for _, major := range o.majors {
			name := harness.ReleaseName(chart)
			list = append(list, situation{name: fmt.Sprintf("helm %s, %s untouched", major, name), release: name,
				namespace: fmt.Sprintf("chart-%d", number), major: major, chart: chart, next: chart, about: []question{untouched}})
		}
	}
	for number, e := range edits() {
		for _, major := range o.majors {
			if o.edits {
				list = append(list, situation{name: fmt.Sprintf("helm %s, %s", major, e.name), release: "web", edit: &e,
					namespace: fmt.Sprintf("edit-%s-%d", major, number), major: major, chart: demo, next: demo, about: []question{edited, upgrade}})
			}
		}
	}
	cases, err := corpus.Read(filepath.Join(o.repository, "testdata/conformance"))
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(cases, func(a, b corpus.Case) int { return strings.Compare(a.Name[len("helm3"):], b.Name[len("helm3"):]) })
	for _, c := range cases[:min(len(cases), o.conformance)] {
		s := situation{name: c.Name, release: c.Release.Name, namespace: c.Release.Namespace, major: c.Helm[1:2], corpus: &c,
			about: []question{upgrade}}
		s.chart, s.next = filepath.Join(dir, c.Name, "old", s.release), filepath.Join(dir, c.Name, "desired", s.release)
		if err := writeChart(s.chart, c.Old); err != nil {
			return nil, err
		}
		if err := writeChart(s.next, c.Desired); err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// writeChart writes a chart of one object, if there is one, and of a ConfigMap that never changes, because a release without objects is
// another matter.
func writeChart(dir string, object map[string]any) error {
	if err := os.MkdirAll(filepath.Join(dir, "templates"), 0o755); err != nil {
		return err
	}
	text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: constant}\n"
	if object != nil {
		encoded, err := json.Marshal(object)
		if err != nil {
			return err
		}
		text += "---\n" + strings.ReplaceAll(string(encoded), "{{", `{{ "{{" }}`) + "\n"
	}
	if err := os.WriteFile(filepath.Join(dir, "templates/objects.yaml"), []byte(text), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "Chart.yaml"), []byte("apiVersion: v2\nname: "+filepath.Base(dir)+"\nversion: 1.0.0\n"), 0o644)
}

// prepare brings the release and its objects into the state that the commands are asked about.
func (m *measurement) prepare(ctx context.Context, s situation) error {
	if s.corpus != nil {
		if err := m.prepareCase(ctx, s); err != nil {
			return err
		}
	}
	if _, err := m.helm(ctx, s, "install", s.release, s.chart, "-n", s.namespace, "--create-namespace", "--no-hooks"); err != nil {
		return err
	}
	objects, err := m.objects(ctx, s)
	if err != nil {
		return err
	}
	m.settle(ctx, s, objects)
	switch {
	case s.edit != nil:
		err = m.apply(ctx, s, s.edit)
	case s.corpus != nil && s.corpus.Live != nil:
		err = m.put(ctx, s, &unstructured.Unstructured{Object: s.corpus.Live})
	case s.corpus != nil && s.corpus.Old != nil:
		err = m.remove(ctx, s, &unstructured.Unstructured{Object: s.corpus.Old})
	}
	if err == nil {
		m.settle(ctx, s, objects)
	}
	return err
}

func namespaceObject(name string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
	obj.SetName(name)
	return obj
}

// prepareCase makes the namespaces and the definition of a case.
func (m *measurement) prepareCase(ctx context.Context, s situation) error {
	for _, namespace := range []string{s.namespace, s.corpus.Namespace} {
		if namespace != "" {
			if err := m.ensure(ctx, s, namespaceObject(namespace)); err != nil {
				return err
			}
		}
	}
	if s.corpus.Definition == nil {
		return nil
	}
	return m.ensure(ctx, s, &unstructured.Unstructured{Object: s.corpus.Definition})
}

// clean removes the release, and what of a case Helm would leave. Namespaces stay: what Helm keeps of a chart, such as definitions of
// custom kinds, belongs to the release in that namespace, which the other Helm then installs again.
func (m *measurement) clean(ctx context.Context, s situation) {
	_, _ = m.helm(ctx, s, "uninstall", s.release, "-n", s.namespace, "--no-hooks", "--ignore-not-found")
	if s.corpus == nil {
		return
	}
	for _, object := range []map[string]any{s.corpus.Old, s.corpus.Desired, s.corpus.Live} {
		if object != nil {
			_ = m.remove(ctx, s, &unstructured.Unstructured{Object: object})
		}
	}
}
