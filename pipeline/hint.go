package pipeline

import (
	"strings"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/flatten"
)

// commentCreated is the comment of tables that a write creates.
const commentCreated = "Created on insertion"

// hinter makes the hints of a request's groups: what to create when the table is absent.
type hinter struct {
	request *Request
	time    string   // the time index
	tags    []string // of service_identity, which its request names
	// identity tells that the rows are those of service_identity. The requests that name its tags come from senders
	// that do not know the table, and each names as tags what it has itself.
	identity bool
	strict   bool // integers and floats are two kinds
}

// hint joins the request's hints with the option variables of rows, which come first. Whether rows replace each other
// is no hint of a request: log tables keep all rows unless an entry's variables say otherwise.
func (h *hinter) hint(v *flatten.OptionVars) (engine.Hint, error) {
	text := map[string]string{}
	schema.TakeHints(text, h.request.Hints, schema.LogHint)
	for o := range flatten.OptionCount {
		if x, ok := v.Value(o); ok {
			text[o.String()] = x
		}
	}
	create, err := engine.AutoCreate(text)
	if err != nil {
		return engine.Hint{}, err
	}
	delete(text, schema.AutoCreateHint)
	if err := setMode(text); err != nil {
		return engine.Hint{}, err
	}
	text["comment"] = commentCreated // an option as well: SHOW CREATE TABLE prints it
	options, err := schema.ParseOptions(text)
	if err != nil {
		return engine.Hint{}, err
	}
	if h.request.NoAutoCreate {
		create = false
	}
	return engine.Hint{AutoCreate: create, Disabled: h.request.NoAutoCreate, TimeIndex: h.time, Tags: h.tags,
		TableRoles: h.identity, Options: options, Comment: commentCreated,
		StrictNumbers: h.strict, Reject: h.request.Reject}, nil
}

// setMode decides between keeping all rows, which is what log tables do, and merging rows of equal key and time.
func setMode(text map[string]string) error {
	mode, given := text["append_mode"]
	_, merging := text["merge_mode"]
	_, physical := text["physical_table"]
	switch {
	case physical && !merging && !given: // of equal rows of metrics the last counts
	case !merging && !given:
		text["append_mode"] = "true"
	case merging && !given:
		text["append_mode"] = "false"
	case merging && strings.EqualFold(mode, "true"):
		return status.New(status.InvalidArguments, "`merge_mode` cannot be set for a table with `append_mode = 'true'`")
	}
	return nil
}
