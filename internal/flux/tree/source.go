package tree

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/helmdrift/helmdrift/internal/worktree"
)

// liveObject is what the cluster says about an object.
type liveObject struct {
	value map[string]any
	err   error
}

// object returns an object of the tree, or that of the cluster. It returns nil if there is none.
func (b *builder) object(group, kind, namespace, name string) (map[string]any, error) {
	if value := b.objects[objectKey{group, kind, namespace, name}]; value != nil {
		return value, nil
	}
	return b.fromCluster(kind, namespace, name)
}

// fromCluster returns an object of the cluster, or nil.
func (b *builder) fromCluster(kind, namespace, name string) (map[string]any, error) {
	ref := sourceRef{kind, namespace, name}
	found, asked := b.live[ref]
	if !asked {
		found.value, found.err = b.lookup(b.ctx, kind, namespace, name)
		b.live[ref] = found
		b.answer.Asked = append(b.answer.Asked, Asked{kind, namespace, name, found.value != nil && found.err == nil})
	}
	return found.value, found.err
}

// localSource returns the folder that the user gives for a source, or "".
func (o Order) localSource(ref sourceRef) string {
	for _, s := range o.Sources {
		if s.Kind == ref.Kind && s.Namespace == ref.Namespace && s.Name == ref.Name {
			return s.Dir
		}
	}
	return ""
}

// GitRef is spec.ref of a GitRepository: what it has of a repository. A commit wins over a name, a name over a tag, a tag over versions,
// and all of them over a branch (fluxcd/pkg/git v0.52.0 gogit/client.go Clone).
type GitRef struct {
	Branch string `json:"branch"`
	Commit string `json:"commit"`
	Name   string `json:"name"`
	SemVer string `json:"semver"`
	Tag    string `json:"tag"`
}

// Fetched returns the commit or the full name of the ref, for git, or "" for a range of versions.
func (r GitRef) Fetched() string {
	switch {
	case r.Commit != "":
		return r.Commit
	case r.Name != "":
		return strings.TrimSuffix(r.Name, "^{}") // Flux takes this end for a tag without its signature
	case r.Tag != "":
		return "refs/tags/" + r.Tag
	case r.SemVer != "":
		return ""
	}
	return "refs/heads/" + cmp.Or(r.Branch, "master")
}

// pinned says what the ref names in the place of a branch, or returns "" for a branch. Which branch the tree is merged into is not known,
// so it stands for each. What is merged is in no tag and no commit that is there already.
func (r GitRef) pinned() string {
	at := cmp.Or(r.Fetched(), "the newest tag of "+r.SemVer)
	if strings.HasPrefix(at, "refs/heads/") {
		return ""
	}
	return at
}

// gitRepository is what matters of a source here.
type gitRepository struct {
	Spec struct {
		URL        string   `json:"url"`
		Ref        GitRef   `json:"ref"`
		Ignore     string   `json:"ignore"`
		Include    []any    `json:"include"`
		Submodules bool     `json:"recurseSubmodules"`
		Sparse     []string `json:"sparseCheckout"`
		Provider   string   `json:"provider"`
		Suspend    *bool    `json:"suspend"`
	} `json:"spec"`
}

// isSuspended reports whether source-controller makes no artifact of a GitRepository once Flux has applied the tree
// (fluxcd/source-controller v1.9.3 internal/controller/gitrepository_controller.go Reconcile). If the tree does not say it, spec.suspend
// stays as it is in the cluster, unless kustomize-controller alone has set it or takes it over: then it goes (fluxcd/kustomize-controller
// v1.9.4 internal/controller/kustomization_controller.go apply).
func (b *builder) isSuspended(ref sourceRef, of gitRepository) bool {
	if of.Spec.Suspend != nil {
		return *of.Spec.Suspend
	}
	var live struct {
		Metadata struct {
			ManagedFields []struct {
				Manager string `json:"manager"`
				Fields  struct {
					Spec map[string]any `json:"f:spec"`
				} `json:"fieldsV1"`
			} `json:"managedFields"`
		} `json:"metadata"`
		Spec struct {
			Suspend bool `json:"suspend"`
		} `json:"spec"`
	}
	value, err := b.fromCluster(ref.Kind, ref.Namespace, ref.Name)
	if err != nil || value == nil || decode(value, &live) != nil || !live.Spec.Suspend {
		return false
	}
	isFlux := false
	for _, entry := range live.Metadata.ManagedFields {
		if _, has := entry.Fields.Spec["f:suspend"]; !has {
			continue
		}
		if entry.Manager != "kustomize-controller" && !strings.HasPrefix(entry.Manager, "kubectl") {
			return true
		}
		isFlux = true
	}
	return !isFlux
}

// isLive reports whether the cluster has a GitRepository of the tree with the same files.
func (b *builder) isLive(ref sourceRef, of gitRepository) bool {
	var live gitRepository
	value, err := b.fromCluster(ref.Kind, ref.Namespace, ref.Name)
	if err != nil || value == nil || decode(value, &live) != nil {
		return false
	}
	of.Spec.Suspend, live.Spec.Suspend = nil, nil
	of.Spec.URL, live.Spec.URL = worktree.Repository(of.Spec.URL), worktree.Repository(live.Spec.URL)
	return reflect.DeepEqual(of, live)
}

// source returns the content of the source of a Kustomization, or says why it is not here. A problem with content is a note, or says that
// Flux does not get this content, so nothing is built of it.
func (b *builder) source(k *kustomization) (*Artifact, *Problem) {
	ref := k.Spec.SourceRef
	name := title(ref.Kind, ref.Namespace, ref.Name)
	advice := fmt.Sprintf("--local-source %s/%s/%s=FOLDER says where its content is", ref.Kind, ref.Namespace, ref.Name)
	if local := b.order.localSource(ref); local != "" {
		repository := gitRepository{}
		_ = decode(b.objects[objectKey{sourceGroup, ref.Kind, ref.Namespace, ref.Name}], &repository) // only for spec.ignore
		return b.open(k, local, repository.Spec.Ignore)
	}
	if ref.Kind != "GitRepository" {
		return nil, &Problem{Skipped, k.title(), "its source is the " + name + ", which is not the tree", advice}
	}
	value, err := b.object(sourceGroup, ref.Kind, ref.Namespace, ref.Name)
	unknown := Skipped
	switch {
	case err != nil:
		unknown = Failed // it may be the tree
	case value == nil:
		err = errors.New("neither the tree nor the cluster has it")
	}
	var repository gitRepository
	if err == nil && decode(value, &repository) != nil {
		unknown, err = Failed, errors.New("a field of it has another type than Flux gives it")
	}
	isBootstrap := ref.Namespace == "flux-system" && ref.Name == "flux-system"
	switch {
	case err != nil && isBootstrap:
		a, problem := b.open(k, b.order.Root, "")
		if problem == nil {
			problem = &Problem{Note, name, "it is taken for the tree, because \"flux bootstrap\" gives it this name: " + err.Error(), ""}
		}
		return a, problem
	case err != nil:
		return nil, &Problem{unknown, k.title(), "its source " + name + " is not known: " + err.Error(), advice}
	case !worktree.HasRemote(b.order.Remotes, repository.Spec.URL):
		where := "another repository"
		if len(b.order.Remotes) == 0 {
			where = "a repository, and the tree has no remotes to compare"
		}
		return nil, &Problem{Skipped, k.title(), "its source " + name + " is " + where, advice}
	case b.isSuspended(ref, repository):
		a, problem := b.open(k, b.order.Root, repository.Spec.Ignore)
		if problem == nil {
			problem = &Problem{Skipped, k.title(), "its source " + name + " is suspended, so it does not get what is merged", advice}
		}
		return a, problem
	case repository.Spec.Ref.pinned() != "":
		return nil, b.aboutPinned(k, repository, advice)
	case len(repository.Spec.Include) > 0:
		return nil, &Problem{Failed, k.title(), "its source " + name + " has spec.include: files of other sources are part of it", advice}
	}
	return b.open(k, b.order.Root, repository.Spec.Ignore)
}

// aboutPinned returns the problem of a Kustomization whose source is the repository of the tree, and not at a branch. A merge changes
// nothing of what it makes, unless the tree changes the source. If it builds the folder of the user, that is not what Flux deploys.
func (b *builder) aboutPinned(k *kustomization, repository gitRepository, advice string) *Problem {
	ref := k.Spec.SourceRef
	name, at := title(ref.Kind, ref.Namespace, ref.Name), repository.Spec.Ref.pinned()
	p := &Problem{Skipped, k.title(), "its source " + name + " is the tree at " + at + ", and not what is merged", advice}
	switch {
	case !b.isLive(ref, repository):
		p.Severity, p.Message = Failed, "the tree changes its source "+name+", which is then the tree at "+at+", and not what is merged"
	case k.folder() == b.folder:
		p.Severity, p.Message = Failed, "it builds this folder, and "+p.Message
	}
	return p
}

// open opens the folder of a source.
func (b *builder) open(k *kustomization, dir, ignore string) (*Artifact, *Problem) {
	a, err := b.artifact(dir, k.Spec.SourceRef.Kind, ignore)
	if err != nil {
		return nil, &Problem{Failed, k.title(), "its source cannot be read: " + err.Error(), ""}
	}
	return a, nil
}

// variablesOf returns the variables of a Kustomization: later sources win, and its own win over all (fluxcd/pkg/kustomize v1.41.0
// kustomize_varsub.go LoadVariables, SubstituteVariables).
func (b *builder) variablesOf(k *kustomization) *variables {
	vars := &variables{values: map[string]string{}}
	if k.Spec.PostBuild == nil {
		return vars
	}
	for _, from := range k.Spec.PostBuild.From {
		name := title(from.Kind, k.Metadata.Namespace, from.Name)
		if from.Kind != "ConfigMap" && from.Kind != "Secret" {
			continue // the controller passes over it, too
		}
		value, err := b.object("", from.Kind, k.Metadata.Namespace, from.Name)
		switch {
		case err != nil:
			vars.hidden = true
			b.report(Problem{NotKnown, k.title(), "its variables of " + name + " are not known: " + strings.TrimSuffix(err.Error(), "."),
				"what another source defines as well may have another value"})
			continue
		case value == nil && from.Optional:
			continue
		case value == nil:
			vars.fault = fmt.Errorf("variables come from %s, and neither the tree nor the cluster has it", name)
			return vars
		}
		values, err := variablesOf(value)
		if err != nil {
			vars.fault = fmt.Errorf("variables come from %s: %w", name, err)
			return vars
		}
		vars.add(values)
	}
	vars.add(k.Spec.PostBuild.Substitute)
	return vars
}

// Folder returns the folder with the content of a source, or "" if the tree does not have it. At is the spec.ref of a GitRepository.
func (o Order) Folder(kind, namespace, name, address string, at GitRef) string {
	local := o.localSource(sourceRef{kind, namespace, name})
	if local == "" && kind == "GitRepository" && worktree.HasRemote(o.Remotes, address) && at.pinned() == "" {
		return o.Root
	}
	return local
}

// MayNameFlux reports whether a file of the tree names Flux, or may do so. If none does, and the tree has no HelmRelease, nothing in it is
// for Flux.
func (o Order) MayNameFlux() bool {
	if o.Rendered || o.FetchesBases {
		return true
	}
	isNamed, err := worktree.Names(o.Root, "fluxcd")
	return isNamed || err != nil
}
