package terraform

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/valuesfile"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// This file reads the arguments of a helm_release from the forms that versions 2 and 3 of the provider give them.

// Arguments are the arguments of a helm_release apart from its values. They have the names of the provider.
type Arguments struct {
	Place
	Chart, Repository, Version string
	// Devel counts only without a version.
	Devel                        bool
	Username, Password           string
	CAFile, CertFile, KeyFile    string
	Keyring                      string
	Verify, PassCredentials      bool
	DependencyUpdate             bool
	CreateNamespace, SkipCRDs    bool
	Replace, UpgradeInstall      bool
	TakeOwnership, ForceUpdate   bool
	ResetValues, ReuseValues     bool
	DisableWebhooks, RecreatePod bool
	Atomic                       bool
	// PostRenderer is a program, and its arguments. It is empty if there is none.
	PostRenderer []string
}

// arguments are the arguments in the JSON of a plan, with what the plan marks as not known and as sensitive. Each mark is true, or has the
// form of what it marks.
type arguments struct {
	now                map[string]any
	unknown, sensitive any
}

// markAt returns the marks of the value at a path. The steps are strings and ints. A mark above the value is a mark of it.
func markAt(marks any, path ...any) any {
	for _, step := range path {
		if _, isWhole := marks.(bool); isWhole {
			return marks
		}
		marks, _ = valuesfile.ValueAt(marks, []any{step})
	}
	return marks
}

// marked reports whether the value at a path is marked as a whole.
func marked(marks any, path ...any) bool { return markAt(marks, path...) == true }

// holdsMark reports whether a value is marked, or any value in it.
func holdsMark(marks any) bool {
	switch m := marks.(type) {
	case bool:
		return m
	case map[string]any:
		for _, below := range m {
			if holdsMark(below) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(m, holdsMark)
	}
	return false
}

// errType returns the error of an argument of another type than the provider gives it.
func errType(name string) error {
	return fmt.Errorf("its argument %s has another type than the Helm provider gives it", name)
}

// argument returns an argument of a type, or the zero value if it is not set.
func argument[T any](in map[string]any, name string) (T, error) {
	value, isType := in[name].(T)
	if in[name] != nil && !isType {
		return value, errType(name)
	}
	return value, nil
}

// changed returns the names of what is not as before, apart from what the provider only reports about a revision.
func (a arguments) changed(before arguments) (out []string) {
	for _, name := range object.SortedKeys(a.now) {
		if !slices.Contains([]string{"id", "metadata"}, name) && !reflect.DeepEqual(a.now[name], before.now[name]) {
			out = append(out, name)
		}
	}
	marks, _ := a.unknown.(map[string]any)
	for _, name := range object.SortedKeys(marks) {
		if !slices.Contains([]string{"id", "metadata"}, name) && !slices.Contains(out, name) && holdsMark(marks[name]) {
			out = append(out, name)
		}
	}
	return out
}

// place returns where the release is, and its revision as the plan saw it. Both are empty without arguments.
func (a arguments) place() (out Place, revision int, err error) {
	if out.Name, err = argument[string](a.now, "name"); err != nil {
		return out, 0, err
	}
	if out.Namespace, err = argument[string](a.now, "namespace"); err != nil {
		return out, 0, err
	}
	isName := out.Name == "" || len(validation.IsDNS1123Subdomain(out.Name)) == 0
	if isNamespace := out.Namespace == "" || len(validation.IsDNS1123Label(out.Namespace)) == 0; !isName || !isNamespace {
		return Place{}, 0, errors.New("its name or its namespace is none that Kubernetes allows")
	}
	metadata, _ := a.now["metadata"].(map[string]any)
	if list, isList := a.now["metadata"].([]any); isList && len(list) > 0 { // version 2 of the provider
		metadata, _ = list[0].(map[string]any)
	}
	number, err := argument[float64](metadata, "revision")
	return out, int(number), err
}

// read returns the arguments, and adds to a release what is not known of them.
func (a arguments) read(r *Release) (out Arguments, err error) {
	for _, name := range []string{"name", "namespace"} {
		if marked(a.unknown, name) {
			return out, hint.New(fmt.Errorf("its %s is known only after the apply", name), "apply first what makes it, with -target")
		}
	}
	if out.Place, _, err = a.place(); err != nil {
		return out, err
	}
	texts := map[string]*string{
		"chart": &out.Chart, "repository": &out.Repository, "version": &out.Version,
		"repository_username": &out.Username, "repository_password": &out.Password, "repository_ca_file": &out.CAFile,
		"repository_cert_file": &out.CertFile, "repository_key_file": &out.KeyFile, "keyring": &out.Keyring,
	}
	for _, name := range object.SortedKeys(texts) {
		if *texts[name], err = argument[string](a.now, name); err != nil {
			return out, err
		}
	}
	flags := map[string]*bool{
		"devel": &out.Devel, "verify": &out.Verify, "pass_credentials": &out.PassCredentials, "dependency_update": &out.DependencyUpdate,
		"create_namespace": &out.CreateNamespace, "skip_crds": &out.SkipCRDs, "replace": &out.Replace, "upgrade_install": &out.UpgradeInstall,
		"take_ownership": &out.TakeOwnership, "force_update": &out.ForceUpdate, "reset_values": &out.ResetValues,
		"reuse_values": &out.ReuseValues, "disable_webhooks": &out.DisableWebhooks, "recreate_pods": &out.RecreatePod,
		"atomic": &out.Atomic,
	}
	for _, name := range object.SortedKeys(flags) {
		if *flags[name], err = argument[bool](a.now, name); err != nil {
			return out, err
		}
	}
	if out.PostRenderer, err = a.postRenderer(); err != nil {
		return out, err
	}
	if out.Name == "" {
		return out, errors.New("it has no name")
	}
	a.addUnknown(r, append(object.SortedKeys(flags), object.SortedKeys(texts)...))
	return out, nil
}

// addUnknown says which arguments of some names are not known.
func (a arguments) addUnknown(r *Release, names []string) {
	slices.Sort(names)
	for _, name := range append(names, "postrender") {
		switch {
		case !holdsMark(markAt(a.unknown, name)):
		case name == "version":
			r.Notes = append(r.Notes, "the version of the chart is known only after the apply: the latest one is compared")
		default:
			r.Lacks = append(r.Lacks, "its argument "+name+" is known only after the apply")
		}
	}
}

// postRenderer returns the program and its arguments. Version 2 of the provider has a list of blocks, and version 3 an object.
func (a arguments) postRenderer() ([]string, error) {
	value := a.now["postrender"]
	if list, isList := value.([]any); isList {
		if value = nil; len(list) > 0 {
			value = list[0]
		}
	}
	if value == nil {
		return nil, nil
	}
	of, isObject := value.(map[string]any)
	program, isText := of["binary_path"].(string)
	if !isObject || of["binary_path"] != nil && !isText {
		return nil, errType("postrender")
	}
	if program == "" {
		return nil, nil
	}
	given, err := argument[[]any](of, "args")
	out := []string{program}
	for _, arg := range given {
		text, isText := arg.(string)
		if arg != nil && !isText {
			return nil, errType("postrender")
		}
		if arg != nil || a.isVersion3() { // version 2 leaves out nulls
			out = append(out, text)
		}
	}
	return out, err
}

// isVersion3 reports whether version 3 of the provider made the plan. Earlier ones have lists of blocks, and these two are always there.
func (a arguments) isVersion3() bool {
	_, hasPostRender := a.now["postrender"].([]any)
	_, hasMetadata := a.now["metadata"].([]any)
	return !hasPostRender && !hasMetadata
}

// checkWriteOnly says what becomes of set_wo, which no plan has. The provider sends it only when set_wo_revision grows
// (terraform-provider-helm v3.1.2 helm/resource_helm_release.go Create, Update).
func (a arguments) checkWriteOnly(r *Release, before arguments) error {
	now, err := argument[float64](a.now, "set_wo_revision")
	if err != nil {
		return err
	}
	was, err := argument[float64](before.now, "set_wo_revision")
	if err != nil {
		return err
	}
	if marked(a.unknown, "set_wo_revision") {
		now = math.Inf(1)
	}
	isNew := r.Change == Creates || r.Change == Replaces || r.Change == ReplaceLast
	switch {
	case now == 0, r.Change == Leaves:
	case isNew || now > was:
		r.addWhole("set_wo is write-only, so no plan has its values")
	default:
		r.Notes = append(r.Notes, "set_wo_revision does not grow, so the provider does not send the values of set_wo: the upgrade loses them")
	}
	r.WriteOnly = now > 0
	return nil
}

// besideWritten returns the composed values as JSON if set_wo may have given the release others, which no plan has. Otherwise it returns
// nil.
func (a arguments) besideWritten() []byte {
	if revision, err := argument[float64](a.now, "set_wo_revision"); err != nil || revision == 0 {
		return nil
	}
	var r Release
	if r.compose(a) != nil {
		return []byte("{}")
	}
	return r.Values
}

// addWhole adds what is not known, and may be any part of the values.
func (r *Release) addWhole(what string) {
	r.Unknown, r.Whole = append(r.Unknown, what), true
}

// addSecrets adds the texts that are marked as sensitive, of the arguments that a chart or a message may show.
func (r *Release) addSecrets(a arguments) {
	for _, name := range object.SortedKeys(a.now) {
		mark := markAt(a.sensitive, name)
		if name == "set_sensitive" || name == "repository_password" {
			mark = true
		}
		items, _ := a.now[name].([]any)
		switch name {
		case "values":
			for i, document := range items {
				if text, isText := document.(string); isText && marked(mark, i) {
					r.addDocument(text)
				}
			}
		case "set", "set_list", "set_sensitive":
			for i, entry := range items {
				if of, isObject := entry.(map[string]any); isObject && holdsMark(markAt(mark, i, "value")) {
					r.addSecret(lastStep(of["name"]), of["value"])
					e := setEntry{isOld: !a.isVersion3()}
					e.name, _ = of["name"].(string)
					e.kind, _ = of["type"].(string)
					r.addSet(e, of["value"])
				}
			}
		case "chart", "repository", "version":
			if holdsMark(mark) {
				r.addSecret("sensitive", a.now[name]) // under its own name, an address without a login would be public
			}
		case "repository_username", "repository_password", "postrender":
			if holdsMark(mark) {
				r.addSecret(name, a.now[name])
			}
		}
	}
}

// addSet adds the texts that the chart gets of a sensitive entry. They differ from the value if that has backslashes, commas or braces.
func (r *Release) addSet(e setEntry, value any) {
	set, found := map[string]any{}, Release{}
	err := e.setOne(set, value, false)
	if _, isList := value.([]any); isList {
		err = e.setList(set, value, nil)
	}
	if err != nil {
		return // compose says so
	}
	found.addSecret("", set)
	for _, s := range found.Secrets {
		if s.Text != "" && !slices.Contains(r.Secrets, s) {
			r.Secrets = append(r.Secrets, s)
		}
	}
}

// lastStep returns the last key of the name of a value such as a.b[0].
func lastStep(name any) string {
	text, _ := name.(string)
	text = text[strings.LastIndexByte(text, '.')+1:]
	key, _, _ := strings.Cut(text, "[")
	return key
}

// addSecret adds every text and number of a value under a name.
func (r *Release) addSecret(name string, value any) {
	switch v := value.(type) {
	case string:
		r.Secrets = append(r.Secrets, Secret{name, v})
	case float64:
		r.Secrets = append(r.Secrets, Secret{name, strconv.FormatFloat(v, 'f', -1, 64)})
	case []any:
		for _, below := range v {
			r.addSecret(name, below)
		}
	case map[string]any:
		for _, key := range object.SortedKeys(v) {
			r.addSecret(key, v[key])
		}
	}
}
