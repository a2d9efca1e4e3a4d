package servertest

import (
	"encoding/json"
	"fmt"
	"net/url"
)

// Holds holds the rows of a query against a text.
func (h *House) Holds(query, want string) {
	h.Helper()
	if got := fmt.Sprint(h.Selected(query)); got != want {
		h.Errorf("%s\n got %s\nwant %s", query, got, want)
	}
}

// SQL sends a statement.
func (h *House) SQL(text string) Answer {
	h.Helper()
	return h.Do("GET", "/v1/sql?sql="+url.QueryEscape(text), "")
}

// Selected asks with a statement and gives the rows.
func (h *House) Selected(statement string, headers ...string) [][]any {
	h.Helper()
	a := h.Do("GET", "/v1/sql?sql="+url.QueryEscape(statement), "", headers...)
	var out struct {
		Output []struct{ Records struct{ Rows [][]any } }
	}
	if err := json.Unmarshal([]byte(a.Body), &out); a.Status != 200 || err != nil || len(out.Output) == 0 {
		h.Fatalf("%s: %d %s", statement, a.Status, a.Body)
	}
	return out.Output[0].Records.Rows
}

// Execute runs a statement without rows.
func (h *House) Execute(statement string) {
	h.Helper()
	h.Want(h.Do("GET", "/v1/sql?sql="+url.QueryEscape(statement), ""), 200, "affectedrows")
}
