package snapshot

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chartutil"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
	"github.com/helmdrift/helmdrift/pkg/release"
)

// validate checks what a comparison relies on. A cluster always satisfies it.
func (s *Snapshot) validate() error {
	switch {
	case chartutil.ValidateReleaseName(s.Release) != nil:
		return errors.New("its release has no valid name")
	case s.Namespace == "":
		return errors.New("it has no namespace")
	case len(s.Records.Entries) == 0 || len(s.Records.Revisions) == 0:
		return errors.New("it has no release record")
	}
	if err := s.Records.validate(); err != nil {
		return err
	}
	if s.Server.Problem == "" {
		if _, err := chartutil.ParseKubeVersion(s.Server.Version); err != nil {
			return errors.New("its server.version is not a version of Kubernetes")
		}
	}
	seen := map[object.Ref]bool{}
	for i, o := range s.Objects {
		if seen[o.ref()] {
			return fmt.Errorf("objects[%d] is there twice", i)
		}
		seen[o.ref()] = true
		if err := o.validate(); err != nil {
			return fmt.Errorf("objects[%d] %w", i, err)
		}
	}
	for i, d := range s.Definitions {
		if len(d.Object) > 0 {
			if _, err := decode(d.Object); err != nil {
				return fmt.Errorf("definitions[%d].object %w", i, err)
			}
		}
	}
	for i, l := range s.Lists {
		for j, item := range l.Items {
			if _, err := decode(item); err != nil {
				return fmt.Errorf("lists[%d].items[%d] %w", i, j, err)
			}
		}
	}
	return nil
}

// These are the largest text of a manifest, and the most documents in it. Records have 1 MiB at most, and rarely reach a tenth.
const (
	maxText      = 32 << 20
	maxDocuments = 100_000
)

// validate checks the records: the revisions are in order, each once, and those that were read are in the list.
func (r Records) validate() error {
	last := 0
	for i, e := range r.Entries {
		if e.Revision < 1 || e.Revision < last {
			return fmt.Errorf("records.entries[%d] is out of order", i)
		}
		last = e.Revision
	}
	last = 0
	for i, revision := range r.Revisions {
		listed := slices.ContainsFunc(r.Entries, func(e Entry) bool { return e.Revision == revision.Revision })
		if !listed || revision.Revision <= last {
			return fmt.Errorf("records.revisions[%d] is not in the list of records, or out of order", i)
		}
		last = revision.Revision
		if _, known := release.ParseApplyMethod(revision.ApplyMethod); !known {
			return fmt.Errorf("records.revisions[%d].applyMethod is not known", i)
		}
		if revision.Namespace == "" {
			return fmt.Errorf("records.revisions[%d] has no namespace", i)
		}
		if text := revision.Text; text != nil && (len(*text) > maxText || strings.Count(*text, "\n---") > maxDocuments) {
			return fmt.Errorf("records.revisions[%d].manifestText is too long", i)
		}
	}
	return nil
}

// ref returns the object that was asked for.
func (o Object) ref() object.Ref {
	return object.Ref{Key: object.Key{Group: o.Group, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}, Version: o.Version}
}

// validate checks that there is one answer, and that an object is the one that was asked for, as pkg/live does with a server's answers.
func (o Object) validate() error {
	switch cluster.Absence(o.Absence) {
	case "", cluster.AbsentObject, cluster.AbsentNamespace, cluster.AbsentKind:
	default:
		return errors.New("has an absence that is not known")
	}
	if o.Kind == "" || o.Version == "" || o.Name == "" {
		return errors.New("has no kind, version or name")
	}
	if len(o.Object) == 0 {
		if o.Absence == "" && o.Error == nil {
			return errors.New("has no answer")
		}
		return nil
	}
	content, err := decode(o.Object)
	if err != nil {
		return fmt.Errorf("has an object that %w", err)
	}
	metadata := object.Child(content, "metadata")
	if content["kind"] != o.Kind || metadata["name"] != o.Name {
		return errors.New("holds another object")
	}
	return nil
}

// decode returns an object as the API server's answers are decoded: integers are int64, other numbers float64.
func decode(text []byte) (map[string]any, error) {
	var out map[string]any
	if err := utiljson.Unmarshal(text, &out); err != nil || out == nil {
		return nil, errors.New("is not a map")
	}
	return out, nil
}
