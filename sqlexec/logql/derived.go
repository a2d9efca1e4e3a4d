package logql

import (
	"slices"
	"strings"

	"varve/sqlexec/logql/syntax"
)

// ServiceLabel is the label of a stream that names its service. A stream that has none gets it of the first of
// serviceNames that it has.
const ServiceLabel = "service_name"

// serviceNames are the labels that name a service, in the order in which they count.
var serviceNames = []string{ServiceLabel, "service", "app", "application", "app_name", "name",
	"app_kubernetes_io_name", "container", "container_name", "k8s_container_name", "component", "workload", "job",
	"k8s_job_name"}

// ServiceLabels are the labels of which a stream without ServiceLabel gets it.
func ServiceLabels() []string { return slices.Clone(serviceNames[1:]) }

// unknownService is the service of streams that name none.
const unknownService = "unknown_service"

// derived says which labels lines have that no column holds: ServiceLabel, of the stream, and LevelLabel, of the
// metadata. They follow from the other labels and the line: lines of answers have them; series of numbers have them
// only where the query names them, so that they do not part series.
type derived struct{ service, level bool }

// namedBy are the derived labels that a query names.
func namedBy(q syntax.Query) derived {
	d := derived{names(q, ServiceLabel), names(q, LevelLabel)}
	for _, list := range Selectors(q) {
		for _, m := range list {
			d.service = d.service || m.Name == ServiceLabel
		}
	}
	return d
}

// isDerived reports whether every line has a label that no column need hold.
func isDerived(name string) bool {
	return name == ServiceLabel || name == LevelLabel || name == TableLabel
}

// serviceColumns are the labels of which the first that has a value names the service.
func (s *source) serviceColumns() (list []column) {
	for _, name := range serviceNames {
		if c := s.label(name); c != nil {
			list = append(list, *c)
		}
	}
	return list
}

// serviceIs is the condition of a matcher of ServiceLabel; empty: all rows pass. ok false: none does.
func (s *source) serviceIs(t *test) (condition string, ok bool) {
	if passesAll(t) {
		return "", true
	}
	var empty, parts []string
	for _, c := range s.serviceColumns() {
		part := t.sql(c.sql)
		if t.matches("") {
			part += " AND " + c.sql + " <> ''"
		}
		parts = append(parts, strings.Join(append(empty[:len(empty):len(empty)], part), " AND "))
		empty = append(empty, "("+c.sql+" IS NULL OR "+c.sql+" = '')")
	}
	if t.matches(unknownService) {
		if len(empty) == 0 {
			return "", true
		}
		parts = append(parts, strings.Join(empty, " AND "))
	}
	if len(parts) < 2 {
		return strings.Join(parts, ""), len(parts) > 0
	}
	return "((" + strings.Join(parts, ") OR (") + "))", true
}

// passesAll reports whether a matcher of usual forms passes every value that is not empty.
func passesAll(t *test) bool {
	switch t.Op {
	case syntax.MatchNotEqual:
		return t.Value == ""
	case syntax.MatchRegexp:
		return t.Value == ".*" || t.Value == ".+"
	}
	return false
}

// service is the value of ServiceLabel by the labels of a stream.
func (l Labels) service() string {
	for _, name := range serviceNames {
		if v := l.Get(name); v != "" {
			return v
		}
	}
	return unknownService
}

// with adds a label to a set that lacks it.
func (l Labels) with(name, value string) Labels {
	at := 0
	for at < len(l) && l[at].Name < name {
		at++
	}
	if at < len(l) && l[at].Name == name {
		return l
	}
	out := append(l, Label{})
	copy(out[at+1:], out[at:])
	out[at] = Label{name, value}
	return out
}
