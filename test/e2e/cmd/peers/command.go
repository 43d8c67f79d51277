package main

import "context"

// question is what a command is asked about a release.
type question int

// The questions: has a release drifted that nobody touched; is an edit behind Helm's back shown; what will the next upgrade do.
const (
	untouched question = iota
	edited
	upgrade
)

// command is one way of asking a tool.
type command struct {
	// text is the command as a person writes it.
	text string
	// about are the questions that the command is for.
	about []question
	ask   func(context.Context, runner, situation) answer
}

// commands returns the commands of the tools that are there. Each tool gets the flags that its documentation has for drift, and its most
// machine-readable output that is complete: helm-diff's JSON leaves out objects whose name has a colon, and its structured output has no
// large numbers, so that its text is read. Hooks are not asked about, because Helm does not upgrade them as objects of the release.
func commands(p paths) []command {
	list := []command{
		{"helmdrift diff NAME", []question{untouched, edited}, func(ctx context.Context, r runner, s situation) answer {
			return parseHelmdrift(r.run(ctx, s, "", r.helmdrift, "diff", s.release, "-n", s.namespace, "-o", "json"))
		}},
		{"helmdrift diff NAME CHART", []question{untouched, upgrade}, func(ctx context.Context, r runner, s situation) answer {
			return parseHelmdrift(r.run(ctx, s, "", r.helmdrift, "diff", s.release, s.next, "-n", s.namespace, "-o", "json", "--reset-values"))
		}},
	}
	if p.helmDiff != "" {
		list = append(list, helmDiffCommand(), helmDiffCommand("--dry-run=server"))
	}
	list = append(list,
		command{"helm get manifest NAME \\| kubectl diff", []question{untouched, edited},
			func(ctx context.Context, r runner, s situation) answer {
				return kubectlDiff(ctx, r, s, "get", "manifest", s.release)
			}},
		command{"helm template NAME CHART \\| kubectl diff", []question{upgrade},
			func(ctx context.Context, r runner, s situation) answer {
				return kubectlDiff(ctx, r, s, "template", s.release, s.next, "--is-upgrade", "--no-hooks")
			}},
	)
	if p.helmDrift != "" {
		list = append(list,
			helmDriftCommand("helm drift run NAME --from-release", []question{untouched, edited},
				func(s situation) []string { return []string{s.release, "--from-release"} }),
			helmDriftCommand("helm drift run NAME CHART", []question{upgrade},
				func(s situation) []string { return []string{s.release, s.next, "--skip-crds"} }),
		)
	}
	return list
}

// helmDiffCommand compares with the live objects. With --dry-run=server, templates may look things up in the cluster.
func helmDiffCommand(more ...string) command {
	text := "helm diff upgrade NAME CHART --three-way-merge"
	for _, flag := range more {
		text += " " + flag
	}
	return command{text, []question{untouched, edited, upgrade}, func(ctx context.Context, r runner, s situation) answer {
		args := append([]string{"upgrade", s.release, s.next, "--three-way-merge", "--detailed-exitcode", "--no-hooks", "--no-color",
			"--reset-values"}, more...)
		return parseHelmDiff(r.run(ctx, s, "", r.helmDiff, args...))
	}}
}

// kubectlDiff sends what helm prints to kubectl.
func kubectlDiff(ctx context.Context, r runner, s situation, helm ...string) answer {
	manifest, err := r.helm(ctx, s, append(helm, "-n", s.namespace)...)
	if err != nil {
		return answer{failure: err.Error()}
	}
	return parseKubectlDiff(r.run(ctx, s, manifest, "kubectl", "diff", "-f", "-"))
}

// helmDriftCommand runs two comparisons at a time, because helm-drift starts all of a release at once unless it is told otherwise.
func helmDriftCommand(text string, about []question, args func(situation) []string) command {
	return command{text, about, func(ctx context.Context, r runner, s situation) answer {
		return parseHelmDrift(r.run(ctx, s, "", r.helmDrift,
			append([]string{"run", "-o", "json", "--no-color", "--limit-threads", "2"}, args(s)...)...))
	}}
}
