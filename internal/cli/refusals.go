package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/internal/hint"
)

// This file says which flags cannot be used with something that decides itself what they say, such as the object of a controller, a plan or
// a helmfile.

// Refusal is why some flags cannot be used.
type Refusal struct {
	Flags  []string
	Advice string
}

// Refuse returns an error if one of the flags is set together with what is named.
func Refuse(flags *pflag.FlagSet, all []Refusal, with string) error {
	for _, refused := range all {
		for _, flag := range refused.Flags {
			if flags.Changed(flag) {
				return hint.New(fmt.Errorf("--%s cannot be used with %s", flag, with), refused.Advice)
			}
		}
	}
	return nil
}

// Without returns refusals without some flags.
func Without(all []Refusal, flags []string) []Refusal {
	out := slices.Clone(all)
	for i := range out {
		out[i].Flags = slices.DeleteFunc(slices.Clone(out[i].Flags), func(flag string) bool { return slices.Contains(flags, flag) })
	}
	return out
}

// DecidedBy returns the flags about the values and about the way of Helm, which something decides. Installs says how.
func DecidedBy(what, installs string) []Refusal {
	return []Refusal{
		{[]string{"values", "set", "set-string", "set-json", "set-file", "set-literal", "reset-values", "reuse-values",
			"reset-then-reuse-values"}, "the values are those of the " + what},
		{[]string{"install", "skip-crds", "create-namespace", "helm-version", "server-side", "force-conflicts", "force", "force-replace",
			"take-ownership", "no-hooks", "enable-dns", "skip-schema-validation", "post-renderer", "post-renderer-args"},
			"the " + what + " says how " + installs},
	}
}

// OwnPassword returns the flags with a password of the user, which no source of a tree or of a fleet gets: whoever may write a source
// chooses its server.
func OwnPassword() Refusal {
	return Refusal{[]string{"username", "password", "pass-credentials"},
		"each source chooses the server that would get them; " +
			"log in with helm, or for Flux, --with-source-credentials uses the Secrets of the sources"}
}

// ObjectWords are the words for an object that a controller deploys a release from.
type ObjectWords struct {
	// Kinds are the words in front of a slash, those of kubectl. The shortest is first.
	Kinds []string
	// GVK is the kind for the API server.
	GVK schema.GroupVersionKind
	// One is the kind, and Controller the name of who deploys. Lists is a command that lists the objects.
	One, Controller, Lists string
	// Sync is a command that makes the controller write, if there is no release that helmdrift could fix. It is empty if there is one.
	Sync string
	// Builds is set if its sources may be kustomizations, so that bases are fetched without a working tree, too.
	Builds bool
	// NotOfTree are flags about a working tree that are about other objects alone.
	NotOfTree []Refusal
}

// CheckRelease returns an error if there is no release of Helm behind an object that fix, absorb or snapshot is called for.
func (w ObjectWords) CheckRelease(args []string) error {
	if w.Sync == "" {
		return nil
	}
	_, name, _ := strings.Cut(args[0], "/")
	return hint.New(fmt.Errorf("%s deploys an %s without a release of Helm, and helmdrift only compares it", w.Controller, w.One),
		w.Sync+" "+name+" puts back what helmdrift diff "+args[0]+" shows")
}

// Decides returns the flags about what the object decides itself.
func (w ObjectWords) Decides() []Refusal {
	revisions := "it shows what " + w.Controller + " does next"
	if w.Sync == "" {
		revisions += "; for a stored revision, name the release: helmdrift diff RELEASE"
	}
	return append([]Refusal{{[]string{"revision", "to-revision"}, revisions}}, DecidedBy(w.One, w.Controller+" installs and upgrades")...)
}

// CheckOne refuses flags with the object that the arguments name, and what needs a release. It returns the name of the object.
func (w ObjectWords) CheckOne(o *ControllerOptions, args []string, flags *pflag.FlagSet, refused []Refusal) (name string, err error) {
	_, name, _ = strings.Cut(args[0], "/")
	ofTree := *o
	ofTree.RemoteBases = o.RemoteBases && !w.Builds
	withoutTree := ofTree.CheckTree(flags)
	switch {
	case o.Next:
		return "", fmt.Errorf("--next compares every %s, and %s names one: leave out one of the two", w.One, args[0])
	case o.Changed != "":
		return "", fmt.Errorf("--only-changed chooses from all HelmReleases of a tree, and %s is one", args[0])
	case withoutTree != nil:
		return "", withoutTree
	case o.From != "" && len(args) > 1:
		return "", hint.New(errors.New("--from takes no CHART"), "the chart is the one of the "+w.One+" in the tree")
	case name == "":
		return "", hint.New(fmt.Errorf("%s names no %s", args[0], w.One), w.Lists+" lists them")
	case strings.Contains(name, ","):
		return "", fmt.Errorf("%s/NAME is one %s: name several one by one", w.Kinds[0], w.One)
	case strings.Contains(name, "/"):
		return "", hint.New(fmt.Errorf("%s has two slashes", args[0]), "the namespace of the "+w.One+" is -n NAMESPACE")
	}
	if err := Refuse(flags, refused, args[0]); err != nil {
		return "", err
	}
	if o.From != "" {
		if err := Refuse(flags, []Refusal{OwnPassword()}, "--from"); err != nil {
			return "", err
		}
	}
	for _, flag := range []string{"version", "repo", "verify", "devel"} {
		if flags.Changed(flag) && len(args) < 2 {
			return "", hint.New(fmt.Errorf("--%s needs a CHART", flag), "without CHART, the chart is the one of the "+w.One)
		}
	}
	return name, nil
}
