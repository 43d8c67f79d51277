package ci

import "github.com/helmdrift/helmdrift/pkg/report"

// These are the parts of a Code Climate issue that GitLab reads.
type (
	gitlabIssue struct {
		Description string         `json:"description"`
		CheckName   string         `json:"check_name"`
		Fingerprint string         `json:"fingerprint"`
		Severity    string         `json:"severity"`
		Location    gitlabLocation `json:"location"`
	}
	gitlabLocation struct {
		Path  string      `json:"path"`
		Lines gitlabLines `json:"lines"`
	}
	gitlabLines struct {
		Begin int `json:"begin"`
	}
)

// GitLab returns a report for the code quality of GitLab: an issue for each entry that is not silenced. What could not be compared is a
// blocker, so that it cannot be overlooked.
func GitLab(r *report.Report, o Options) ([]byte, error) {
	severities := map[level]string{levelError: "critical", levelWarning: "major", levelNote: "info"}
	issues, seen := []gitlabIssue{}, map[string]bool{}
	for _, e := range entriesOf(r) {
		fingerprint := e.fingerprint()
		// GitLab drops the whole report if two issues share a fingerprint.
		if e.isSilent() || seen[fingerprint] {
			continue
		}
		seen[fingerprint] = true
		issue := gitlabIssue{
			Description: e.sentence(), CheckName: "helmdrift/" + e.rule, Fingerprint: fingerprint, Severity: severities[e.level],
			Location: gitlabLocation{Path: e.file(o), Lines: gitlabLines{Begin: 1}},
		}
		if e.release != nil && e.object != nil {
			issue.Description = ReleaseName(e.release) + ": " + issue.Description
		}
		if e.rule == "error" {
			issue.Severity = "blocker"
		}
		issues = append(issues, issue)
	}
	return encode(issues)
}
