package api

import (
	"cmp"
	"context"
	"encoding/json"
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
	Spec struct {
		SyncWindows        []window       `json:"syncWindows"`
		SourceRepos        []string       `json:"sourceRepos"`
		Destinations       []Destination  `json:"destinations"`
		ClusterWhitelist   []restriction  `json:"clusterResourceWhitelist"`
		ClusterBlacklist   []restriction  `json:"clusterResourceBlacklist"`
		NamespaceWhitelist *[]restriction `json:"namespaceResourceWhitelist"`
		NamespaceBlacklist []restriction  `json:"namespaceResourceBlacklist"`
		Accounts           []account      `json:"destinationServiceAccounts"`
		// SourceNamespaces are those besides the one of Argo CD that its Applications may be in.
		SourceNamespaces []string `json:"sourceNamespaces"`
		// SignatureKeys and SourceIntegrity say whose signatures commits need.
		SignatureKeys   []json.RawMessage `json:"signatureKeys"`
		SourceIntegrity json.RawMessage   `json:"sourceIntegrity"`
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

// ReadProject reads the AppProject of an Application, with what the global projects of argocd-cm add to it. It is in the namespace of Argo
// CD.
func ReadProject(ctx context.Context, from deployer.Reader, a *Application, s Settings) (*project, error) {
	in := []string{s.Namespace}
	if s.Namespace == "" {
		in = slices.Compact([]string{a.Metadata.Namespace, "argocd"})
	}
	for _, namespace := range in {
		var out project
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

// globalProject names a project that adds to the projects with some labels (argo-cd v3.6.1 util/settings/settings.go
// GlobalProjectSettings).
type globalProject struct {
	ProjectName   string               `json:"projectName"`
	LabelSelector metav1.LabelSelector `json:"labelSelector"`
}

// addGlobal adds what global projects say (argo-cd v3.6.1 util/argo/argo.go GetGlobalProjects, mergeVirtualProject). The first one that is
// not there or whose selector is broken ends the list.
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

// Rejects returns why Argo CD neither compares nor syncs an Application, or "": what it says is not valid, or the project does not permit
// it (argo-cd v3.6.1 controller/appcontroller.go refreshAppConditions, util/argo/argo.go GetAppProject, ValidatePermissions).
func (p *project) Rejects(a *Application, s Settings) string {
	if reason := a.invalid(); reason != "" {
		return reason
	}
	own := a.Metadata.Namespace
	permits := func(pattern string) bool { return MatchesGlob(pattern, own) || matchesExpression(pattern, own) }
	if s.Namespace != "" && own != s.Namespace && !slices.ContainsFunc(p.Spec.SourceNamespaces, permits) {
		return fmt.Sprintf("sourceNamespaces of AppProject %s do not permit Applications in namespace %s", a.Project(), own)
	}
	for _, s := range a.Sources() {
		if !p.permitsSource(s.RepoURL) && !a.isAccepted(s) {
			return fmt.Sprintf("AppProject %s does not permit the repository %s, "+
				"unless a Secret of Argo CD says that the repository belongs to that project", a.Project(), s.RepoURL)
		}
	}
	if namespace := a.Spec.Destination.Namespace; !p.permitsNamespace(namespace) {
		return fmt.Sprintf("AppProject %s does not permit the destination, namespace %q of this cluster", a.Project(), namespace)
	}
	return ""
}

// isAccepted reports whether the controller has compared the Application with this source. Secrets, which helmdrift does not read, may
// permit more than the project (argo-cd v3.6.1 util/argo/argo.go GetAppProjectByName).
func (a *Application) isAccepted(s Source) bool {
	is := a.Status.Sync
	compared := append([]Source{is.ComparedTo.Source}, is.ComparedTo.Sources...)
	return (is.Status == "Synced" || is.Status == "OutOfSync") &&
		slices.ContainsFunc(compared, func(was Source) bool { return was.RepoURL == s.RepoURL })
}

// Verifies reports whether a sync fails unless commits of the sources have been signed (argo-cd v3.6.1 controller/state.go
// CompareAppState).
func (p *project) Verifies(a *Application) bool {
	return (len(p.Spec.SignatureKeys) > 0 || IsSet(p.Spec.SourceIntegrity)) &&
		slices.ContainsFunc(a.Sources(), func(s Source) bool { return s.Chart == "" })
}

// invalid returns what Argo CD does not accept in the sources or the destination of an Application, or "".
func (a *Application) invalid() string {
	for _, s := range a.Sources() {
		switch {
		case s.RepoURL == "" || s.Path == "" && s.Chart == "" && (s.Ref == "" || len(a.Spec.Sources) == 0):
			return "a source needs a repoURL, and a path or a chart"
		case s.Chart != "" && s.TargetRevision == "":
			return "the chart " + s.Chart + " needs a targetRevision"
		}
	}
	switch d := a.Spec.Destination; {
	case d.Server != "" && d.Name != "":
		return "the destination has both a server and a name"
	case d.Server == "" && d.Name == "":
		return "the destination has no server"
	}
	return ""
}

// matchesExpression reports whether a text matches a regular expression between slashes.
func matchesExpression(pattern, text string) bool {
	inner, begins := strings.CutPrefix(pattern, "/")
	inner, ends := strings.CutSuffix(inner, "/")
	if !begins || !ends || inner == "" {
		return false
	}
	compiled, err := regexp.Compile(inner)
	return err == nil && compiled.MatchString(text)
}

// Forbids returns why the project does not let an Application write some objects, or "".
func (p *project) Forbids(a *Application, s Settings, objects []object.Object) string {
	if s.impersonates && !p.hasAccount(a.Spec.Destination.Namespace, s.impersonatesAlways) {
		return fmt.Sprintf("Argo CD syncs as a service account, and AppProject %s names none for namespace %q of this cluster",
			a.Project(), a.Spec.Destination.Namespace)
	}
	for _, o := range objects {
		if o.Name == "" && o.GenerateName == "" {
			continue
		}
		switch {
		case !p.permits(o):
			return fmt.Sprintf("AppProject %s does not permit %s, so a sync fails before it writes anything", a.Project(), o.Key)
		case o.Namespace != "" && !p.permitsNamespace(o.Namespace):
			return fmt.Sprintf("AppProject %s does not permit objects in namespace %s, so a sync fails before it writes anything",
				a.Project(), o.Namespace)
		}
	}
	return ""
}

// hasAccount reports whether Argo CD finds an account to sync to a namespace of this cluster with: the first that matches. If it need not
// always have one, its own counts (argo-cd v3.6.1 util/settings/impersonation.go DeriveServiceAccountToImpersonate, controller/sync.go
// SyncAppState).
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
