package report

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadLargeIntegersAndNulls(t *testing.T) {
	var f Finding
	text := `{"id":"1","path":"a","verdict":"add","cause":"drift","managed":true,"certain":true,"live":9007199254740993,"after":{"a":[18014398509481985,1.5]},"nulls":["old"]}`
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(text, string(again)); diff != "" {
		t.Error(diff)
	}
}
