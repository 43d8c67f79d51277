package rollout

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmdrift/helmdrift/pkg/report"
)

const (
	// logLines is how many lines of a log are shown, and logRead is how many are read. See the package comment.
	logLines = 20
	logRead  = 100
	// logTimeout bounds the reading of a log. The API server asks the kubelet for it, and the node may be gone.
	logTimeout = 3 * time.Second
	// maxText is the greatest number of characters in a text from the cluster; longer ones are cut.
	maxText = 400
)

// look reads the object, judges it, and finds out why it is not ready. If it cannot read something, it keeps the previous state.
func (o *watched) look(ctx context.Context, r *reader) {
	defer func() {
		if p := recover(); p != nil {
			o.Unread = []string{fmt.Sprint("internal error: ", p)}
		}
	}()
	content, err := r.cluster.Get(ctx, o.ref)
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		o.Unread = []string{err.Error()}
		return
	case content == nil && o.hasBegun:
		o.Status = report.RolloutReady
		return
	case content == nil:
		o.Rollout = report.Rollout{Message: "it does not exist"}
		o.problem = problem{}
		return
	}
	u := &unstructured.Unstructured{Object: content}
	j := judge(u)
	if j.isReady {
		o.Rollout = report.Rollout{Status: report.RolloutReady, PodCounts: podCounts(u), Message: j.message}
		o.problem = problem{}
		o.hasBegun = o.ref.GroupKind() == schema.GroupKind{Group: "batch", Kind: "Job"}
		return
	}
	// If the time ends during this look, what the one before could not read stays with its problem.
	o.Rollout = report.Rollout{PodCounts: podCounts(u), Message: j.message, Unread: o.Unread}
	if isObserved(u) {
		o.diagnose(ctx, r, u)
	} else {
		o.problem, o.Unread = problem{}, nil
	}
	if j.hasEnded {
		o.Status = report.RolloutFailed
	}
}

// diagnose reads the evidence about an object that is not ready, and finds its problem.
func (o *watched) diagnose(ctx context.Context, r *reader, u *unstructured.Unstructured) {
	e, unread := r.evidence(ctx, u, o.PodCounts)
	if ctx.Err() != nil {
		return
	}
	o.Unread = unread
	o.problem = diagnose(e)
	o.isNew = o.problem.weight > weighsLittle && !o.known[o.problem.key]
	o.known[o.problem.key] = true
	o.readLog(ctx, r.cluster)
}

// readLog reads the log of the problem's container, unless it was read since the container began.
func (o *watched) readLog(ctx context.Context, c Cluster) {
	p := o.problem
	of := fmt.Sprint(p.Pod, " ", p.Container, " ", p.restarts, " ", p.previous)
	switch {
	case !p.hasLog:
		o.log, o.logOf = "", ""
		return
	case of == o.logOf:
		return
	}
	ctx, cancel := context.WithTimeout(ctx, logTimeout)
	defer cancel()
	text, err := c.Log(ctx, o.ref.Namespace, p.Pod, p.Container, p.previous, logRead)
	switch {
	case err == nil:
		o.log, o.logOf = text, of
	case !slices.Contains(o.Unread, err.Error()):
		o.Unread = append(o.Unread, err.Error())
	}
}

// state returns what may be shown of the object: every text is scrubbed as a whole, and then shortened.
func (o *watched) state(scrub func(string) string) State {
	if scrub == nil {
		scrub = func(text string) string { return text }
	}
	clean := func(text string) string { return shorten(scrub(text)) }
	s := State{Ref: o.ref, Rollout: o.Rollout, News: o.isNew}
	s.RolloutProblem = o.problem.RolloutProblem
	s.Message, s.Reason = clean(o.Message), clean(o.problem.Reason)
	s.Pod, s.Container = clean(o.problem.Pod), clean(o.problem.Container)
	s.Events, s.Log, s.Unread = nil, nil, nil
	for _, e := range o.problem.Events {
		e.Object, e.Reason, e.Message = clean(e.Object), clean(e.Reason), clean(e.Message)
		s.Events = append(s.Events, e)
	}
	if o.problem.hasLog {
		s.Log = lastLines(scrub(withoutHeadlessKey(o.log)))
	}
	for _, text := range o.Unread {
		s.Unread = append(s.Unread, clean(text))
	}
	return s
}

// withoutHeadlessKey removes the end of a private key if the log lacks its first line, by which alone Scrub recognises a key.
func withoutHeadlessKey(log string) string {
	end := strings.Index(log, "-----END ")
	if end < 0 || strings.Contains(log[:end], "-----BEGIN ") {
		return log
	}
	return log[end:]
}

// lastLines returns the last lines of a log without the blank ones.
func lastLines(log string) []string {
	var lines []string
	for line := range strings.Lines(log) {
		if line = shorten(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines[max(0, len(lines)-logLines):]
}

// shorten returns a text from the cluster as one line of bounded length.
func shorten(text string) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }), " ")
	if runes := []rune(text); len(runes) > maxText {
		return string(runes[:maxText]) + "…"
	}
	return text
}

// needsClaims reports whether a pod waits for a node and mounts a claim. The pod may be waiting for the claim.
func needsClaims(pods []corev1.Pod) bool {
	return slices.ContainsFunc(pods, func(pod corev1.Pod) bool {
		return pod.Spec.NodeName == "" && slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
			return v.PersistentVolumeClaim != nil || v.Ephemeral != nil
		})
	})
}
