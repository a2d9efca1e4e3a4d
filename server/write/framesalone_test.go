package write_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"varve/server/servertest"
)

// TestBrokenEntriesFailAlone: what is no entry at all costs no other, where it can be told where the next one begins:
// text that is not UTF-8, brackets that do not end on their line, actions that are broken.
func TestBrokenEntriesFailAlone(t *testing.T) {
	h := servertest.Real(t, nil)
	jsonType := []string{"Content-Type", "application/json"}
	for i, c := range []struct{ body, failed string }{
		{"{\"event\":\"a\"}{\"event\":\"\xff\"}[{\"event\":\"b\"}]", "[1]"},
		{"{\"event\":\"a\"}\n{\"event\":{\"n\":1}\n{\"event\":[\n{\"event\":\"x}\n{\"event\":\"b\"}\n", "[1 2 3]"},
		{"{\"event\":\"a\",\"host\":\"\xff\"}\n{\"event\":\"b\"}\n{\"event\":\"b\"}\n{\"event\":\"b\"", "[0 3]"},
		{"{\n\"event\":\"a\",\"x\":tru\n}\n{\n\"event\":\"b\"\n}{\"event\":\"b\"}", "[0]"},
	} {
		a := h.Do("POST", fmt.Sprint(servertest.CollectorPath, "/services/collector?table=hec", i), c.body, jsonType...)
		h.Want(a, 400, `"stored":2`)
		var told struct{ Failures []struct{ Event int } }
		if err := json.Unmarshal([]byte(a.Body), &told); err != nil {
			t.Fatal(err)
		}
		var failed []int
		for _, f := range told.Failures {
			failed = append(failed, f.Event)
		}
		if fmt.Sprint(failed) != c.failed {
			t.Errorf("event collector, body %d: %s", i, a.Body)
		}
		h.Holds(fmt.Sprint("SELECT count(*) FROM hec", i), "[[2]]")
	}
	for i, c := range []struct {
		body, kind string
		bad        int
	}{
		{"[{\"m\":\"a\"},{\"m\":\"\xff\"},{\"m\":\"b\"}]", "application/json", 2},
		{"{\"m\":\"a\"}\n{\"m\":{\"n\":1}\n{\"m\":\"b\"}\n", "application/json", 2},
		{"a\nb\n\xff\n", "text/plain", 3},
	} {
		a := h.Do("POST", fmt.Sprint(servertest.AgentLogs, "?table=dog", i), c.body, "Content-Type", c.kind)
		h.Want(a, 400, fmt.Sprintf("log %d, one of 1 that are not stored", c.bad))
		h.Holds(fmt.Sprint("SELECT count(*) FROM dog", i), "[[2]]")
	}
	const document = "{\"n\":1}\n"
	for i, c := range []struct{ bad, items string }{
		{"hello\n" + document, "index 201 index 400 index 201"},
		{"{\"index\":{\"_id\":\"7\"\n" + document, "index 201 index 400 index 201"},
		{"{\"index\":{}}\n{\"n\":\"\xff\"}\n", "index 201 index 400 index 201"},
		{"{\"delete\":{\"_id\":\"7\"}}\n", "index 201 delete 400 index 201"},
		{"{\"update\":{\"_id\":\"7\"}}\n" + document, "index 201 update 400 index 201"},
		{"{\"index\":\n", "index 201 index 400 index 201"},
		{"{\"create\":{\"_index\":1},\"index\":{}}\n" + document, "index 201 create 400 index 201"},
	} {
		good := "{\"index\":{}}\n" + document
		a := h.Do("POST", fmt.Sprint(servertest.BulkPath, "/bulk", i, "/_bulk"), good+c.bad+good, "Content-Type",
			servertest.BulkType)
		h.Want(a, 200, `"errors":true`)
		var told struct {
			Items []map[string]struct{ Status int }
		}
		if err := json.Unmarshal([]byte(a.Body), &told); err != nil {
			t.Fatal(err)
		}
		var items []string
		for _, it := range told.Items {
			for action, one := range it {
				items = append(items, fmt.Sprint(action, " ", one.Status))
			}
		}
		if got := strings.Join(items, " "); got != c.items {
			t.Errorf("bulk with %q: %s", c.bad, a.Body)
		}
		h.Holds(fmt.Sprint("SELECT sum(n) FROM bulk", i), "[[2]]")
	}
	a := h.Do("POST", servertest.BulkPath+"/cut/_bulk", "{\"index\":{}}\n"+document+"{\"index\":{}}\n", "Content-Type",
		servertest.BulkType)
	h.Want(a, 200, "line 3: the document of the last action is missing")
	h.Holds("SELECT count(*) FROM cut", "[[1]]")
}
