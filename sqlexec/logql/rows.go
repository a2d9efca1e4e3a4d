package logql

import (
	"cmp"
	"slices"

	"varve/engine/convert"
	"varve/engine/jsontext"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/logql/stage"
)

// rowReader reads the rows of a source from vectors of source.columns. One goroutine at a time.
type rowReader struct {
	s    *source
	also derived // labels that rows have

	cols []*vector.Vector

	at       int64 // of the row in hand, ns
	line     []byte
	stream   []stage.Label
	metadata []stage.Label

	objects []jsontext.Reader // that hold the texts of members
	names   map[string]string // of members of objects, by their text
}

// maxNames bounds the names of members that a reader keeps.
const maxNames = 1 << 12

// begin takes the vectors of the next rows.
func (r *rowReader) begin(cols []*vector.Vector) error {
	r.cols = cols
	if want := 2 + len(r.s.objects) + len(r.s.labels) + len(r.s.fields); len(cols) < want {
		return status.New(status.Internal, "a row of logs has %d columns, want %d", len(cols), want)
	}
	return nil
}

// load reads row i. What it yields is valid until the next row.
func (r *rowReader) load(i int) {
	s := r.s
	r.at, _ = convert.Time(r.cols[0].Int(i), s.time.Type, vector.Timestamp(9))
	r.line = nil
	if !r.cols[1].IsNull(i) {
		r.line = r.cols[1].Bytes(i)
	}
	r.stream, r.metadata = r.stream[:0], r.metadata[:0]
	next := 2 + len(s.objects)
	service, rank := unknownServiceText, len(serviceNames)+1
	for k := range s.labels {
		if v := r.cols[next]; !v.IsNull(i) {
			if value := v.Bytes(i); len(value) > 0 {
				c := &s.labels[k]
				r.stream = append(r.stream, stage.Label{Name: c.name, Value: value})
				if c.service > 0 && c.service < rank {
					service, rank = value, c.service
				}
			}
		}
		next++
	}
	r.insert(TableLabel, s.table)
	if r.also.service && rank > 1 { // 1: it is a label as it is
		r.insert(ServiceLabel, service)
	}
	for k := range s.fields {
		if v := r.cols[next]; !v.IsNull(i) && len(v.Bytes(i)) > 0 {
			r.metadata = append(r.metadata, stage.Label{Name: s.fields[k].name, Value: v.Bytes(i)})
		}
		next++
	}
	for k := range s.objects {
		if v := r.cols[2+k]; !v.IsNull(i) {
			r.object(v.Bytes(i), k)
		}
	}
	if r.also.level && !has(r.metadata, LevelLabel) {
		level := []byte(detectLevel(r.line, r.metadata, r.stream))
		r.metadata = append(r.metadata, stage.Label{Name: LevelLabel, Value: level})
	}
	if len(r.metadata) > 1 {
		slices.SortStableFunc(r.metadata, func(a, b stage.Label) int { return cmp.Compare(a.Name, b.Name) })
		r.metadata = slices.CompactFunc(r.metadata, func(a, b stage.Label) bool { return a.Name == b.Name })
	}
}

// unknownServiceText is unknownService as the value of a label.
var unknownServiceText = []byte(unknownService)

// insert puts a label among those of the stream, which are sorted.
func (r *rowReader) insert(name string, value []byte) {
	at := 0
	for at < len(r.stream) && r.stream[at].Name < name {
		at++
	}
	r.stream = slices.Insert(r.stream, at, stage.Label{Name: name, Value: value})
}

// has reports whether a list has a label.
func has(list []stage.Label, name string) bool {
	return slices.ContainsFunc(list, func(l stage.Label) bool { return l.Name == name })
}

// object adds the members of object k as metadata.
func (r *rowReader) object(text []byte, k int) {
	if len(text) <= len("{}") {
		return
	}
	if r.objects == nil {
		r.objects = make([]jsontext.Reader, len(r.s.objects))
	}
	r.objects[k].Reset(text)
	r.members(&r.objects[k], "", r.s.objects[k].dropped)
}

// members adds the members of an object, those of objects in it with the names of both. Members that are dropped are
// left out.
func (r *rowReader) members(j *jsontext.Reader, prefix string, dropped []string) {
	for j.Enter(jsontext.Object); j.Member(); {
		key := j.Key
		if prefix != "" {
			key = append([]byte(prefix), key...)
		}
		if j.Peek() == jsontext.Object && len(prefix) < maxPrefix {
			r.members(j, string(key)+"_", dropped)
			continue
		}
		name := r.name(key)
		value, ok := j.Plain()
		if ok && len(value) > 0 && !slices.Contains(dropped, name) {
			r.metadata = append(r.metadata, stage.Label{Name: name, Value: value})
		}
	}
}

// maxPrefix bounds the names of objects within objects whose members are metadata.
const maxPrefix = 1 << 10

// name is the label of a member.
func (r *rowReader) name(key []byte) string {
	if name, ok := r.names[string(key)]; ok {
		return name
	}
	if r.names == nil || len(r.names) >= maxNames {
		r.names = map[string]string{}
	}
	name := cleanName(string(key))
	r.names[string(key)] = name
	return name
}
