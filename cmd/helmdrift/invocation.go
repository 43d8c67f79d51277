package main

import (
	"path/filepath"
	"regexp"
	"strings"
)

// This file names the program as the user started it, so that help and hints can be copied: "helm drift diff" in the plugin of Helm, and
// "kubectl helm-drift diff" in the plugin of kubectl. Reports always say "helmdrift": the plugins write the same bytes as the program.

// programName is the name of the program, and the one that the texts of commands and hints have.
const programName = "helmdrift"

// invocation returns the words that start the program. Helm names the plugin in the environment; a plugin that runs helmdrift has another
// name. kubectl runs a file such as kubectl-helm_drift, in which - separates words and _ stands for -.
func invocation(file string, env func(string) string) string {
	if env("HELM_PLUGIN_NAME") == "drift" {
		return "helm drift"
	}
	file = strings.TrimSuffix(filepath.Base(file), ".exe")
	if words, isPlugin := strings.CutPrefix(file, "kubectl-"); isPlugin {
		return "kubectl " + strings.NewReplacer("-", " ", "_", "-").Replace(words)
	}
	return programName
}

// ownCommand matches the start of a command line in a text, and not the name of the program in a sentence.
var ownCommand = regexp.MustCompile(`\b` + programName + ` (diff|fix|absorb|list|report|history|snapshot|version)\b`)

// asTyped returns a text of the program with its command lines as the user types them.
func (s streams) asTyped(text string) string {
	if s.program == "" || s.program == programName {
		return text
	}
	return ownCommand.ReplaceAllString(text, s.program+" $1")
}
