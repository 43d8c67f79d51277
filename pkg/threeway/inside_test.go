package threeway

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmdrift/helmdrift/internal/tokens"
	"github.com/helmdrift/helmdrift/pkg/cluster"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// TestInsideOfMaskedObjects: a snapshot has tokens instead of secrets, but its report says the same about the inside of values.
func TestInsideOfMaskedObjects(t *testing.T) {
	for _, file := range caseFiles(t, "inside-*.txtar") {
		in := caseInput(t, readCase(t, file))
		c := Compare(in)
		masker := tokens.NewMasker(c.secrets(), nil)
		masked := func(objects []object.Object) []object.Object {
			var out []object.Object
			for _, o := range objects {
				o.Content = masker.Object(o.Group, o.Kind, o.Content)
				out = append(out, o)
			}
			return out
		}
		saved := in
		saved.OldObjects, saved.DesiredObjects = masked(in.OldObjects), masked(in.DesiredObjects)
		saved.Live = map[object.Ref]cluster.Live{}
		for ref, l := range in.Live {
			saved.Live[ref] = cluster.Live{Object: masker.Object(ref.Group, ref.Kind, l.Object)}
		}
		want, got := describeInside(c, Mask{}), describeInside(Compare(saved), Mask{})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-live +snapshot):\n%s", file, diff)
		}
	}
}

// TestInsideOfShownSecrets: with --show-secrets the entries of a Secret are compared too, as they are without base64.
func TestInsideOfShownSecrets(t *testing.T) {
	in := caseInput(t, readCase(t, "../../testdata/threeway/inside-secret.txtar"))
	got := describeInside(Compare(in), Mask{Show: true})
	if !strings.HasPrefix(got, `Secret s data.other: nothing
Secret s data["app.yaml"]: yaml
  {"path":"level","change":"changed","cause":"drift","old":"info","desired":"info","live":"debug"}
`) {
		t.Errorf("got %s", got)
	}
}
