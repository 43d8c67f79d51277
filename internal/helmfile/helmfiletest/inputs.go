package helmfiletest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// This file reads the helmfiles of helmfile's own integration tests.

// Input is a helmfile of these tests, and how to call helmfile with it.
type Input struct {
	// Name is its path and its environment. File is its path in a copy, which is a folder if that has several helmfiles.
	Name, File, Environment string
	// Set are values for its templates, as NAME=VALUE.
	Set []string
}

// Integration is the folder test/integration of helmfile's source, without the scripts that run its tests.
type Integration struct {
	// Folder is its path, and Charts is the address where Served is served.
	Folder, Charts string
}

// Env are variables that the helmfiles read.
func (i Integration) Env() []string {
	return []string{"ISSUE_1172_BUZZ=example.com/web", "HTTP_SERVER_URL=" + i.Charts}
}

// Inputs returns all files with releases or nested helmfiles, once for each environment that a file has and a script of the tests names.
func (i Integration) Inputs() (out []Input, err error) {
	seen := map[string]bool{}
	err = filepath.WalkDir(filepath.Join(i.Folder, "test-cases"), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.Contains(d.Name(), ".yaml") {
			return err
		}
		text, err := os.ReadFile(name)
		inside, _ := filepath.Rel(i.Folder, name)
		isHelmfile := bytes.Contains(append([]byte("\n"), text...), []byte("\nreleases:")) || bytes.Contains(append([]byte("\n"), text...), []byte("\nhelmfiles:"))
		if dir := filepath.Dir(inside); filepath.Base(dir) == "helmfile.d" {
			inside = dir
		}
		if err != nil || !isHelmfile || strings.Contains(inside, "/output/") || seen[inside] {
			return err
		}
		seen[inside] = true
		environments := []string{""}
		for _, e := range []string{"dev", "direct", "reverse", "test", "karma"} {
			if bytes.Contains(text, []byte("\n  "+e+":")) || e == "dev" && strings.Contains(inside, "v1-subhelmfile") {
				environments = append(environments, e)
			}
		}
		var set []string
		for _, value := range []string{"foo=bar", "grafanaEnabled=true", "ns=from-the-command-line"} {
			if name, _, _ := strings.Cut(value, "="); bytes.Contains(text, []byte(".Values."+name)) || strings.Contains(inside, "state-values-set") {
				set = append(set, value)
			}
		}
		for _, e := range environments {
			title, _ := filepath.Rel("test-cases", inside)
			out = append(out, Input{Name: strings.TrimSuffix(title+" "+e, " "), File: inside, Environment: e, Set: set})
		}
		return nil
	})
	return out, err
}

// Copy copies the folder. Its repositories become the one at Charts.
func (i Integration) Copy(to string) error {
	if err := os.CopyFS(to, os.DirFS(i.Folder)); err != nil {
		return err
	}
	repository := regexp.MustCompile(`url: "?https://[^ \n]*`)
	return filepath.WalkDir(to, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return errors.Join(err, os.Chmod(name, 0o755)) // the module cache has them read-only
		}
		mode := fs.FileMode(0o644)
		if strings.HasSuffix(name, "sh") {
			mode = 0o755
		}
		text, err := os.ReadFile(name)
		if err == nil {
			err = os.Chmod(name, mode)
		}
		if err == nil && strings.Contains(filepath.Base(name), ".yaml") {
			err = os.WriteFile(name, repository.ReplaceAll(text, []byte("url: "+i.Charts)), mode)
		}
		return err
	})
}

// Served returns what is at Charts: a repository where each chart that the helmfiles name is the chart raw with other names and versions,
// and values files. Path is that of the address, and ref is its parameter of that name. It returns nil if nothing is there.
func (i Integration) Served(path, ref string) ([]byte, error) {
	var index strings.Builder
	index.WriteString("apiVersion: v1\nentries:\n")
	for _, of := range []string{
		"raw 0.1.0 0.2.3", "nginx 13.2.27", "elasticsearch 7.17.3 8.5.1 19.0.1", "azuredisk-csi-driver v1.23.0",
		"ingress-nginx 4.8.3 4.9.0 4.11.2", "importvalues 0.1.0", "kube-prometheus-stack 15.4.6", "rook-ceph 1.12.3", "vector 0.40.0",
		"grafana 3.2.9",
	} {
		words := strings.Fields(of)
		fmt.Fprintf(&index, "  %s:\n", words[0])
		for _, version := range words[1:] {
			file := words[0] + "-" + version + ".tgz"
			fmt.Fprintf(&index, "  - {apiVersion: v2, name: %s, version: %s, urls: [%s]}\n", words[0], version, file)
			if path == "/"+file {
				return packed(filepath.Join(i.Folder, "charts", "raw"), words[0], version)
			}
		}
	}
	switch {
	case path == "/index.yaml":
		return []byte(index.String()), nil
	case strings.HasSuffix(path, "/values.yaml/raw"):
		return fmt.Appendf(nil, "templates:\n- |\n  apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: \"{{ .Release.Name }}\"}\n  data: {ref: %q}\n", ref), nil
	}
	return nil, nil
}

// resources is a template of the public chart incubator/raw, which the chart raw of the tests does not have.
const resources = "{{ if kindIs \"slice\" .Values.resources }}{{ range .Values.resources }}\n---\n{{ toYaml . }}\n{{ end }}{{ end }}\n"

// packed returns the archive of a chart under another name, with that template.
func packed(chart, name, version string) ([]byte, error) {
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	archive := tar.NewWriter(zip)
	err := filepath.WalkDir(chart, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(file)
		inside, _ := filepath.Rel(chart, file)
		if inside == "Chart.yaml" {
			text = []byte("apiVersion: v2\nname: " + name + "\nversion: " + version + "\n")
		}
		err = errors.Join(err, archive.WriteHeader(&tar.Header{Name: name + "/" + filepath.ToSlash(inside), Mode: 0o644, Size: int64(len(text))}))
		_, failed := archive.Write(text)
		return errors.Join(err, failed)
	})
	err = errors.Join(err, archive.WriteHeader(&tar.Header{Name: name + "/templates/more.yaml", Mode: 0o644, Size: int64(len(resources))}))
	_, failed := archive.Write([]byte(resources))
	err = errors.Join(err, failed, archive.Close(), zip.Close())
	return out.Bytes(), err
}
