package jobs

import (
	"bytes"
	"encoding/gob"
	"log"
	"reflect"
	"slices"
	"testing"

	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/drift"
	"github.com/helmdrift/helmdrift/pkg/render"
)

// TestEverythingCrosses checks that orders and answers lose no field on their way between the processes.
func TestEverythingCrosses(t *testing.T) {
	// Each field has a namesake.
	request := reflect.TypeFor[drift.ChartRequest]()
	for _, f := range reflect.VisibleFields(reflect.TypeFor[render.ChartOptions]()) {
		if _, crosses := request.FieldByName(f.Name); !crosses {
			t.Errorf("render.ChartOptions.%s does not reach the child", f.Name)
		}
	}
	// The child makes these itself.
	made := []string{
		"render.ValueOptions.helm4", "render.ValueOptions.known", "render.ValueOptions.ReadFile",
		"drift.ChartRequest.ReadFile", "drift.ChartRequest.Lookup", "drift.ChartRequest.PostRender",
	}
	seen := map[reflect.Type]bool{}
	var check func(reflect.Type)
	check = func(typ reflect.Type) {
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			check(typ.Elem())
		case reflect.Interface:
			t.Errorf("gob cannot carry %s as it is", typ)
		case reflect.Struct:
			if seen[typ] || reflect.PointerTo(typ).Implements(reflect.TypeFor[gob.GobEncoder]()) {
				return
			}
			seen[typ] = true
			for i := range typ.NumField() {
				f := typ.Field(i)
				if name := typ.String() + "." + f.Name; slices.Contains(made, name) {
					continue
				} else if !f.IsExported() || f.Type.Kind() == reflect.Func {
					t.Errorf("%s would not cross", name)
					continue
				}
				check(f.Type)
			}
		}
	}
	check(reflect.TypeFor[chartOrder]())
	check(reflect.TypeFor[postOrder[string]]())
	check(reflect.TypeFor[chartAnswer]())
	check(reflect.TypeFor[manifestAnswer]())
}

// TestWriter checks that the writer removes secrets that become known during the writing.
func TestWriter(t *testing.T) {
	var k secret.Known
	var out bytes.Buffer
	logger := log.New(LogWriter(&k, &out), "", 0)
	logger.Printf("value (map[password:early-canary])")
	k.Add("late-canary")
	logger.Printf("value (%s)", "late-canary")
	if got, want := out.String(), "value (map[password:***\nvalue (***)\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
