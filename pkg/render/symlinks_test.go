package render

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const onlyChart = "apiVersion: v2\nname: web\nversion: 1.0.0\n"

// entry is a file of an archive. A size above that of its text is filled with zeros.
type entry struct {
	name, text string
	size       int64
	link       string
}

// archiveOf packs a chart with entries that no packaging tool would write.
func archiveOf(t *testing.T, entries ...entry) string {
	t.Helper()
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	w := tar.NewWriter(zip)
	for _, e := range append([]entry{{name: "web/Chart.yaml", text: onlyChart}}, entries...) {
		header := &tar.Header{Name: e.name, Mode: 0o600, Size: max(e.size, int64(len(e.text))), Typeflag: tar.TypeReg}
		if e.link != "" {
			header.Typeflag, header.Linkname, header.Size = tar.TypeSymlink, e.link, 0
		}
		if err := w.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.text)); err != nil {
			t.Fatal(err)
		}
		zeros := make([]byte, 1<<20)
		for rest := header.Size - int64(len(e.text)); rest > 0; rest -= int64(len(zeros)) {
			if _, err := w.Write(zeros[:min(rest, int64(len(zeros)))]); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(w.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "web-1.0.0.tgz")
	if err := os.WriteFile(path, packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestMaliciousArchives checks that Helm's loader refuses archives that lead out of the chart or are too large, and
// that the error names the archive.
func TestMaliciousArchives(t *testing.T) {
	quiet(t)
	many := make([]entry, 30)
	for i := range many {
		many[i] = entry{name: "web/files/" + strings.Repeat("x", i+1), size: 4 << 20}
	}
	tests := map[string]struct {
		entries []entry
		want    string
	}{
		"parent directory":    {[]entry{{name: "web/../../evil.yaml", text: "a"}}, "parent directory"},
		"parent, in the name": {[]entry{{name: "web/templates/../../../evil.yaml", text: "a"}}, "parent directory"},
		"absolute path":       {[]entry{{name: "web//etc/passwd", text: "a"}}, "absolute path"},
		"backslashes":         {[]entry{{name: `web\..\..\evil.yaml`, text: "a"}}, "parent directory"},
		"drive":               {[]entry{{name: "web/c:/evil.yaml", text: "a"}}, "illegally named"},
		"outside":             {[]entry{{name: "evil.yaml", text: "a"}}, "outside the base directory"},
		"large chart":         {many, "larger than the maximum"},
		"large file":          {[]entry{{name: "web/templates/a.yaml", size: 101 << 20}}, "larger than the maximum"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := archiveOf(t, tt.entries...)
			bothHelms(t, func(t *testing.T, four bool) {
				_, err := Chart(context.Background(), webOptions(func(o *ChartOptions) { o.Path, o.Helm4 = path, four }))
				var fault *Error
				if !errors.As(err, &fault) || !strings.Contains(fault.Message, tt.want) || !strings.Contains(fault.Message, path) {
					t.Errorf("error %v", err)
				}
			})
		})
	}
}

// TestArchivedLinksAreEmpty checks that a link in an archive is an empty file, as for Helm.
func TestArchivedLinksAreEmpty(t *testing.T) {
	quiet(t)
	path := archiveOf(t, entry{name: "web/secret.txt", link: "/etc/passwd"}, entry{name: "web/templates/a.yaml", text: `a: "{{ .Files.Get "secret.txt" }}."`})
	bothHelms(t, func(t *testing.T, four bool) {
		got := sameAsHelm(t, webOptions(func(o *ChartOptions) { o.Path, o.Helm4 = path, four }))
		if !strings.Contains(got.Manifest, `a: "."`) || got.Warnings != nil {
			t.Errorf("got %s, %v", got.Manifest, got.Warnings)
		}
	})
}

// TestLinks checks that Chart follows the links of a directory as Helm does if it is allowed to, with a warning about a link out of the
// chart.
func TestLinks(t *testing.T) {
	quiet(t)
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret.txt"), []byte("outside"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		links    map[string]string
		want     string
		warnings int
	}{
		"file outside":      {map[string]string{"files/a.txt": filepath.Join(outside, "secret.txt")}, "outside", 1},
		"directory outside": {map[string]string{"files": outside}, "outside", 1},
		"file inside":       {map[string]string{"files/a.txt": "../values.yaml"}, "inside", 0},
		"ignored link":      {map[string]string{"files/a.tmp": filepath.Join(outside, "secret.txt")}, "", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := chartOf(t, "-- .helmignore --\n*.tmp\n-- values.yaml --\nplace: inside\n-- templates/a.yaml --\nall: {{ range $_, $f := .Files.Glob \"files/**\" }}{{ $f | toString | quote }}{{ end }}\n")
			link(t, path, tt.links)
			bothHelms(t, func(t *testing.T, four bool) {
				got := sameAsHelm(t, webOptions(func(o *ChartOptions) { o.Path, o.Helm4, o.AllowOutsideLinks = path, four, true }))
				if !strings.Contains(got.Manifest, tt.want) || len(got.Warnings) != tt.warnings {
					t.Errorf("got %s, %v", got.Manifest, got.Warnings)
				}
				for _, w := range got.Warnings {
					if w.Code != CodeLinkedFile || !strings.HasPrefix(w.File, "files") || !strings.Contains(w.Message, w.File) {
						t.Errorf("warning %+v", w)
					}
				}
			})
		})
	}
}

// TestOutsideLinks checks that links are followed only within the Git working tree of the chart and into no hidden folder, that an error
// names the link and the flag, and that no flag lets Chart read /proc.
func TestOutsideLinks(t *testing.T) {
	quiet(t)
	const leak = "-- templates/a.yaml --\nall: {{ .Files.Get \"leak\" | b64enc }}\n"
	tests := map[string]struct {
		links           map[string]string
		refused, anyway bool
	}{
		"beside the chart":         {map[string]string{"leak": "../shared/values.txt"}, false, false},
		"outside the tree":         {map[string]string{"leak": "OUTSIDE/secret.txt"}, true, false},
		"hidden folder":            {map[string]string{"leak": "../.git/config"}, true, false},
		"by another link":          {map[string]string{"leak": "other", "other": "OUTSIDE/secret.txt"}, true, false},
		"folder outside":           {map[string]string{"files": "OUTSIDE"}, true, false},
		"folder with a hidden one": {map[string]string{"charts/common": "../../shared"}, true, false},
		"custom resources":         {map[string]string{"crds/a.yaml": "OUTSIDE/secret.txt"}, true, false},
		"subchart":                 {map[string]string{"charts/common": "OUTSIDE"}, true, false},
		"default values":           {map[string]string{"values.yaml": "OUTSIDE/secret.txt"}, true, false},
		"what is ignored":          {map[string]string{".helmignore": "OUTSIDE/secret.txt"}, true, false},
		"environment":              {map[string]string{"leak": "/proc/self/environ"}, true, true},
		"device":                   {map[string]string{"leak": "/dev/null"}, true, true},
		"what the kernel says":     {map[string]string{"leak": "/sys/kernel"}, true, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			top, outside := t.TempDir(), t.TempDir()
			for file, text := range map[string]string{
				outside + "/secret.txt": "outside: yes\n", outside + "/Chart.yaml": onlyChart,
				top + "/.git/config": "token", top + "/shared/values.txt": "a: 1\n", top + "/shared/.hidden/a": "x", top + "/shared/Chart.yaml": onlyChart,
			} {
				if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			path := filepath.Join(top, "web")
			if err := os.Rename(chartOf(t, leak), path); err != nil {
				t.Fatal(err)
			}
			for from, to := range tt.links {
				_ = os.Remove(filepath.Join(path, from))
				link(t, path, map[string]string{from: strings.ReplaceAll(to, "OUTSIDE", outside)})
			}
			for _, allowed := range []bool{false, true} {
				_, err := Chart(context.Background(), webOptions(func(o *ChartOptions) { o.Path, o.AllowOutsideLinks = path, allowed }))
				refused := tt.refused && (tt.anyway || !allowed)
				var fault *Error
				if isFault := errors.As(err, &fault) && strings.Contains(fault.Message, "the symbolic link "); isFault != refused {
					t.Errorf("allowed %v: %v", allowed, err)
				}
				if refused && strings.Contains(fault.Advice, "--allow-outside-links") == tt.anyway {
					t.Errorf("the advice is %q", fault.Advice)
				}
			}
		})
	}
}

func link(t *testing.T, chart string, links map[string]string) {
	t.Helper()
	for name, target := range links {
		full := filepath.Join(chart, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, full); err != nil {
			t.Skip("no symbolic links here")
		}
	}
}

// TestEndlessLinks checks links that would keep Helm's loader busy for ever, or until it crashes.
func TestEndlessLinks(t *testing.T) {
	quiet(t)
	doubling := map[string]string{}
	for i := range 20 {
		here := filepath.Join("d", strings.Repeat("x", i+1))
		doubling[here+"/a"] = "../" + strings.Repeat("x", i+2)
		doubling[here+"/b"] = "../" + strings.Repeat("x", i+2)
	}
	doubling[filepath.Join("d", strings.Repeat("x", 21), "end")] = "../../Chart.yaml"
	tests := map[string]struct {
		links map[string]string
		want  string
	}{
		"to itself":         {map[string]string{"a": "a"}, "is broken"},
		"broken":            {map[string]string{"templates/a.yaml": "nothing"}, "is broken"},
		"to its directory":  {map[string]string{"templates/a": "."}, "never ends"},
		"two to the chart":  {map[string]string{"templates/a": "..", "templates/b": ".."}, "never ends"},
		"around the chart":  {map[string]string{"files": "../.."}, "never ends"},
		"two at each other": {map[string]string{"a/b": "../c", "c/d": "../a"}, "never ends"},
		"doubling":          {doubling, "more than 5000"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := chartOf(t, "")
			link(t, path, tt.links)
			_, err := Chart(context.Background(), webOptions(func(o *ChartOptions) { o.Path, o.AllowOutsideLinks = path, true }))
			var fault *Error
			if !errors.As(err, &fault) || !strings.Contains(fault.Message, tt.want) || !strings.Contains(fault.Message, path) {
				t.Errorf("error %v", err)
			}
		})
	}
}
