package dashboard

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestConfigurationIsExplained holds that the page explains the keys of the configuration as docs/config.md does.
func TestConfigurationIsExplained(t *testing.T) {
	text, err := os.ReadFile("../../docs/config.md")
	if err != nil {
		t.Fatal(err)
	}
	type explained struct {
		Default string `json:"default"`
		Text    string `json:"text"`
	}
	keys := map[string]explained{}
	for line := range strings.SplitSeq(string(text), "\n") {
		cells := strings.Split(strings.ReplaceAll(line, `\|`, "\x00"), "|")
		if len(cells) != 5 || !strings.HasPrefix(strings.TrimSpace(cells[1]), "`") {
			continue
		}
		plain := func(i int) string { return strings.ReplaceAll(strings.TrimSpace(cells[i]), "\x00", "|") }
		keys[strings.Trim(plain(1), "`")] = explained{strings.Trim(plain(2), "`"), plain(3)}
	}
	if len(keys) < 40 {
		t.Fatalf("docs/config.md has %d keys in its table", len(keys))
	}
	var want strings.Builder
	want.WriteString("// The keys of the configuration as docs/config.md explains them. A test writes this file, see configdoc_test.go.\n\n" +
		"/** @type {Record<string, {default: string, text: string}>} */\nexport const explained = {\n")
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		line, err := json.Marshal(keys[key])
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&want, "  %q: %s,\n", key, line)
	}
	want.WriteString("};\n")
	if *update {
		if err := os.WriteFile("web/core/configkeys.js", []byte(want.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("web/core/configkeys.js")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want.String() {
		t.Error("web/core/configkeys.js is not what docs/config.md says; go test ./server/dashboard -run TestConfigurationIsExplained -update writes it")
	}
}
