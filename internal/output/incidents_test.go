package output

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestQuestionsForJQ runs the lines for jq in docs/incidents.md against saved reports, and compares the answers with a golden file. Each
// must have an answer: a key that is spelled wrong has none.
func TestQuestionsForJQ(t *testing.T) {
	page, err := os.ReadFile("../../docs/incidents.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(page), "```jq\n")
	block, _, _ = strings.Cut(block, "```")
	dir := t.TempDir()
	for name, from := range map[string]string{"fleet.json": "scan-clusters.json", "drift.json": "drift.json"} {
		text, err := os.ReadFile(filepath.Join("testdata", from))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("the questions need jq")
	}
	var answers strings.Builder
	questions := 0
	for line := range strings.Lines(block) {
		if !strings.HasPrefix(line, "jq ") {
			continue
		}
		questions++
		cmd := exec.Command("sh", "-c", line)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil || len(out) == 0 || strings.Contains(string(out), "null") {
			t.Errorf("%s%v\n%s", line, err, out)
		}
		answers.WriteString(line + string(out) + "\n")
	}
	if questions != 10 {
		t.Errorf("%d questions", questions)
	}
	golden(t, "testdata/incidents.jq.txt", []byte(answers.String()))
}
