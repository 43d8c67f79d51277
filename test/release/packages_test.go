package release

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/apk" // the formats register themselves
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
	"github.com/sassoftware/go-rpmutils"
)

// manPages are the manual pages that every package and every archive has.
func manPages(t *testing.T) (out []string) {
	t.Helper()
	pages, err := filepath.Glob("../../bin/release/man/*.1.gz")
	must(t, err)
	if len(pages) < 5 {
		t.Fatalf("bin/release has %d manual pages: run make release-files", len(pages))
	}
	for _, page := range pages {
		out = append(out, filepath.Base(page))
	}
	return out
}

// contents returns the files that a package of a format must have.
func contents(t *testing.T, format string) []string {
	t.Helper()
	out := []string{"usr/bin/helmdrift", "usr/share/bash-completion/completions/helmdrift", "usr/share/fish/vendor_completions.d/helmdrift.fish"}
	if format == "deb" {
		out = append(out, "usr/share/zsh/vendor-completions/_helmdrift", "usr/share/doc/helmdrift/copyright", "usr/share/doc/helmdrift/NOTICE")
	} else {
		out = append(out, "usr/share/zsh/site-functions/_helmdrift", "usr/share/licenses/helmdrift/LICENSE", "usr/share/licenses/helmdrift/NOTICE")
	}
	for _, page := range manPages(t) {
		out = append(out, "usr/share/man/man1/"+page)
	}
	slices.Sort(out)
	return out
}

// packages returns the packages of a format: those of the release in the folder of -dist, or else one that it builds for this machine.
func packages(t *testing.T, format string) []string {
	t.Helper()
	if *distFolder != "" {
		return glob(t, 2, *distFolder, "*."+format)
	}
	return []string{build(t, format)}
}

// build builds a package for this machine from the section nfpms of .goreleaser.yaml, with bin/helmdrift.
func build(t *testing.T, format string) string {
	t.Helper()
	var config struct {
		Nfpms []struct {
			nfpm.Info   `yaml:",inline"`
			PackageName string `yaml:"package_name"`
			Bindir      string
		}
	}
	configuration(t, &config)
	section := config.Nfpms[0]
	info := &section.Info
	info.Name, info.Version, info.Platform, info.Arch = section.PackageName, version, "linux", runtime.GOARCH
	for _, file := range info.Contents {
		file.Source = filepath.Join(repository(t), file.Source)
	}
	info.Contents = append(info.Contents, &files.Content{
		Source: filepath.Join(repository(t), "bin/helmdrift"), Destination: section.Bindir + "/helmdrift", FileInfo: &files.ContentFileInfo{Mode: 0o755},
	})
	info = nfpm.WithDefaults(info)
	must(t, nfpm.PrepareForPackager(info, format))
	packager, err := nfpm.Get(format)
	must(t, err)
	out, err := os.Create(filepath.Join(t.TempDir(), packager.ConventionalFileName(info)))
	must(t, err)
	must(t, errors.Join(packager.Package(info, out), out.Close()))
	return out.Name()
}

// TestPackages lists the packages for RPM and Alpine.
func TestPackages(t *testing.T) {
	for format, list := range map[string]func(*testing.T, string) []string{"rpm": listRPM, "apk": listAPK} {
		for _, file := range packages(t, format) {
			got := list(t, file)
			slices.Sort(got)
			if want := contents(t, format); !slices.Equal(got, want) {
				t.Errorf("%s has\n%s\nwant\n%s", filepath.Base(file), strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
}

// listRPM lists the files of an RPM package, which must belong to root.
func listRPM(t *testing.T, file string) (out []string) {
	t.Helper()
	in, err := os.Open(file)
	must(t, err)
	defer in.Close()
	rpm, err := rpmutils.ReadRpm(in)
	must(t, err)
	all, err := rpm.Header.GetFiles()
	must(t, err)
	for _, f := range all {
		if f.UserName() != "root" {
			t.Errorf("%s: %s belongs to %s", filepath.Base(file), f.Name(), f.UserName())
		}
		out = append(out, strings.TrimPrefix(f.Name(), "/"))
	}
	return out
}

// listAPK lists the files of a package of Alpine, which is a sequence of compressed archives: its control file and the files.
func listAPK(t *testing.T, file string) (out []string) {
	t.Helper()
	described := false
	readTar(t, file, func(header *tar.Header, _ io.Reader) {
		described = described || header.Name == ".PKGINFO"
		if header.Typeflag == tar.TypeReg && !strings.HasPrefix(header.Name, ".") {
			out = append(out, header.Name)
		}
	})
	if !described {
		t.Errorf("%s has no .PKGINFO", filepath.Base(file))
	}
	return out
}
