package cli

import (
	"path/filepath"
	"regexp"
	"strings"
)

// This file names the program as the user started it, so that users can copy commands from help and hints: "helm drift diff" in the
// plugin of Helm, and "kubectl helm-drift diff" in the plugin of kubectl. Reports always say "helmdrift", so that the plugins write the
// same bytes as the program.

// ProgramName is the name of the program, and its name in the texts of commands and hints.
const ProgramName = "helmdrift"

// Invocation returns the words that start the program. Helm names the plugin in the environment; another plugin that runs helmdrift has
// another name. kubectl runs a file such as kubectl-helm_drift: - separates words, and _ stands for -.
func Invocation(file string, env func(string) string) string {
	if env("HELM_PLUGIN_NAME") == "drift" {
		return "helm drift"
	}
	file = strings.TrimSuffix(filepath.Base(file), ".exe")
	if words, isPlugin := strings.CutPrefix(file, "kubectl-"); isPlugin {
		return "kubectl " + strings.NewReplacer("-", " ", "_", "-").Replace(words)
	}
	return ProgramName
}

// ownCommand matches the start of a command line in a text, and not the name of the program in a sentence.
var ownCommand = regexp.MustCompile(`\b` + ProgramName + ` (diff|fix|absorb|list|report|history|snapshot|version|help)\b`)

// AsTyped returns a text of the program with its command lines in the form that the user types.
func (s Streams) AsTyped(text string) string {
	if s.Program == "" || s.Program == ProgramName {
		return text
	}
	return ownCommand.ReplaceAllString(text, s.Program+" $1")
}
