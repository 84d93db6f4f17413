package skyrail_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"skyrail/internal/ingest"
	"skyrail/internal/pyworker"
	"skyrail/internal/submission"
)

// TestVerdictsAreDocumented holds docs/verdicts.md to the codes there are.
func TestVerdictsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("docs/verdicts.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z0-9-]+)` \\|").FindAllStringSubmatch(string(page), -1) {
		documented[row[1]] = true
	}
	codes := []string{ingest.ContractFailed, ingest.ModelUnreadable, ingest.ModelMismatch}
	for _, r := range submission.Rules() {
		codes = append(codes, string(r))
		if !strings.Contains(string(page), r.Explanation()) {
			t.Errorf("%s: the page does not say %q", r, r.Explanation())
		}
	}
	for _, e := range pyworker.Explanations() {
		codes = append(codes, string(e.Code))
	}
	for _, code := range codes {
		if !documented[code] {
			t.Errorf("docs/verdicts.md does not explain %s", code)
		}
		delete(documented, code)
	}
	for code := range documented {
		t.Errorf("docs/verdicts.md explains %s, which there is not", code)
	}
}
