package servertest

import (
	"encoding/json"
)

// YAMLType is the content type of documents.
const YAMLType = "application/x-yaml"

// Upload stores a document and gives its version.
func (h *House) Upload(name, document string) string {
	h.Helper()
	a := h.Do("POST", "/v1/pipelines/"+name, document, "Content-Type", YAMLType)
	var got struct {
		Pipelines []struct{ Name, Version string }
	}
	if err := json.Unmarshal([]byte(a.Body), &got); err != nil || a.Status != 200 || len(got.Pipelines) != 1 ||
		got.Pipelines[0].Name != name {
		h.Fatalf("upload of %s: %d %s", name, a.Status, a.Body)
	}
	if a.Header.Get("x-service-format") != "service_manage" || a.Header.Get("x-service-execution-time") == "" {
		h.Errorf("headers %v", a.Header)
	}
	return got.Pipelines[0].Version
}

// Makes is a document whose rows have the given column.
func Makes(column string) string {
	return "transform:\n  - {field: 'a, " + column +
		"', type: string}\n  - {field: ts, type: 'epoch, ms', index: timestamp}\n"
}
