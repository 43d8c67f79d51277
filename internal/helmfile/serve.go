package helmfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/files"
)

// This file is what runs in the place of helm while helmfile loads a helmfile.

// Name is the name of the program in the place of helm. It stands beside the file settingsName.
const Name = "helmdrift-as-helm"

// These are the names in the folder of a run.
const (
	settingsName = "settings.json"
	callsName    = "calls"
	chartsName   = "charts"
	tempName     = "tmp"
)

// settings says what Serve does.
type settings struct {
	// Helm is the real helm. Folder is where the calls are recorded, and Temp is where helmfile and its programs make temporary files.
	Helm, Folder, Temp string
	// Keeps is set if each chart on this machine is copied, and not only one in Temp.
	Keeps bool
}

// Call is a call of helm that is recorded instead of made, or a text that helm-secrets has decrypted.
type Call struct {
	// Args are the arguments, and Dir is the working directory.
	Args []string `json:"args"`
	Dir  string   `json:"dir"`
	// Files are the contents of the files that the arguments name, by these names.
	Files map[string][]byte `json:"files,omitempty"`
	// Chart is a copy of the chart if helmfile, or a hook of it, may delete it.
	Chart string `json:"chart,omitempty"`
	// Fault says why the call could not be recorded.
	Fault string `json:"fault,omitempty"`
	// Decrypted is what helm-secrets printed.
	Decrypted []byte `json:"decrypted,omitempty"`
	// Refused is set if the call could change a release.
	Refused bool `json:"refused,omitempty"`
}

// Caller is how Serve reaches its environment.
type Caller struct {
	// Program is the path that the caller used, and Dir is the working directory.
	Program, Dir string
	Err          io.Writer
	// Pass calls the real helm, with the standard streams of this process, and returns its exit code. What it prints also goes to a copy if
	// there is one.
	Pass func(helm string, args []string, copyTo io.Writer) int
}

// maxFile is how many bytes a values file may have.
const maxFile = 64 << 20

// Serve does what helmdrift does in the place of helm, and returns the exit code.
func Serve(c Caller, args []string) int {
	var s settings
	text, err := os.ReadFile(filepath.Join(filepath.Dir(c.Program), settingsName))
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		fmt.Fprintln(c.Err, "Error: this program stands in the place of helm while helmdrift reads a helmfile, and does nothing else")
		return 1
	}
	switch words := commandOf(args); {
	case len(words) > 1 && words[0] == "diff" && words[1] == "upgrade":
		err = s.record(s.call(c, args))
	case !isHarmless(words):
		_ = s.record(Call{Args: words[:1], Dir: c.Dir, Refused: true})
		err = fmt.Errorf("helm %s is not called, since helmdrift only compares", strings.Join(words[:min(len(words), 2)], " "))
	case words[0] == "secrets":
		var printed limited
		code := c.Pass(s.Helm, args, &printed)
		if err := s.record(Call{Args: words[:1], Dir: c.Dir, Decrypted: printed.text}); err != nil {
			fmt.Fprintln(c.Err, "Error:", err)
			return 1
		}
		return code
	default:
		return c.Pass(s.Helm, args, nil)
	}
	if err != nil {
		fmt.Fprintln(c.Err, "Error:", err)
		return 1
	}
	return 0
}

// limited keeps what is written to it, up to a limit.
type limited struct{ text []byte }

// Write never fails.
func (l *limited) Write(text []byte) (int, error) {
	l.text = append(l.text, text[:min(len(text), maxFile-len(l.text))]...)
	return len(text), nil
}

// commandOf returns the words of a command line from the command on. Flags in front of it are those of helm itself, and only --debug has
// no value there.
func commandOf(args []string) []string {
	for i := 0; i < len(args); i++ {
		switch {
		case !strings.HasPrefix(args[i], "-"):
			return args[i:]
		case args[i] != "--debug" && !strings.Contains(args[i], "="):
			i++
		}
	}
	return []string{"help"}
}

// isHarmless reports whether a command changes no release. What it changes is helmfile's own business, such as the list of repositories.
func isHarmless(words []string) bool {
	switch words[0] {
	case "plugin":
		return len(words) > 1 && (words[1] == "list" || words[1] == "ls")
	case "secrets":
		return len(words) > 1 && slices.Contains([]string{"dec", "decrypt", "view", "version"}, words[1])
	case "chart":
		return len(words) > 1 && (words[1] == "pull" || words[1] == "export")
	}
	return slices.Contains([]string{
		"version", "repo", "registry", "dependency", "dep", "pull", "fetch", "template", "show", "inspect", "search", "list", "ls", "status",
		"get", "history", "env", "help", "lint",
	}, words[0])
}

// call returns the record of a call of helm diff upgrade.
func (s settings) call(c Caller, args []string) Call {
	out := Call{Args: args, Dir: c.Dir, Files: map[string][]byte{}}
	arguments, err := parse(out)
	if err != nil {
		out.Fault = err.Error()
		return out
	}
	for _, name := range arguments.files() {
		if strings.Contains(name, "://") {
			continue
		}
		text, err := readFile(inDir(c.Dir, name))
		if err != nil {
			out.Fault = err.Error()
			return out
		}
		out.Files[name] = text
	}
	chart := inDir(c.Dir, arguments.chart)
	_, missing := os.Stat(chart)
	if inside(s.Temp, chart) != "" || s.Keeps && missing == nil {
		if out.Chart, err = s.keep(chart); err != nil {
			out.Fault = "copying the chart: " + err.Error()
		}
	}
	return out
}

// inDir returns a path as it is in a working directory.
func inDir(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// inside returns a path relative to a folder, or "" if it is not in the folder.
func inside(folder, name string) string {
	relative, err := filepath.Rel(folder, name)
	if err != nil || !filepath.IsLocal(relative) {
		return ""
	}
	return relative
}

func readFile(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it is only read
	return files.ReadAll(name, file, maxFile)
}

// keep copies a chart, which is a folder or an archive.
func (s settings) keep(chart string) (string, error) {
	to, err := os.MkdirTemp(filepath.Join(s.Folder, chartsName), "chart")
	if err != nil {
		return "", err
	}
	to = filepath.Join(to, filepath.Base(chart))
	info, err := os.Stat(chart)
	switch {
	case err != nil:
		return "", err
	case info.IsDir():
		return to, os.CopyFS(to, os.DirFS(chart))
	}
	text, err := readFile(chart)
	if err != nil {
		return "", err
	}
	return to, os.WriteFile(to, text, 0o600)
}

// record writes a call. The name of the file ends in .json only once it is complete.
func (s settings) record(call Call) error {
	text, err := json.Marshal(call)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Join(s.Folder, callsName), "call*")
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), file.Name()+".json")
}
