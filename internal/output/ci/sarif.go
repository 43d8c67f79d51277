package ci

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/helmdrift/helmdrift/internal/escape"
	"github.com/helmdrift/helmdrift/internal/order"
	"github.com/helmdrift/helmdrift/pkg/report"
)

// maxResults is how many results GitHub takes from a run (docs.github.com: SARIF support for code scanning). It refuses a file with more.
const maxResults = 25000

// These are the parts of SARIF 2.1.0 that code scanning reads.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		Results     []sarifResult     `json:"results"`
		ColumnKind  string            `json:"columnKind"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string       `json:"id"`
		ShortDescription sarifMessage `json:"shortDescription"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level   string       `json:"level"`
		Message sarifMessage `json:"message"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId"`
		RuleIndex    int                `json:"ruleIndex"`
		Level        string             `json:"level"`
		Message      sarifMessage       `json:"message"`
		Locations    []sarifLocation    `json:"locations"`
		Fingerprints map[string]string  `json:"partialFingerprints"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification,omitempty"`
	}
	sarifLocation struct {
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
	}
)

// SARIF returns a report for code scanning (SARIF 2.1.0): a result for each entry, at the template of the object. What a rule silences is
// suppressed. Fingerprints depend on neither values nor order, so a finding stays the same alert as long as it exists.
func SARIF(r *report.Report, o Options) ([]byte, error) {
	run := sarifRun{
		ColumnKind: "utf16CodeUnits", Results: []sarifResult{},
		Tool: sarifTool{Driver: sarifDriver{Name: "helmdrift", Version: line(r.Helmdrift)}},
	}
	index := map[string]int{}
	for i, rule := range rules() {
		index[rule.id] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{ID: rule.id, ShortDescription: sarifMessage{rule.text}})
	}
	isLacking := slices.ContainsFunc(r.Releases, func(release report.Release) bool { return o.lacks(&release) })
	invocation := sarifInvocation{Successful: !r.HasError() && !isLacking}
	entries := entriesOf(r)
	order.Sort(entries, byLevel)
	if n := len(entries) - maxResults; n > 0 {
		entries = entries[:maxResults]
		invocation.Notifications = append(invocation.Notifications, sarifNotification{
			Level: "warning", Message: sarifMessage{fmt.Sprintf("%d more results are left out: code scanning takes %d", n, maxResults)},
		})
	}
	run.Invocations = []sarifInvocation{invocation}
	for _, e := range entries {
		run.Results = append(run.Results, sarifResultOf(e, index[e.rule], o))
	}
	return encode(sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}})
}

// sarifResultOf returns an entry as a result.
func sarifResultOf(e entry, rule int, o Options) sarifResult {
	levels := map[level]string{levelError: "error", levelWarning: "warning", levelNote: "note", levelSilent: "note"}
	text := e.sentence()
	logical := e.subject
	if e.release != nil && e.object != nil {
		text = ReleaseName(e.release) + ": " + text
		logical = ReleaseName(e.release) + "/" + e.subject
	}
	if e.path != "" {
		logical += "/" + e.path
	}
	out := sarifResult{
		RuleID: e.rule, RuleIndex: rule, Level: levels[e.level], Message: sarifMessage{text},
		Locations: []sarifLocation{{
			Physical: sarifPhysical{Artifact: sarifArtifact{uri(e.file(o))}, Region: sarifRegion{StartLine: 1}},
			Logical:  []sarifLogical{{logical}},
		}},
		Fingerprints: map[string]string{"helmdrift/v1": e.fingerprint()},
	}
	if e.isSilent() {
		out.Suppressions = []sarifSuppression{{Kind: "external", Justification: e.silencedBy}}
	}
	return out
}

// uri returns a relative path as a URI reference. Its first segment has no colon, which would make it a scheme.
func uri(path string) string {
	segments := strings.Split(path, "/")
	for i, s := range segments {
		segments[i] = strings.ReplaceAll(url.PathEscape(s), ":", "%3A")
	}
	return strings.Join(segments, "/")
}

// encode returns a document as JSON. Characters that are not plainly visible, and those that begin an element of HTML, are escaped.
func encode(document any) ([]byte, error) {
	text, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		return nil, err
	}
	return []byte(escape.JSON(string(text)) + "\n"), nil
}
