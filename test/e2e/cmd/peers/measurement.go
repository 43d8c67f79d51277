package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/helmdrift/helmdrift/test/e2e/harness"
)

// measurement asks commands about situations and counts.
type measurement struct {
	runner
	*cluster
	commands []command
	started  time.Time
	tallies  map[tallyKey]*tally
	// skipped names the situations that no command was asked about, with the reason.
	skipped []string
}

type tallyKey struct {
	command  string
	question question
	major    string
}

// tally is what was counted of one command, one question and one version of Helm.
type tally struct {
	asked, right, failures int
	// fields are the edits whose field is shown; undone are those that the upgrade undoes, and undoneFields both.
	fields, undone, undoneFields int
	took                         time.Duration
	wrong                        []string
}

func newMeasurement(p paths, kubeconfig, dir string) (*measurement, error) {
	r, err := newRunner(p, kubeconfig, dir)
	if err != nil {
		return nil, err
	}
	objects, err := harness.NewObjects(kubeconfig)
	return &measurement{runner: r, cluster: &cluster{objects}, commands: commands(p), started: time.Now(), tallies: map[tallyKey]*tally{}}, err
}

// reply is the answer of a command, and the time it took.
type reply struct {
	command command
	answer  answer
	took    time.Duration
}

// measure asks all commands about a situation, lets helm upgrade, and judges.
func (m *measurement) measure(ctx context.Context, s situation) {
	defer m.clean(ctx, s)
	if err := m.prepare(ctx, s); err != nil {
		m.skip(s, err.Error())
		return
	}
	var replies []reply
	for _, c := range m.commands {
		if slices.ContainsFunc(c.about, func(q question) bool { return slices.Contains(s.about, q) }) {
			started := time.Now()
			a := c.ask(ctx, m.runner, s)
			replies = append(replies, reply{c, a, time.Since(started)})
		}
	}
	t, err := m.upgrade(ctx, s)
	switch {
	case err != nil:
		m.skip(s, err.Error())
		return
	case slices.Contains(s.about, untouched) && !t.quiet():
		m.skip(s, "the upgrade with the same chart fails or changes something: "+t.failure)
		return
	}
	for _, r := range replies {
		for _, q := range s.about {
			if slices.Contains(r.command.about, q) {
				m.count(s, q, r, judge(q, r.answer, t, s.edit))
			}
		}
	}
}

func (m *measurement) skip(s situation, why string) {
	fmt.Fprintf(os.Stderr, "#   skipped: %s\n", why)
	m.skipped = append(m.skipped, s.name+": "+why)
}

func (m *measurement) count(s situation, q question, r reply, score score) {
	key := tallyKey{r.command.text, q, s.major}
	if m.tallies[key] == nil {
		m.tallies[key] = &tally{}
	}
	n := m.tallies[key]
	n.asked++
	n.took += r.took
	if score.right {
		n.right++
	} else {
		n.wrong = append(n.wrong, s.name+": "+score.wrong)
	}
	if score.undone {
		n.undone++
	}
	if score.undone && score.field {
		n.undoneFields++
	}
	if score.field {
		n.fields++
	} else if score.right && q == edited {
		n.wrong = append(n.wrong, s.name+": names the object, and not the field")
	}
	if score.failure {
		n.failures++
	}
}

// objects returns the objects of the manifests of the release, and of the chart that comes next.
func (m *measurement) objects(ctx context.Context, s situation) ([]*unstructured.Unstructured, error) {
	text, err := m.helm(ctx, s, "get", "manifest", s.release, "-n", s.namespace)
	if err != nil {
		return nil, err
	}
	if s.next != s.chart {
		next, err := m.helm(ctx, s, "template", s.release, s.next, "-n", s.namespace, "--no-hooks")
		if err != nil {
			return nil, err
		}
		text += "\n---\n" + next
	}
	return decode(text)
}

// upgrade lets helm upgrade, and returns what it did.
func (m *measurement) upgrade(ctx context.Context, s situation) (truth, error) {
	objects, err := m.objects(ctx, s)
	if err != nil {
		return truth{}, err
	}
	before, err := m.read(ctx, s, objects)
	if err != nil {
		return truth{}, err
	}
	var t truth
	if _, err := m.helm(ctx, s, "upgrade", s.release, s.next, "-n", s.namespace, "--no-hooks", "--reset-values"); err != nil {
		t.failure = err.Error()
	}
	after, err := m.read(ctx, s, objects)
	t.words = compare(before, after)
	return t, err
}

// ensure creates an object that may be there, and waits until objects can be made in it or of its kind.
func (m *measurement) ensure(ctx context.Context, s situation, obj *unstructured.Unstructured) error {
	client, err := m.of(obj, s)
	if err != nil {
		return err
	}
	_, err = client.Create(ctx, obj, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	time.Sleep(2 * time.Second) // a new kind is served, and the default ServiceAccount is there
	return err
}
