package deployer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// Reader reads objects of the cluster. A drift.Cluster is one.
type Reader interface {
	Read(ctx context.Context, wanted []object.Ref) map[object.Ref]cluster.Live
}

// ErrAbsent is the error of an object that does not exist.
var ErrAbsent = errors.New("it does not exist")

// TitleOf names an object in messages.
func TitleOf(kind, namespace, name string) string { return kind + " " + namespace + "/" + name }

// Tool is a tool that has objects in the cluster.
type Tool struct {
	// Name is its name, and Kinds is what "kubectl get crd" shows if its kinds are missing.
	Name, Kinds string
}

// Read reads one object into out. The error names the object; it wraps ErrAbsent if there is none.
func (t Tool) Read(ctx context.Context, from Reader, ref object.Ref, out any) error {
	title := TitleOf(ref.Kind, ref.Namespace, ref.Name)
	found := from.Read(ctx, []object.Ref{ref})[ref]
	switch {
	case found.Err != nil:
		return fmt.Errorf("reading %s: %s", title, found.Err.Message)
	case found.Object == nil && found.Absence == cluster.AbsentKind:
		return hint.New(fmt.Errorf("%s: the cluster has no kind %s of %s/%s", title, ref.Kind, ref.Group, ref.Version),
			"kubectl get crd shows "+t.Kinds)
	case found.Object == nil:
		return fmt.Errorf("%s: %w", title, ErrAbsent)
	}
	return t.Decode(found.Object, title, out)
}

// Decode decodes an object into out. The title names it in the error.
func (t Tool) Decode(o map[string]any, title string, out any) error {
	text, err := json.Marshal(o)
	if err == nil {
		err = json.Unmarshal(text, out)
	}
	if err != nil {
		return fmt.Errorf("%s has a field of another type than %s gives it", title, t.Name)
	}
	return nil
}
