package gitops

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	_ "github.com/argoproj/argo-cd/v3/util/glob" // go.mod names the version whose definition is read
	_ "github.com/helmfile/helmfile/pkg/envvar"  // go.mod names the version whose types are read
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"sigs.k8s.io/yaml"
)

// moduleFile reads a file of a module.
func moduleFile(t *testing.T, module, name string) []byte {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// crdSchema is the schema of a custom resource.
type crdSchema struct {
	props      *apiextensions.JSONSchemaProps
	structural *structural.Structural
}

// applicationSchema returns the schema of Argo CD's Application.
func applicationSchema(t *testing.T) crdSchema {
	t.Helper()
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(moduleFile(t, "github.com/argoproj/argo-cd/v3", "manifests/crds/application-crd.yaml"), &crd); err != nil {
		t.Fatal(err)
	}
	out := crdSchema{props: &apiextensions.JSONSchemaProps{}}
	err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, out.props, nil)
	if err == nil {
		out.structural, err = structural.NewStructural(out.props)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// validate checks an object as the API server does, with strict validation of fields.
func (s crdSchema) validate(t *testing.T, object map[string]any) {
	t.Helper()
	plain := asJSON(t, object)
	validator, _, err := validation.NewSchemaValidator(s.props)
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range validation.ValidateCustomResource(nil, plain, validator) {
		t.Error(fault)
	}
	tracked := structural.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	for _, unknown := range pruning.PruneWithOptions(plain, s.structural, true, tracked) {
		t.Errorf("an Application has no field %s", unknown)
	}
}

// asJSON returns an object with the types of decoded JSON.
func asJSON(t *testing.T, object map[string]any) map[string]any {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// goTypes are struct types of a Go file by their names.
type goTypes map[string]*ast.StructType

// helmfileTypes returns the types of a helmfile.yaml.
func helmfileTypes(t *testing.T) goTypes {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "", moduleFile(t, "github.com/helmfile/helmfile", "pkg/state/state.go"), 0)
	if err != nil {
		t.Fatal(err)
	}
	out := goTypes{}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok {
			if body, ok := spec.Type.(*ast.StructType); ok {
				out[spec.Name.Name] = body
			}
		}
		return true
	})
	return out
}

// fields returns the types of the fields of a struct by their keys in YAML.
func (g goTypes) fields(name string) map[string]ast.Expr {
	out := map[string]ast.Expr{}
	for _, f := range g[name].Fields.List {
		tag := ""
		if f.Tag != nil {
			tag = reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("yaml")
		}
		key, options, _ := strings.Cut(tag, ",")
		if embedded, ok := f.Type.(*ast.Ident); ok && options == "inline" {
			for key, inner := range g.fields(embedded.Name) {
				out[key] = inner
			}
		} else if key != "" && key != "-" {
			out[key] = f.Type
		}
	}
	return out
}

// check wants each key of a document to be a field of a struct, and its value to have the type of the field as far as that is a list, a
// text, or a struct of the same file.
func (g goTypes) check(t *testing.T, name string, document map[string]any) {
	t.Helper()
	fields := g.fields(name)
	for key, value := range document {
		if fields[key] == nil {
			t.Errorf("%s has no key %s", name, key)
			continue
		}
		g.checkValue(t, name+"."+key, fields[key], value)
	}
}

func (g goTypes) checkValue(t *testing.T, place string, typ ast.Expr, value any) {
	t.Helper()
	switch typ := typ.(type) {
	case *ast.ArrayType:
		items, ok := value.([]any)
		if !ok {
			t.Errorf("%s is no list: %v", place, value)
		}
		for _, item := range items {
			g.checkValue(t, place+"[]", typ.Elt, item)
		}
	case *ast.Ident:
		_, isText := value.(string)
		if typ.Name == "string" && !isText {
			t.Errorf("%s is no text: %v", place, value)
		}
		if inner, isMap := value.(map[string]any); g[typ.Name] != nil && isMap {
			g.check(t, typ.Name, inner)
		}
	}
}
