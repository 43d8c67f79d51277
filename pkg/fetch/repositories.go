package fetch

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// repository is a chart repository that Helm knows, as helm repo add writes it (helm v3.22.0 pkg/repo/chartrepo.go Entry).
type repository struct {
	Name               string `json:"name"`
	URL                string `json:"url"`
	Username           string `json:"username"`
	Password           string `json:"password"`
	CertFile           string `json:"certFile"`
	KeyFile            string `json:"keyFile"`
	CAFile             string `json:"caFile"`
	PassCredentialsAll bool   `json:"pass_credentials_all"`
}

// repositories returns the repositories of helm repo add, or none if the file does not exist. Errors do not quote the
// file, because it contains passwords.
func (f fetcher) repositories() ([]*repository, error) {
	text, err := os.ReadFile(f.RepositoryConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, problem{message: "the list of repositories cannot be read", err: err}
	}
	var file struct {
		Repositories []*repository `json:"repositories"`
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		return nil, problem{message: fmt.Sprintf("the list of repositories, %s, cannot be read as YAML", f.RepositoryConfig)}
	}
	return slices.DeleteFunc(file.Repositories, func(r *repository) bool { return r == nil }), nil
}

// resolveURL returns the URL of a file of a repository (helm v3.22.0 pkg/repo/chartrepo.go ResolveReferenceURL).
func resolveURL(base, ref string) (string, error) {
	file, err := url.Parse(ref)
	if err != nil || file.IsAbs() {
		return ref, err
	}
	root, err := url.Parse(base)
	if err != nil {
		return "", err
	}
	root.RawPath = strings.TrimSuffix(root.RawPath, "/") + "/"
	root.Path = strings.TrimSuffix(root.Path, "/") + "/"
	resolved := root.ResolveReference(file)
	resolved.RawQuery = root.RawQuery
	return resolved.String(), nil
}
