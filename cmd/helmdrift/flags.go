package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/output"
)

// This file holds what the flags of all commands share: values that refuse wrong words while they are parsed, the message for a wrong
// value, and lists of flags.

// oneOf is the value of a flag that takes one of a few words. The word is empty if the flag was not given and has no default.
type oneOf struct {
	words []string
	word  string
}

// String returns the word.
func (o *oneOf) String() string { return o.word }

// Set takes one of the words.
func (o *oneOf) Set(word string) error {
	if slices.Contains(o.words, word) {
		o.word = word
		return nil
	}
	last := len(o.words) - 1
	if last == 0 {
		return fmt.Errorf("must be %s", o.words[0])
	}
	return fmt.Errorf("must be %s or %s", strings.Join(o.words[:last], ", "), o.words[last])
}

// Type returns the placeholder in help texts.
func (o *oneOf) Type() string { return strings.Join(o.words, "|") }

// formatOf is the value of --output of a command that has formats of its own. Its placeholder in help texts is "format".
type formatOf struct {
	names  []string
	format output.Format
}

// newFormatOf returns the flag value for a choice of formats, which is text by default.
func newFormatOf(names []string) formatOf { return formatOf{names, output.Text} }

func (f *formatOf) String() string { return string(f.format) }
func (f *formatOf) Type() string   { return "format" }

// Set takes the name of one of the formats.
func (f *formatOf) Set(word string) error {
	if !slices.Contains(f.names, word) {
		return fmt.Errorf("unknown format %q: want %s", word, strings.Join(f.names, ", "))
	}
	f.format = output.Format(word)
	return nil
}

// memorySize is the value of a flag that takes a number of bytes as Kubernetes writes it. Its placeholder in help texts is "quantity".
type memorySize struct{ resource.QuantityValue }

func newMemorySize(text string) memorySize {
	return memorySize{resource.QuantityValue{Quantity: resource.MustParse(text)}}
}

// Set reads a size. Its error names examples, which that of a quantity does not.
func (m *memorySize) Set(text string) error {
	if m.QuantityValue.Set(text) != nil || m.Sign() < 0 {
		return errors.New("must be a size, such as 512Mi or 2Gi")
	}
	return nil
}

// flagError returns the error of the flag parser in the words that the checks of this program use: "--revision x: must be a whole
// number". The parser itself quotes the Go function that failed.
func flagError(err error) error {
	var wrong *pflag.InvalidValueError
	if !errors.As(err, &wrong) {
		return err
	}
	// Values of this program have errors of their own, which are kept. Those of the standard types are the parser's.
	flag, cause := wrong.GetFlag(), wrong.Unwrap().Error()
	switch flag.Value.Type() {
	case "int":
		cause = "must be a whole number"
	case "float32":
		cause = "must be a number"
	case "bool":
		cause = "must be true or false"
	case "duration":
		cause = "must be a duration, such as 30s or 5m"
	}
	return fmt.Errorf("--%s %s: %s", flag.Name, hint.ShellWord(wrong.GetValue()), cause)
}

// withFlag returns an error with the flag that caused it; nil if there is none.
func withFlag(flag string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", flag, err)
}

// namesOf returns the names of the flags that a function adds, in the order in which it adds them. Lists of flags are made with it, so
// that a new flag is in all of them.
func namesOf(add func(*pflag.FlagSet)) (names []string) {
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	fs.SortFlags = false
	add(fs)
	fs.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

// hideDefault makes the help print no default of a flag whose value comes from the environment or from the user's folders. Neither is a
// default of the program, and a token is a secret. Helm sets HELM_BURST_LIMIT for its plugins.
func hideDefault(f *pflag.Flag) {
	none := map[string]string{"string": "", "int": "0", "float32": "0", "bool": "false", "stringArray": "[]"}
	if text, known := none[f.Value.Type()]; known {
		f.DefValue = text
	}
}

// givenFlag returns the words that give a flag the value it has, once for each value of a list. It returns nothing if the flag was not
// given.
func givenFlag(f *pflag.Flag) (words []string) {
	if !f.Changed {
		return nil
	}
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand
	}
	if list, ok := f.Value.(pflag.SliceValue); ok {
		for _, value := range list.GetSlice() {
			words = append(words, name, value)
		}
		return words
	}
	switch {
	case f.Value.Type() != "bool":
		return []string{name, f.Value.String()}
	case f.Value.String() == "true":
		return []string{name}
	}
	return []string{name + "=" + f.Value.String()}
}

// commandLine returns words and the given ones of the named flags as a command to type. It repeats the flags that chose the cluster, so
// that the command reaches the same one, and leaves out tokens.
func commandLine(words []string, flags *pflag.FlagSet, names ...string) string {
	cluster := []string{"kubeconfig", "kube-context", "context", "kube-apiserver", "kube-as-user"}
	for _, name := range slices.Concat(cluster, names, []string{"kube-as-group"}) {
		words = append(words, givenFlag(flags.Lookup(name))...)
	}
	for i, w := range words {
		words[i] = hint.ShellWord(w)
	}
	return strings.Join(words, " ")
}
