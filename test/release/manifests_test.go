package release

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// download is the address of the files of a release.
const download = "https://github.com/helmdrift/helmdrift/releases/download/"

// pairs checks that the addresses and sums in a manifest belong to archives of the release, for so many platforms.
func pairs(t *testing.T, manifest string, want int, found [][2]string) {
	t.Helper()
	sums := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(read(t, filepath.Join(distOf(t), "checksums.txt"))), "\n") {
		sum, name, _ := strings.Cut(line, "  ")
		sums[name] = sum
	}
	for _, pair := range found {
		name, ok := strings.CutPrefix(pair[0], download)
		if _, file, _ := strings.Cut(name, "/"); !ok || sums[file] == "" || sums[file] != pair[1] {
			t.Errorf("%s: %s has the sum %s, want %q", manifest, pair[0], pair[1], sums[file])
		}
	}
	if len(found) != want {
		t.Errorf("%s has %d platforms, want %d", manifest, len(found), want)
	}
}

// cask is what testdata/cask.rb prints.
type cask struct {
	Token, Name, Desc, Homepage, Version, URL, SHA256 string
	Artifacts                                         map[string][]string
	Commands                                          [][]string
}

// TestHomebrew evaluates the cask with ruby for two systems and two architectures. What it installs must be in the archive that it names:
// the program, all manual pages, and the completions.
func TestHomebrew(t *testing.T) {
	file := filepath.Join(distOf(t), "homebrew", "Casks", "helmdrift.rb")
	ruby, err := exec.LookPath("ruby")
	if err != nil {
		t.Skip("there is no ruby")
	}
	want := map[string][]string{
		"binary": {"helmdrift"}, "bash_completion": {"completions/helmdrift.bash"}, "zsh_completion": {"completions/helmdrift.zsh"},
		"fish_completion": {"completions/helmdrift.fish"},
	}
	for _, page := range manPages(t) {
		want["manpage"] = append(want["manpage"], "man/"+page)
	}
	var found [][2]string
	for system, goos := range map[string]string{"macos": "darwin", "linux": "linux"} {
		for arch, goarch := range map[string]string{"intel": "amd64", "arm": "arm64"} {
			var got cask
			must(t, json.Unmarshal([]byte(run(t, ".", nil, ruby, "testdata/cask.rb", file, system, arch)), &got))
			found = append(found, [2]string{got.URL, got.SHA256})
			if !strings.HasSuffix(got.URL, "/helmdrift_"+got.Version+"_"+goos+"_"+goarch+".tar.gz") {
				t.Errorf("on %s and %s, Homebrew downloads %s", system, arch, got.URL)
			}
			described := got.Token == "helmdrift" && got.Name == "helmdrift" && got.Desc != "" && got.Homepage != ""
			if !described || !reflect.DeepEqual(got.Artifacts, want) {
				t.Errorf("on %s and %s, the cask is\n%+v\nand should install\n%v (homebrew_casks in .goreleaser.yaml)", system, arch, got, want)
			}
			archived := entries(t, filepath.Join(distOf(t), filepath.Base(got.URL)))
			for _, name := range slices.Concat(slices.Collect(maps.Values(got.Artifacts))...) {
				if _, ok := archived[name]; !ok {
					t.Errorf("%s has no %s", filepath.Base(got.URL), name)
				}
			}
			commands := [][]string{}
			if system == "macos" {
				commands = append(commands, []string{"/usr/bin/xattr", "-dr", "com.apple.quarantine", "STAGED/helmdrift"})
			}
			if !reflect.DeepEqual(got.Commands, commands) {
				t.Errorf("on %s, Homebrew runs %q, want %q", system, got.Commands, commands)
			}
		}
	}
	pairs(t, "the cask", 4, found)
}

// TestScoop checks the manifest of Scoop.
func TestScoop(t *testing.T) {
	var manifest struct {
		Version, License, Homepage, Description string
		Architecture                            map[string]struct {
			URL, Hash string
			Bin       []string
		}
	}
	decoder := json.NewDecoder(strings.NewReader(read(t, filepath.Join(distOf(t), "scoop", "helmdrift.json"))))
	decoder.DisallowUnknownFields()
	must(t, decoder.Decode(&manifest))
	var found [][2]string
	for _, arch := range []string{"64bit", "arm64"} {
		entry := manifest.Architecture[arch]
		if !slices.Equal(entry.Bin, []string{"helmdrift.exe"}) {
			t.Errorf("Scoop installs %s on %s", entry.Bin, arch)
		}
		if _, ok := entries(t, filepath.Join(distOf(t), filepath.Base(entry.URL)))["helmdrift.exe"]; !ok {
			t.Errorf("%s has no helmdrift.exe", filepath.Base(entry.URL))
		}
		found = append(found, [2]string{entry.URL, entry.Hash})
	}
	pairs(t, "the manifest of Scoop", 2, found)
	if manifest.License != "Apache-2.0" || manifest.Version == "" || manifest.Homepage == "" || manifest.Description == "" {
		t.Errorf("the manifest of Scoop is incomplete: %+v", manifest)
	}
}

// TestKrew validates the manifest with krew's own validation, and installs every platform with krew from the archives of the release. The
// plugin for this machine runs, and nothing is left of it afterwards.
func TestKrew(t *testing.T) {
	manifest := filepath.Join(distOf(t), "krew", "helm-drift.yaml")
	run(t, ".", nil, "go", "tool", "validate-krew-manifest", "-skip-install", "-manifest", manifest)
	var found [][2]string
	for _, m := range regexp.MustCompile(`uri: (\S+)\s+sha256: (\S+)`).FindAllStringSubmatch(read(t, manifest), -1) {
		found = append(found, [2]string{m[1], m[2]})
	}
	pairs(t, "the manifest of krew", 6, found)
	krew := filepath.Join(t.TempDir(), "krew")
	run(t, ".", nil, "go", "build", "-o", krew, "sigs.k8s.io/krew/cmd/krew")
	for _, a := range artifacts(t, "Archive") {
		if a.Extra.ID != "helmdrift" {
			continue
		}
		root := t.TempDir()
		env := []string{"KREW_ROOT=" + root, "KREW_OS=" + a.Goos, "KREW_ARCH=" + a.Goarch, "KREW_NO_UPGRADE_CHECK=1"}
		run(t, root, env, krew, "install", "--manifest", manifest, "--archive", a.Path)
		if installed := glob(t, 1, root, "store", "helm-drift", "v*", "LICENSE"); len(installed) != 1 {
			t.Errorf("krew installs no licence")
		}
		plugin := glob(t, 1, root, "bin", "kubectl-helm_drift*")[0]
		if a.Goos != runtime.GOOS || a.Goarch != runtime.GOARCH {
			continue
		}
		if out := run(t, root, nil, plugin, "version"); !strings.HasPrefix(out, "helmdrift v") {
			t.Errorf("kubectl helm-drift version: %s", out)
		}
		if out := run(t, root, nil, plugin, "--help"); !strings.Contains(out, "Usage:\n  kubectl helm-drift COMMAND") {
			t.Errorf("kubectl helm-drift --help: %s", out)
		}
		must(t, os.MkdirAll(filepath.Join(root, "index", "default", ".git"), 0o755)) // without an index, krew removes nothing
		run(t, root, env, krew, "uninstall", "helm-drift")
		if left := listed(t, root); len(left) > 0 {
			t.Errorf("krew uninstall leaves %s", left)
		}
	}
}

// TestBill checks that every program has a bill of materials in CycloneDX's form, with the sum of the program and its modules.
func TestBill(t *testing.T) {
	binaries := map[string]string{}
	for _, a := range artifacts(t, "Binary") {
		binaries[a.Goos+"_"+a.Goarch] = a.Path
	}
	for _, a := range artifacts(t, "SBOM") {
		var bill struct {
			BomFormat, SpecVersion, SerialNumber string
			Metadata                             struct {
				Component struct {
					Name, Version string
					Hashes        []struct{ Content string }
				}
			}
			Components []struct{ Purl string }
		}
		must(t, json.Unmarshal([]byte(read(t, a.Path)), &bill))
		platform := regexp.MustCompile(`[a-z]+_[a-z0-9]+\.cdx`).FindString(a.Name)
		binary := binaries[strings.TrimSuffix(platform, ".cdx")]
		delete(binaries, strings.TrimSuffix(platform, ".cdx"))
		if hashes := bill.Metadata.Component.Hashes; len(hashes) != 1 || hashes[0].Content != sum(t, binary) {
			t.Errorf("%s is about another program", a.Name)
		}
		listed := run(t, ".", nil, "go", "version", "-m", binary)
		if modules := strings.Count(listed, "\n\tdep\t"); bill.BomFormat != "CycloneDX" || len(bill.Components) != modules+1 {
			t.Errorf("%s has %d components, and the program has %d modules", a.Name, len(bill.Components), modules)
		}
		for _, c := range bill.Components {
			if _, version, _ := strings.Cut(c.Purl, "@"); !strings.HasPrefix(version, "v") {
				t.Errorf("%s has %s", a.Name, c.Purl)
			}
		}
	}
	if len(binaries) > 0 {
		t.Errorf("no bill for %v", binaries)
	}
}
