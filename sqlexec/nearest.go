package sqlexec

import (
	"varve/engine/nearest"
	"varve/engine/schema"
	"varve/engine/status"
)

// maxCompared bounds the names that a name which means nothing is compared with.
const maxCompared = 5000

// noTable is the error for a table that is not there, with the nearest that is; prefix stands before it, cause is what
// the store said.
func (x *Executor) noTable(s *Session, cause error, prefix string, n schema.Name) error {
	hint := x.nearTable(s, n)
	text := prefix + "Table not found: " + n.String() + hint
	if cause == nil {
		return status.Hinted(status.New(status.TableNotFound, "%s", text), hint)
	}
	return status.Hinted(status.Wrap(cause, status.TableNotFound, "%s", text), hint)
}

// nearTable is the hint of an error for a table that is not there; empty when nothing in its database has a name like
// it. It is a courtesy: what cannot be listed is not hinted at, and nothing to who must not see what is stored.
func (x *Executor) nearTable(s *Session, n schema.Name) string {
	if s.Blind {
		return ""
	}
	list, err := x.tableNames(n.DB)
	if err != nil || len(list) > maxCompared {
		return ""
	}
	var names []string
	for _, t := range list {
		names = append(names, t.name)
	}
	if views, err := x.viewsOf(n.DB); err == nil {
		for _, v := range views {
			if v.name.Table == n.Table {
				return ". It is a view"
			}
			names = append(names, v.name.Table)
		}
	}
	if hint := nearest.Hint(n.Table, names); hint != "" {
		return "." + hint
	}
	return ""
}
