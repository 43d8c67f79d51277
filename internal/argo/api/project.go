package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/helmdrift/helmdrift/internal/deployer"
	"github.com/helmdrift/helmdrift/pkg/object"
)

// project is an AppProject: when its Applications are synced, and what they may write where (argo-cd v3.6.1
// pkg/apis/application/v1alpha1/app_project_types.go). It permits no cluster-scoped object that it does not name.
type project struct {
	Metadata struct {
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
	// namespace is that of the project, and so of Argo CD.
	namespace string
	Spec      struct {
		SourceNamespaces   []string       `json:"sourceNamespaces"`
		SyncWindows        []window       `json:"syncWindows"`
		SourceRepos        []string       `json:"sourceRepos"`
		Destinations       []Destination  `json:"destinations"`
		ClusterWhitelist   []restriction  `json:"clusterResourceWhitelist"`
		ClusterBlacklist   []restriction  `json:"clusterResourceBlacklist"`
		NamespaceWhitelist *[]restriction `json:"namespaceResourceWhitelist"`
		NamespaceBlacklist []restriction  `json:"namespaceResourceBlacklist"`
		Accounts           []account      `json:"destinationServiceAccounts"`
	} `json:"spec"`
}

// account is the account that Argo CD syncs with where it impersonates one.
type account struct {
	Server    string `json:"server"`
	Namespace string `json:"namespace"`
	Name      string `json:"defaultServiceAccount"`
}

// restriction names kinds, with patterns.
type restriction struct {
	Group string `json:"group"`
	Kind  string `json:"kind"`
	Name  string `json:"name"`
}

// Project returns the name of the AppProject.
func (a *Application) Project() string { return cmp.Or(a.Spec.Project, "default") }

// ReadProject reads the AppProject of an Application, with what the global projects of argocd-cm add to it. It is in the namespace of Argo CD.
func ReadProject(ctx context.Context, from deployer.Reader, a *Application, s Settings) (*project, error) {
	namespaces := slices.Compact([]string{a.Metadata.Namespace, "argocd"})
	if s.Namespace != "" {
		namespaces = []string{s.Namespace}
	}
	for _, namespace := range namespaces {
		out := project{namespace: namespace}
		err := tool.Read(ctx, from, RefTo("AppProject", namespace, a.Project()), &out)
		if err == nil {
			err = out.addGlobal(ctx, from, namespace, a.Project(), s.globals)
		}
		if err == nil || !errors.Is(err, deployer.ErrAbsent) {
			return &out, err
		}
	}
	return nil, fmt.Errorf("AppProject %s of %s: %w", a.Project(), a.Title(), deployer.ErrAbsent)
}

// globalProject names a project that adds to the projects with some labels (argo-cd v3.6.1 util/settings/settings.go GlobalProjectSettings).
type globalProject struct {
	ProjectName   string               `json:"projectName"`
	LabelSelector metav1.LabelSelector `json:"labelSelector"`
}

// addGlobal adds what global projects say (argo-cd v3.6.1 util/argo/argo.go GetGlobalProjects, mergeVirtualProject). The first one that is not there
// or whose selector is broken ends the list.
func (p *project) addGlobal(ctx context.Context, from deployer.Reader, namespace, name string, all []globalProject) error {
	for _, g := range all {
		selector, err := metav1.LabelSelectorAsSelector(&g.LabelSelector)
		if err != nil {
			return nil //nolint:nilerr // Argo CD goes on without it
		}
		if g.ProjectName == name || !selector.Matches(labels.Set(p.Metadata.Labels)) {
			continue
		}
		var other project
		if err := tool.Read(ctx, from, RefTo("AppProject", namespace, g.ProjectName), &other); errors.Is(err, deployer.ErrAbsent) {
			return nil
		} else if err != nil {
			return err
		}
		is, more := &p.Spec, &other.Spec
		is.SyncWindows = append(is.SyncWindows, more.SyncWindows...)
		is.SourceRepos = append(is.SourceRepos, more.SourceRepos...)
		is.Destinations = append(is.Destinations, more.Destinations...)
		is.ClusterWhitelist = append(is.ClusterWhitelist, more.ClusterWhitelist...)
		is.ClusterBlacklist = append(is.ClusterBlacklist, more.ClusterBlacklist...)
		is.NamespaceBlacklist = append(is.NamespaceBlacklist, more.NamespaceBlacklist...)
		is.Accounts = append(is.Accounts, more.Accounts...)
		if is.NamespaceWhitelist == nil {
			is.NamespaceWhitelist = more.NamespaceWhitelist
		} else if more.NamespaceWhitelist != nil {
			*is.NamespaceWhitelist = append(*is.NamespaceWhitelist, *more.NamespaceWhitelist...)
		}
	}
	return nil
}

// Forbids returns why the project does not let an Application write some objects, or "".
func (p *project) Forbids(a *Application, s Settings, objects []object.Object) string {
	if !p.permitsFrom(a.Metadata.Namespace) {
		return fmt.Sprintf("AppProject %s does not permit Applications in namespace %s (sourceNamespaces)", a.Project(), a.Metadata.Namespace)
	}
	if s.impersonates && !p.hasAccount(a.Spec.Destination.Namespace, s.impersonatesAlways) {
		return fmt.Sprintf("Argo CD syncs as a service account, and AppProject %s names none for namespace %q of this cluster", a.Project(), a.Spec.Destination.Namespace)
	}
	for _, s := range a.Sources() {
		if !p.permitsSource(s.RepoURL) {
			return fmt.Sprintf("AppProject %s does not permit the repository %s", a.Project(), s.RepoURL)
		}
	}
	for _, o := range objects {
		if o.Name == "" && o.GenerateName == "" {
			continue
		}
		switch {
		case !p.permits(o):
			return fmt.Sprintf("AppProject %s does not permit %s, so a sync fails before it writes anything", a.Project(), o.Key)
		case o.Namespace != "" && !p.permitsNamespace(o.Namespace):
			return fmt.Sprintf("AppProject %s does not permit objects in namespace %s, so a sync fails before it writes anything", a.Project(), o.Namespace)
		}
	}
	return ""
}

// hasAccount reports whether Argo CD finds an account to sync to a namespace of this cluster with: the first that matches. If it need not
// always have one, its own counts (argo-cd v3.6.1 util/settings/impersonation.go DeriveServiceAccountToImpersonate, controller/sync.go SyncAppState).
func (p *project) hasAccount(namespace string, always bool) bool {
	for _, one := range p.Spec.Accounts {
		if MatchesGlob(one.Server, InCluster) && MatchesGlob(one.Namespace, namespace) {
			return strings.Trim(one.Name, " ") != "" && !strings.ContainsAny(one.Name, `!*[]{}\/`)
		}
	}
	return !always
}

// permits reports whether the project permits the kind of an object (IsGroupKindNamePermitted).
func (p *project) permits(o object.Object) bool {
	in := func(list []restriction) bool {
		return slices.ContainsFunc(list, func(r restriction) bool {
			return MatchesPart(r.Kind, o.Kind) && MatchesPart(r.Group, o.Group) && (r.Name == "" || MatchesPart(r.Name, o.Name))
		})
	}
	if o.Namespace != "" {
		return (p.Spec.NamespaceWhitelist == nil || in(*p.Spec.NamespaceWhitelist)) && !in(p.Spec.NamespaceBlacklist)
	}
	return in(p.Spec.ClusterWhitelist) && !in(p.Spec.ClusterBlacklist)
}

// permitsFrom reports whether Applications of the project may be in a namespace: that of Argo CD, or one that sourceNamespaces names by a
// pattern or by an expression between slashes (IsAppNamespacePermitted).
func (p *project) permitsFrom(namespace string) bool {
	return namespace == p.namespace || slices.ContainsFunc(p.Spec.SourceNamespaces, func(pattern string) bool {
		if inner, isExpression := strings.CutPrefix(pattern, "/"); isExpression && len(pattern) > 2 && strings.HasSuffix(inner, "/") {
			if matched, err := regexp.MatchString(strings.TrimSuffix(inner, "/"), namespace); err == nil && matched {
				return true
			}
		}
		return MatchesGlob(pattern, namespace)
	})
}

// permitsNamespace reports whether a destination is a namespace of this cluster (isDestinationMatched). A pattern that begins with !
// denies.
func (p *project) permitsNamespace(namespace string) bool {
	isAny := false
	for _, d := range p.Spec.Destinations {
		server, name := matchesSigned(d.Server, InCluster), matchesSigned(d.Name, inClusterName)
		inNamespace := matchesSigned(d.Namespace, namespace)
		switch {
		case (server || name) && inNamespace:
			isAny = true
		case (!name && denies(d.Name) || !server && denies(d.Server)) && inNamespace, !inNamespace && denies(d.Namespace) && server:
			return false
		}
	}
	return isAny
}

// permitsSource reports whether the project permits a repository (IsSourcePermitted). In its patterns, * does not cross a slash, and **
// does.
func (p *project) permitsSource(url string) bool {
	isAny := false
	for _, pattern := range p.Spec.SourceRepos {
		matched := pattern == "*" || MatchesGlob(NormalURL(strings.TrimPrefix(pattern, "!")), NormalURL(url), '/')
		switch {
		case denies(pattern) && matched:
			return false
		case matched || denies(pattern):
			isAny = true
		}
	}
	return isAny
}

// denies reports whether a pattern denies what it matches.
func denies(pattern string) bool { return strings.HasPrefix(pattern, "!") }

// matchesSigned reports whether a text matches a pattern, or does not match one that denies.
func matchesSigned(pattern, text string) bool {
	if rest, found := strings.CutPrefix(pattern, "!"); found {
		return !MatchesGlob(rest, text)
	}
	return MatchesGlob(pattern, text)
}

// NormalURL returns the address of a repository as Argo CD compares it: in small letters, without .git.
func NormalURL(url string) string {
	url = strings.ToLower(strings.TrimSpace(url))
	return strings.TrimSuffix(strings.TrimSuffix(url, "/"), ".git")
}
