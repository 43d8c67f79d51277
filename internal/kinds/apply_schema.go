package kinds

import (
	"bytes"
	_ "embed"
	"encoding/gob"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	smdschema "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// applySchemaFile is the schema that client-go has for server-side apply, encoded by encoding/gob. client-go itself keeps it as 430 KB of
// YAML and parses that when it is first needed (k8s.io/client-go v0.37.1 applyconfigurations/internal/internal.go Parser), which took two
// thirds of the processor time of a comparison. TestApplySchema compares the file with client-go, and "make fix" writes it again.
//
//go:embed apply_schema.gob
var applySchemaFile []byte

// registerDefaults makes the type of a default {}, as the YAML decoder of client-go returns it, known to gob. It knows the other ones.
var registerDefaults = sync.OnceFunc(func() { gob.Register(map[any]any{}) })

// applyParser returns the decoded schema.
var applyParser = sync.OnceValue(func() *typed.Parser {
	registerDefaults()
	var types []smdschema.TypeDef
	utilruntime.Must(gob.NewDecoder(bytes.NewReader(applySchemaFile)).Decode(&types))
	return &typed.Parser{Schema: smdschema.Schema{Types: types}}
})

// listMapKeysFile has the list-map keys of that schema, which name the items of a list: a line with a type, a field and its keys for each
// list that has any. Every comparison needs them, and the whole schema takes longer to decode than a small release to compare. The test and
// "make fix" are the same as for the schema.
//
//go:embed list_map_keys.txt
var listMapKeysFile string

// listField is a field with a list: the name of its type in the schema, and its own.
type listField struct{ owner, name string }

// readListMapKeys returns the list-map keys of all lists that have any.
func readListMapKeys() map[listField][]string {
	out := map[listField][]string{}
	for line := range strings.Lines(listMapKeysFile) {
		words := strings.Fields(line)
		out[listField{words[0], words[1]}] = words[2:]
	}
	return out
}

// NativeApply returns what client-go has for the server-side apply of native kinds: their scheme, without the kinds that other
// packages add to it, and their types.
var NativeApply = sync.OnceValue(func() (n struct {
	Scheme *runtime.Scheme
	Types  managedfields.TypeConverter
}) {
	n.Scheme = runtime.NewScheme()
	utilruntime.Must(clientscheme.AddToScheme(n.Scheme))
	n.Types = managedfields.NewSchemeTypeConverter(n.Scheme, applyParser())
	return n
})
