package source

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/pkg/util"
	kustomizetypes "sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"
	"sigs.k8s.io/yaml"

	"github.com/helmdrift/helmdrift/internal/argo/api"
	"github.com/helmdrift/helmdrift/internal/kustomize"
)

// This file builds a kustomization as the repo-server does: it changes the kustomization.yaml by "kustomize edit", and runs "kustomize
// build" (argo-cd v3.6.1 util/kustomize/kustomize.go Build, sigs.k8s.io/kustomize/kustomize v5.8.1 commands/edit). Kustomize itself is a
// library here.

// KustomizeOrder says what to build. Its fields are exported because a child process carries it out.
type KustomizeOrder struct {
	// Root is the root of the repository, and Folder is relative to it, with slashes.
	Root, Folder string
	// Source is an api.KustomizeSource as JSON.
	Source    []byte
	Variables map[string]string
	// Options are the flags of "kustomize build" in argocd-cm.
	Options string
	// FetchesBases is set if the caller fetches bases that are not in the repository.
	FetchesBases bool
}

// Kustomize returns the order to build a folder. Options are the flags of "kustomize build" in argocd-cm.
func (f *Folder) Kustomize(variables map[string]string, options string) (KustomizeOrder, error) {
	if k := f.Source.Kustomize; k != nil && k.Version != "" {
		return KustomizeOrder{}, fmt.Errorf("kustomize.version is %s: the administrator of Argo CD has added that kustomize, "+
			"which helmdrift does not run", k.Version)
	}
	folder, err := filepath.Rel(f.Root, f.Dir)
	if err != nil {
		return KustomizeOrder{}, err
	}
	out := KustomizeOrder{Root: f.Root, Folder: filepath.ToSlash(folder), Variables: variables, Options: options}
	out.Source, err = json.Marshal(f.Source.Kustomize)
	return out, err
}

// Build builds a kustomization, and returns its objects as a manifest. Fetch fetches a base and returns the folder that has it.
func (o KustomizeOrder) Build(fetch func(kustomize.Base) (string, error)) (string, error) {
	var s api.KustomizeSource
	if err := json.Unmarshal(o.Source, &s); err != nil { // null changes nothing
		return "", err
	}
	tree, err := kustomize.Open(o.Root, "")
	if err != nil {
		return "", err
	}
	defer func() { _ = tree.Close() }() // only read
	if o.Folder, err = tree.Relative(filepath.Join(tree.Dir, filepath.FromSlash(o.Folder))); err != nil {
		return "", err
	}
	bases := kustomize.Bases{}
	if o.FetchesBases {
		bases.Fetch = fetch
	}
	defer bases.Close()
	f := kustomize.NewFiles(tree, &bases, "helmdrift does not follow links in a remote base", "helmdrift runs no helm for a kustomization")
	if f.RootOnly, err = isRootOnly(o.Options); err != nil {
		return "", fmt.Errorf("kustomize.buildOptions of argocd-cm: %w", err)
	}
	f.Rewrite = withTemplateLabels
	for _, base := range konfig.RecognizedKustomizationFileNames() {
		if name := path.Join(o.Folder, base); tree.IsAbsent(name) {
			return "", tree.Why(name)
		}
	}
	name := tree.KustomizationOf(o.Folder)
	if name == "" {
		return "", fmt.Errorf("%s has no kustomization", o.Folder)
	}
	text, err := o.edited(f, name, s)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	f.Written = map[string][]byte{name: text}
	objects, origins, err := f.Run(o.Folder)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for i, r := range objects.Resources() {
		text, err := kustomize.JSONOf(r)
		if err != nil {
			return "", fmt.Errorf("%s %s: %w", r.GetKind(), r.GetName(), err)
		}
		out.WriteString("---\n")
		if !strings.ContainsAny(origins[i], "\r\n") {
			out.WriteString("# Source: " + origins[i] + "\n")
		}
		out.Write(text)
		out.WriteString("\n")
		if out.Len() > mostBytes {
			return "", errors.New("the objects are too large")
		}
	}
	return out.String(), nil
}

// templateLabels are the places of labels with includeTemplates in kustomize 5.8.3, besides that of the object itself.
var templateLabels = []kustomizetypes.FieldSpec{
	templateLabel("", "v1", "ReplicationController", "spec/template"), templateLabel("", "", "Deployment", "spec/template"),
	templateLabel("", "", "ReplicaSet", "spec/template"), templateLabel("", "", "DaemonSet", "spec/template"),
	templateLabel("apps", "", "StatefulSet", "spec/template"), templateLabel("batch", "", "Job", "spec/template"),
	templateLabel("batch", "", "CronJob", "spec/jobTemplate"), templateLabel("batch", "", "CronJob", "spec/jobTemplate/spec/template"),
}

func templateLabel(group, version, kind, template string) kustomizetypes.FieldSpec {
	return kustomizetypes.FieldSpec{
		Gvk: resid.Gvk{Group: group, Version: version, Kind: kind}, Path: template + "/metadata/labels", CreateIfNotPresent: true,
	}
}

// withTemplateLabels names the places of labels with includeTemplates in a kustomization. Kustomize 5.8.3, which Argo CD 3.6.1 has, leaves
// the volumeClaimTemplates of a StatefulSet alone, and the library of 5.8.1 does not.
func withTemplateLabels(text []byte) ([]byte, error) {
	var k kustomizetypes.Kustomization
	if !bytes.Contains(text, []byte("includeTemplates")) || k.Unmarshal(text) != nil { // kustomize says what is wrong
		return text, nil
	}
	for i := range k.Labels {
		if l := &k.Labels[i]; l.IncludeTemplates && !l.IncludeSelectors {
			l.IncludeTemplates, l.FieldSpecs = false, slices.Concat(l.FieldSpecs, templateLabels)
		}
	}
	return yaml.Marshal(k)
}

// isRootOnly reads the flags of "kustomize build", and reports whether kustomize reads only files below the folder of a kustomization. A
// kustomization that needs what other flags permit, such as helm, is refused when it is built (sigs.k8s.io/kustomize/kustomize v5.8.1
// commands/build).
func isRootOnly(options string) (bool, error) {
	rootOnly := true
	words := strings.Fields(options)
	for i := 0; i < len(words); i++ {
		name, value, hasValue := strings.Cut(words[i], "=")
		switch name {
		case "--enable-helm", "--enable-alpha-plugins", "--helm-debug":
			continue
		// The order of objects does not matter.
		case "--load-restrictor", "--reorder", "--helm-command", "--helm-kube-version", "--helm-api-versions":
		default:
			return false, fmt.Errorf("helmdrift does not know the option %s", name)
		}
		if !hasValue && i+1 < len(words) {
			i++
			value = words[i]
		}
		if name == "--load-restrictor" {
			if rootOnly = value != "LoadRestrictionsNone"; rootOnly && value != "LoadRestrictionsRootOnly" && value != "" {
				return false, fmt.Errorf("%q is no value of --load-restrictor", value)
			}
		}
	}
	return rootOnly, nil
}

// edited returns a kustomization as the repo-server has edited it.
func (o KustomizeOrder) edited(f *kustomize.Files, name string, s api.KustomizeSource) ([]byte, error) {
	text, err := f.Read(name)
	if err == nil {
		err = kustomize.CheckAliases(text)
	}
	if err != nil {
		return nil, err
	}
	e := editor{KustomizeOrder: o, files: f}
	if err := e.Unmarshal(text); err != nil {
		return nil, err
	}
	e.FixKustomization()
	e.NamePrefix, e.NameSuffix = cmp.Or(s.NamePrefix, e.NamePrefix), cmp.Or(s.NameSuffix, e.NameSuffix)
	e.Namespace = cmp.Or(s.Namespace, e.Namespace)
	e.Patches = append(e.Patches, s.Patches...)
	for _, step := range []func(api.KustomizeSource) error{e.setImages, e.setReplicas, e.addLabels, e.addAnnotations, e.addComponents} {
		if err := step(s); err != nil {
			return nil, err
		}
	}
	if err := e.CheckEmpty(); err != nil {
		return nil, err
	}
	if slices.Contains(e.BuildMetadata, kustomizetypes.ManagedByLabelOption) {
		return nil, errors.New("buildMetadata has managedByLabel, a label with the version of kustomize, which is that of your Argo CD")
	}
	return yaml.Marshal(e.Kustomization)
}

// editor edits a kustomization.
type editor struct {
	kustomizetypes.Kustomization
	KustomizeOrder
	files *kustomize.Files
}

// expand replaces the variables of the build environment.
func (e *editor) expand(text string) string { return expand(text, e.Variables) }

// checkArgument refuses an argument that "kustomize edit" takes for a flag.
func checkArgument(field, argument string) error {
	if strings.HasPrefix(argument, "-") {
		return fmt.Errorf("kustomize.%s has %q, which kustomize takes for a flag", field, argument)
	}
	return nil
}

// setImages sets images (sigs.k8s.io/kustomize/kustomize v5.8.1 commands/edit/set/setimage.go). An asterisk keeps what the kustomization
// says.
func (e *editor) setImages(s api.KustomizeSource) error {
	if len(s.Images) == 0 {
		return nil
	}
	const keep = "*"
	set := map[string]kustomizetypes.Image{}
	for _, text := range s.Images {
		text = e.expand(text)
		key, value, hasKey := strings.Cut(text, "=")
		if !hasKey {
			key, value = "", text
		}
		name, tag, digest := util.SplitImageName(value)
		if err := checkArgument("images", text); err != nil {
			return err
		}
		if name == text {
			return fmt.Errorf("kustomize.images has %q, which names no tag, digest or other image", text)
		}
		image := kustomizetypes.Image{Name: name, NewTag: tag, Digest: digest}
		if key != "" {
			image.Name, image.NewName = key, name
		}
		set[image.Name] = image
	}
	old := func(field, before string) string {
		if field == keep {
			return before
		}
		return field
	}
	for _, was := range e.Images {
		image, isSet := set[was.Name]
		if !isSet {
			set[was.Name] = was
			continue
		}
		image.NewName, image.NewTag, image.Digest = old(image.NewName, was.NewName), old(image.NewTag, was.NewTag), old(image.Digest, was.Digest)
		set[was.Name] = image
	}
	e.Images = nil
	for _, name := range slices.Sorted(maps.Keys(set)) {
		image := set[name]
		image.NewName, image.NewTag, image.Digest = old(image.NewName, ""), old(image.NewTag, ""), old(image.Digest, "")
		e.Images = append(e.Images, image)
	}
	return nil
}

// setReplicas sets replicas (sigs.k8s.io/kustomize/kustomize v5.8.1 commands/edit/set/setreplicas.go).
func (e *editor) setReplicas(s api.KustomizeSource) error {
	if len(s.Replicas) == 0 {
		return nil
	}
	set := map[string]kustomizetypes.Replica{}
	for _, r := range s.Replicas {
		count := int64(r.Count.IntVal)
		var err error
		if r.Count.Type == intstr.String {
			count, err = strconv.ParseInt(r.Count.StrVal, 10, 64)
		}
		if err != nil || strings.Contains(r.Name, "=") {
			return fmt.Errorf("kustomize.replicas has %q for %q, which is no name with a number", r.Count.String(), r.Name)
		}
		if err := checkArgument("replicas", r.Name); err != nil {
			return err
		}
		set[r.Name] = kustomizetypes.Replica{Name: r.Name, Count: count}
	}
	for _, was := range e.Replicas {
		if _, isSet := set[was.Name]; !isSet {
			set[was.Name] = was
		}
	}
	e.Replicas = nil
	for _, name := range slices.Sorted(maps.Keys(set)) {
		e.Replicas = append(e.Replicas, set[name])
	}
	return nil
}

// arguments returns labels or annotations as "kustomize edit add" reads its arguments KEY:VALUE (sigs.k8s.io/kustomize/kustomize v5.8.1
// commands/internal/util ConvertSliceToMap). If expands is set, their values can name variables.
func (e *editor) arguments(field string, from map[string]string, expands bool) (map[string]string, error) {
	out := map[string]string{}
	for name, value := range from {
		if expands {
			value = e.expand(value)
		}
		argument := name + ":" + value
		if err := checkArgument(field, argument); err != nil {
			return nil, err
		}
		key, value, _ := strings.Cut(argument, ":")
		if key == "" {
			return nil, fmt.Errorf("kustomize.%s has an empty key", field)
		}
		if len(value) >= 2 && strings.HasPrefix(value, `"`) && strings.HasSuffix(value, `"`) {
			value = value[1 : len(value)-1]
		}
		out[key] = value
	}
	return out, nil
}

// addTo adds labels or annotations to those of a kustomization.
func addTo(field string, to *map[string]string, pairs map[string]string, force bool) error {
	if *to == nil {
		*to = map[string]string{}
	}
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		if _, has := (*to)[key]; has && !force {
			return fmt.Errorf("kustomize.%s has %s, and so has the kustomization: Argo CD overwrites it only if the source says so", field, key)
		}
		(*to)[key] = pairs[key]
	}
	return nil
}

// addLabels adds labels (sigs.k8s.io/kustomize/kustomize v5.8.1 commands/edit/add/addmetadata.go).
func (e *editor) addLabels(s api.KustomizeSource) error {
	const field = "commonLabels"
	if len(s.CommonLabels) == 0 {
		return nil
	}
	pairs, err := e.arguments(field, s.CommonLabels, true)
	switch {
	case err != nil:
		return err
	case !s.LabelWithoutSelector && s.LabelIncludeTemplates:
		return errors.New("kustomize.labelIncludeTemplates needs labelWithoutSelector")
	case !s.LabelWithoutSelector:
		//lint:ignore SA1019 "kustomize edit" writes this field
		return addTo(field, &e.CommonLabels, pairs, s.ForceCommonLabels)
	}
	i := slices.IndexFunc(e.Labels, func(l kustomizetypes.Label) bool {
		return !l.IncludeSelectors && l.IncludeTemplates == s.LabelIncludeTemplates
	})
	if i < 0 {
		i, e.Labels = len(e.Labels), append(e.Labels, kustomizetypes.Label{IncludeTemplates: s.LabelIncludeTemplates})
	}
	return addTo(field, &e.Labels[i].Pairs, pairs, s.ForceCommonLabels)
}

// addAnnotations adds annotations.
func (e *editor) addAnnotations(s api.KustomizeSource) error {
	const field = "commonAnnotations"
	if len(s.CommonAnnotations) == 0 {
		return nil
	}
	pairs, err := e.arguments(field, s.CommonAnnotations, s.CommonAnnotationsEnvsubst)
	if err != nil {
		return err
	}
	return addTo(field, &e.CommonAnnotations, pairs, s.ForceCommonAnnotations)
}

// addComponents adds components. One may be a pattern (sigs.k8s.io/kustomize/kustomize v5.8.1 commands/edit/add/addcomponent.go).
func (e *editor) addComponents(s api.KustomizeSource) error {
	wanted := s.Components
	if s.IgnoreMissingComponents {
		var err error
		if wanted, err = e.firstComponent(wanted); err != nil {
			return err
		}
	}
	for _, c := range wanted {
		if err := checkArgument("components", c); err != nil {
			return err
		}
		found := []string{c}
		if !kustomize.IsRemote(c) {
			if found = e.matching(c); len(found) == 0 {
				return fmt.Errorf("kustomize.components has %s, and %w", c, e.files.Why(path.Join(e.Folder, filepath.ToSlash(c))))
			}
		}
		for _, one := range found {
			if !slices.Contains(e.Components, one) {
				e.Components = append(e.Components, one)
			}
		}
	}
	return nil
}

// firstComponent returns the first component that is a folder of the repository with a kustomization. With ignoreMissingComponents, Argo CD
// takes no pattern and no address for one, and stops at the first that it finds (argo-cd v3.6.1 util/kustomize/kustomize.go Build).
func (e *editor) firstComponent(all []string) ([]string, error) {
	for _, c := range all {
		at := path.Join(e.Folder, filepath.ToSlash(c))
		for _, base := range konfig.RecognizedKustomizationFileNames() {
			name := path.Join(at, base)
			switch isFile, _ := e.files.Kind(name); {
			case isFile:
				return []string{c}, nil
			case e.files.IsAbsent(name):
				return nil, e.files.Why(name)
			}
		}
	}
	return nil, nil
}

// matching returns the paths that match a pattern, relative to the folder of the kustomization and without hidden ones. In it, no
// asterisk crosses a slash.
func (e *editor) matching(pattern string) []string {
	if !isPattern(pattern) {
		if e.files.Has(path.Join(e.Folder, filepath.ToSlash(pattern))) {
			return []string{pattern}
		}
		return nil
	}
	if strings.HasSuffix(pattern, "/") {
		return nil // filepath.Glob finds nothing
	}
	found := []string{""}
	for step := range strings.SplitSeq(filepath.ToSlash(pattern), "/") {
		var next []string
		for _, at := range found {
			if !isPattern(step) {
				next = append(next, path.Join(at, step))
				continue
			}
			for _, name := range e.files.Names(path.Join(e.Folder, at)) {
				if api.MatchesPart(step, name) {
					next = append(next, path.Join(at, name))
				}
			}
		}
		found = next
	}
	return slices.DeleteFunc(found, func(name string) bool {
		isHidden := strings.HasPrefix(path.Base(name), ".") && !strings.HasPrefix(path.Base(pattern), ".")
		return isHidden || !e.files.Has(path.Join(e.Folder, name))
	})
}
