package api

import (
	"fmt"
	"slices"
	"time"

	"github.com/robfig/cron/v3"
)

// window is a time when Applications are synced, or are not.
type window struct {
	Kind           string   `json:"kind"`
	Schedule       string   `json:"schedule"`
	Duration       string   `json:"duration"`
	Applications   []string `json:"applications"`
	Namespaces     []string `json:"namespaces"`
	Clusters       []string `json:"clusters"`
	TimeZone       string   `json:"timeZone"`
	UseAndOperator bool     `json:"andOperator"`
	ManualSync     bool     `json:"manualSync"`
}

// Closed says that no sync window lets the controller sync an Application by itself now. Reason is empty if one does. ByHand is set if a
// sync by hand is possible nevertheless.
type Closed struct {
	Reason string
	ByHand bool
}

// Closed compares the sync windows with a time (argo-cd v3.6.1 pkg/apis/application/v1alpha1/types.go SyncWindows.CanSync).
func (p *project) Closed(a *Application, now time.Time) (Closed, error) {
	hasAllow, allowed := false, false
	denied, inactive := Closed{ByHand: true}, Closed{ByHand: true}
	for _, w := range p.Spec.SyncWindows {
		if !w.matches(a) {
			continue
		}
		active, err := w.isActive(now)
		switch {
		case err != nil:
			return Closed{}, fmt.Errorf("AppProject %s: %w", a.Project(), err)
		case w.Kind == "deny" && active:
			denied.Reason = fmt.Sprintf("a sync window of AppProject %s denies it now: %s for %s", a.Project(), w.Schedule, w.Duration)
			denied.ByHand = denied.ByHand && w.ManualSync
		case w.Kind == "allow":
			hasAllow, allowed = true, allowed || active
			inactive.ByHand = inactive.ByHand && w.ManualSync
		}
	}
	switch {
	case denied.Reason != "":
		return denied, nil
	case hasAllow && !allowed:
		inactive.Reason = fmt.Sprintf("no sync window of AppProject %s allows it now", a.Project())
		return inactive, nil
	}
	return Closed{}, nil
}

// isActive reports whether a time is within the window. The zone moves the schedule, and one that does not exist counts as UTC (argo-cd
// v3.6.1 pkg/apis/application/v1alpha1/types.go scheduleOffsetByTimeZone).
func (w window) isActive(now time.Time) (bool, error) {
	schedule, err := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow).Parse(w.Schedule)
	if err != nil {
		return false, fmt.Errorf("the sync window %q: %w", w.Schedule, err)
	}
	length, err := time.ParseDuration(w.Duration)
	if err != nil {
		return false, fmt.Errorf("the sync window %q: %w", w.Schedule, err)
	}
	now = now.UTC()
	if zone, err := time.LoadLocation(w.TimeZone); err == nil {
		_, offset := now.In(zone).Zone()
		now = now.Add(time.Duration(offset) * time.Second)
	}
	return schedule.Next(now.Add(-length)).Before(now), nil
}

// matches reports whether the window is about an Application (types.go SyncWindows.Matches).
func (w window) matches(a *Application) bool {
	d := a.Spec.Destination
	clusters := slices.DeleteFunc([]string{d.Name, d.Server}, func(name string) bool { return name == "" })
	isAny := false
	for _, one := range []struct{ patterns, names []string }{
		{w.Applications, []string{a.Metadata.Name}}, {w.Clusters, clusters}, {w.Namespaces, []string{d.Namespace}},
	} {
		matched := slices.ContainsFunc(one.names, func(name string) bool { return matchesOne(one.patterns, name) })
		if w.UseAndOperator && len(one.patterns) > 0 && !matched {
			return false
		}
		isAny = isAny || matched
	}
	return isAny
}
