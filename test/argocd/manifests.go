package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"

	controller "github.com/argoproj/argo-cd/v3/controller"
	"github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v3/reposerver/apiclient"
	"github.com/argoproj/argo-cd/v3/reposerver/repository"
	"github.com/argoproj/argo-cd/v3/util/argo"
	"github.com/argoproj/argo-cd/v3/util/git"
	utilio "github.com/argoproj/argo-cd/v3/util/io"

	"github.com/argoproj/argo-cd/gitops-engine/v3/pkg/sync/hook"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// order is an Application to render. All its sources are in one folder, whatever their addresses are.
type order struct {
	Root, Revision  string
	Name, Namespace string
	Project         string
	Sources         []v1alpha1.ApplicationSource
	KubeVersion     string
	APIVersions     []string
	ClusterScoped   []schema.GroupKind
	Tracking, Label string
	InstallationID  string
	// BuildOptions are the flags of "kustomize build".
	BuildOptions string
}

// answer has the objects of the Application, without hooks, or why there are none.
type answer struct {
	Objects []*unstructured.Unstructured
	Error   string `json:",omitempty"`
}

// newManifests returns the command manifests. It reads orders, and writes an answer for each.
func newManifests() *cobra.Command {
	return &cobra.Command{RunE: func(*cobra.Command, []string) error {
		return answerAll(func(o order) answer {
			objects, err := o.render(context.Background())
			if err != nil {
				return answer{Error: err.Error()}
			}
			return answer{Objects: objects}
		})
	}}
}

// answerAll reads questions from the input as JSON, and writes an answer to each.
func answerAll[Q, A any](to func(Q) A) error {
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var question Q
		if err := in.Decode(&question); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return err
		}
		if err := out.Encode(to(question)); err != nil {
			return err
		}
	}
}

// render renders the sources as the repo-server does, and completes the objects as the controller does (argo-cd v3.6.1 controller/state.go
// GetRepoObjs, CompareAppState).
func (o order) render(ctx context.Context) ([]*unstructured.Unstructured, error) {
	refs, paths := map[string]*v1alpha1.RefTarget{}, utilio.NewRandomizedTempPaths(o.Root)
	for _, s := range o.Sources {
		paths.Add(git.NormalizeGitURL(s.RepoURL), o.Root)
		if s.Ref != "" {
			refs["$"+s.Ref] = &v1alpha1.RefTarget{Repo: v1alpha1.Repository{Repo: s.RepoURL}, TargetRevision: s.TargetRevision}
		}
	}
	var all []*unstructured.Unstructured
	for i := range o.Sources {
		s := &o.Sources[i]
		if s.Ref != "" && s.Path == "" && s.Chart == "" {
			continue
		}
		made, err := repository.GenerateManifests(ctx, filepath.Join(o.Root, s.Path), o.Root, o.Revision, &apiclient.ManifestRequest{
			Repo: &v1alpha1.Repository{Repo: s.RepoURL}, Revision: o.Revision, AppLabelKey: o.Label, AppName: o.Name, Namespace: o.Namespace,
			ApplicationSource: s, KubeVersion: o.KubeVersion, ApiVersions: o.APIVersions, TrackingMethod: o.Tracking,
			HasMultipleSources: len(o.Sources) > 1, RefSources: refs, ProjectName: o.Project, InstallationID: o.InstallationID,
			KustomizeOptions: &v1alpha1.KustomizeOptions{BuildOptions: o.BuildOptions},
		}, false, git.NoopCredsStore{}, resource.MustParse("0"), paths)
		if err != nil {
			return nil, err
		}
		for _, text := range made.Manifests {
			one, err := v1alpha1.UnmarshalToUnstructured(text)
			if err != nil {
				return nil, err
			}
			all = append(all, one)
		}
	}
	tracking := argo.NewResourceTracking()
	all, _, err := controller.NormalizeTargetObjects(o.Namespace, all, o, func(u *unstructured.Unstructured) error {
		return tracking.SetAppInstance(u, o.Label, o.Name, o.Namespace, v1alpha1.TrackingMethod(o.Tracking), o.InstallationID)
	})
	return slices.DeleteFunc(all, hook.IsHook), err
}

// IsNamespaced implements kube.ResourceInfoProvider.
func (o order) IsNamespaced(kind schema.GroupKind) (bool, error) {
	return !slices.Contains(o.ClusterScoped, kind), nil
}
