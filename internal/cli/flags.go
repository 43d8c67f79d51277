package cli

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/helmdrift/helmdrift/internal/hint"
	"github.com/helmdrift/helmdrift/internal/output"
)

// This file holds what the flags of all commands share: values that refuse wrong words during parsing, the message for a wrong value,
// and lists of flags.

// OneOf is the value of a flag that takes one of a few words. The word is empty if the flag was not given and has no default.
type OneOf struct {
	Words []string
	Word  string
}

// String returns the word.
func (o *OneOf) String() string { return o.Word }

// Set takes one of the words.
func (o *OneOf) Set(word string) error {
	if slices.Contains(o.Words, word) {
		o.Word = word
		return nil
	}
	last := len(o.Words) - 1
	if last == 0 {
		return fmt.Errorf("must be %s", o.Words[0])
	}
	return fmt.Errorf("must be %s or %s", strings.Join(o.Words[:last], ", "), o.Words[last])
}

// Type returns the placeholder in help texts.
func (o *OneOf) Type() string { return strings.Join(o.Words, "|") }

// FormatOf is the value of --output of a command with its own formats. Its placeholder in help texts is "format".
type FormatOf struct {
	names  []string
	Format output.Format
}

// NewFormatOf returns the flag value for a choice of formats, which is text by default.
func NewFormatOf(names []string) FormatOf { return FormatOf{names, output.Text} }

// String returns the name of the format.
func (f *FormatOf) String() string { return string(f.Format) }

// Type returns the placeholder in help texts.
func (f *FormatOf) Type() string { return "format" }

// Set takes the name of one of the formats.
func (f *FormatOf) Set(word string) error {
	if !slices.Contains(f.names, word) {
		return fmt.Errorf("unknown format %q: want %s", word, strings.Join(f.names, ", "))
	}
	f.Format = output.Format(word)
	return nil
}

// AddOutputFlag adds --output with the formats of a command, and its completion in the shell.
func AddOutputFlag(cmd *cobra.Command, format pflag.Value, usage string, formats []string) {
	cmd.Flags().VarP(format, "output", "o", usage+": "+strings.Join(formats, ", "))
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
}

// memorySize is the value of a flag that takes a number of bytes as Kubernetes writes it. Its placeholder in help texts is "quantity".
type memorySize struct{ resource.QuantityValue }

func newMemorySize(text string) memorySize {
	return memorySize{resource.QuantityValue{Quantity: resource.MustParse(text)}}
}

// Set reads a size. Its error gives examples, unlike the error of a quantity.
func (m *memorySize) Set(text string) error {
	if m.QuantityValue.Set(text) != nil || m.Sign() < 0 {
		return errors.New("must be a size, such as 512Mi or 2Gi")
	}
	return nil
}

// timeLimit is the value of a flag that takes a duration; 0 means no limit. A negative one is refused, because it would mean that too.
type timeLimit time.Duration

// String returns the limit.
func (t *timeLimit) String() string { return time.Duration(*t).String() }

// Type returns the placeholder in help texts.
func (t *timeLimit) Type() string { return "duration" }

// Set reads a limit.
func (t *timeLimit) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return errors.New("must be a duration of 0 or more, such as 30s or 5m")
	}
	*t = timeLimit(d)
	return nil
}

// oneDash returns the error of a long flag with one dash, such as -fail-on, or nil. The parser takes it for a short flag with a value: -f
// with ail-on.
func oneDash(cmd *cobra.Command, args []string) error {
	cmd.InheritedFlags() // merges the flags of the root command into those of cmd
	flags := cmd.Flags()
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		arg := args[i]
		name, _, hasValue := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-"), "=")
		long := flags.Lookup(name)
		if long == nil && !cmd.HasParent() { // the command is missing too
			long = flagOfCommands(cmd, name)
		}
		switch {
		case strings.HasPrefix(arg, "--"):
			if long != nil && long.NoOptDefVal == "" && !hasValue {
				i++ // the next argument is its value
			}
		case !strings.HasPrefix(arg, "-"):
		case long != nil && len(name) > 1:
			return hint.New(fmt.Errorf("-%s: long flags have two dashes", name), "did you mean --"+name+"?")
		case wantsNext(flags, arg[1:]):
			i++
		}
	}
	return nil
}

// flagOfCommands returns the flag of the first command of root that has one of this name, or nil.
func flagOfCommands(root *cobra.Command, name string) *pflag.Flag {
	for _, cmd := range root.Commands() {
		if f := cmd.Flags().Lookup(name); f != nil {
			return f
		}
	}
	return nil
}

// wantsNext reports whether the next argument is the value of the last of some short flags.
func wantsNext(flags *pflag.FlagSet, letters string) bool {
	for i := range letters {
		f := flags.ShorthandLookup(letters[i : i+1])
		if f == nil || f.NoOptDefVal == "" {
			return f != nil && i == len(letters)-1
		}
	}
	return false
}

// flagError returns the error of the flag parser in the form of this program's checks: "--revision x: must be a whole number".
// The parser's own error quotes the Go function that failed.
func flagError(err error) error {
	var wrong *pflag.InvalidValueError
	if !errors.As(err, &wrong) {
		return err
	}
	var none refusedFlag
	if errors.As(err, &none) {
		return none
	}
	// Keep the errors of this program's own values. The standard types have the parser's errors.
	flag, cause := wrong.GetFlag(), wrong.Unwrap().Error()
	switch flag.Value.Type() {
	case "int":
		cause = "must be a whole number"
	case "float32":
		cause = "must be a number"
	case "bool":
		cause = "must be true or false"
	case "duration":
		if _, isLimit := flag.Value.(*timeLimit); isLimit {
			break
		}
		cause = "must be a duration, such as 30s or 5m"
	}
	return fmt.Errorf("--%s %s: %s", flag.Name, hint.ShellWord(wrong.GetValue()), cause)
}

// NamesOf returns the names of the flags that a function adds, in the same order. Lists of flags are made with it, so that a new flag
// is in all of them.
func NamesOf(add func(*pflag.FlagSet)) (names []string) {
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	fs.SortFlags = false
	add(fs)
	fs.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

// hideDefault hides the default in the help of a flag whose value comes from the environment or from the user's folders. Such a value
// is not a default of the program, and may be a token. Helm sets HELM_BURST_LIMIT for its plugins.
func hideDefault(f *pflag.Flag) {
	none := map[string]string{"string": "", "int": "0", "float32": "0", "bool": "false", "stringArray": "[]"}
	if text, known := none[f.Value.Type()]; known {
		f.DefValue = text
	}
}

// givenFlag returns the words that set a flag to its value, once for each value of a list. It returns nothing if the flag was not
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

// CommandLine returns a command to type: the words, and then the named flags that were given. It repeats the flags that chose the
// cluster, so that the command reaches the same one, and leaves out tokens.
func CommandLine(words []string, flags *pflag.FlagSet, names ...string) string {
	cluster := []string{"kubeconfig", "kube-context", "context", "kube-apiserver", "kube-as-user"}
	for _, name := range slices.Concat(cluster, names, []string{"kube-as-group"}) {
		words = append(words, givenFlag(flags.Lookup(name))...)
	}
	for i, w := range words {
		words[i] = hint.ShellWord(w)
	}
	return strings.Join(words, " ")
}

// NameFilter is the value of --filter and --exclude, which select releases by their names.
type NameFilter struct{ filter, exclude string }

// AddFlags adds the flags.
func (f *NameFilter) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&f.filter, "filter", "", "releases whose name matches this regular `expression`")
	fs.StringVar(&f.exclude, "exclude", "", "no releases whose name matches this regular `expression`")
}

// Compile returns the expressions. One that is not given is nil.
func (f *NameFilter) Compile() (filter, exclude *regexp.Regexp, err error) {
	if filter, err = expression("filter", f.filter); err != nil {
		return nil, nil, err
	}
	exclude, err = expression("exclude", f.exclude)
	return filter, exclude, err
}

// expression compiles the regular expression of a flag. It returns nil if it is empty.
func expression(flag, text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, nil
	}
	compiled, err := regexp.Compile(text)
	if err != nil {
		return nil, hint.New(fmt.Errorf("--%s %q: %w", flag, text, err), "expressions are those of Go: https://pkg.go.dev/regexp/syntax")
	}
	return compiled, nil
}
