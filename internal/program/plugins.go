package program

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/helmdrift/helmdrift/internal/secret"
	"github.com/helmdrift/helmdrift/pkg/fetch"
)

// Plugins runs downloader plugins of Helm within the limits of --render-timeout and --render-memory.
type Plugins struct {
	// Env are the variables that Helm sets for every plugin, as NAME=value.
	Env []string
	// Time is how long a plugin may run, and MaxOutput how many bytes it may print; 0 means no limit.
	Time      time.Duration
	MaxOutput int64
	// Known gets what a plugin makes known to be secret.
	Known *secret.Known
	// Show shows a line of what a plugin prints to its standard error, behind a prefix.
	Show func(prefix, line string)
}

// maxPluginLog is how many bytes of the standard error of a plugin are shown.
const maxPluginLog = 64 << 10

// Run runs a plugin and returns what it prints to its standard output. What it prints to its standard error is shown when it has ended,
// without what is known to be secret by then, which includes the values that it returned.
func (p Plugins) Run(ctx context.Context, c fetch.PluginCommand) ([]byte, error) {
	out, messages, err := command{name: "the plugin " + c.Name, path: c.Path, args: c.Args, env: slices.Concat(p.Env, c.Env),
		time: p.Time, output: p.MaxOutput, messages: maxPluginLog}.run(ctx)
	p.Known.Add(c.Secrets...)
	if c.Values {
		p.Known.AddGiven(valuesOfLines(out))
	}
	p.show(c.Name, messages)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// show prints the messages of a plugin, each line with its name.
func (p Plugins) show(name string, messages *head) {
	text := strings.TrimSpace(messages.text.String())
	if text == "" {
		return
	}
	if messages.truncated {
		text += "\n…"
	}
	for line := range strings.Lines(p.Known.Scrub(text)) {
		p.Show(name+": ", strings.TrimRight(line, "\r\n"))
	}
}

// valuesOfLines returns what stands on the lines of a values file, without parsing it: only a child reads the text of a plugin as YAML.
func valuesOfLines(text []byte) (out []any) {
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			continue
		}
		if _, value, found := strings.Cut(line, ": "); found {
			line = value
		}
		out = append(out, strings.Trim(line, `"'- []{},`))
	}
	return out
}
