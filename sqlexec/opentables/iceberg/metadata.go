package iceberg

// Metadata is the metadata of a table at one version, in the JSON form of the specification.
type Metadata struct {
	Format        int               `json:"format-version"`
	UUID          string            `json:"table-uuid"`
	Location      string            `json:"location"`
	LastSequence  int64             `json:"last-sequence-number"`
	UpdatedMS     int64             `json:"last-updated-ms"`
	LastColumn    int               `json:"last-column-id"`
	Schema        int               `json:"current-schema-id"`
	Schemas       []Schema          `json:"schemas"`
	Spec          int               `json:"default-spec-id"`
	Specs         []Spec            `json:"partition-specs"`
	LastPartition int               `json:"last-partition-id"`
	SortOrder     int               `json:"default-sort-order-id"`
	SortOrders    []SortOrder       `json:"sort-orders"`
	Properties    map[string]string `json:"properties,omitempty"`
	Snapshot      int64             `json:"current-snapshot-id"` // -1: none
	Refs          map[string]Ref    `json:"refs"`
	Snapshots     []Snapshot        `json:"snapshots"`
	SnapshotLog   []SnapshotLog     `json:"snapshot-log"`
	MetadataLog   []MetadataLog     `json:"metadata-log"`
}

// SortOrder is an order of rows; the only one written is none.
type SortOrder struct {
	ID     int        `json:"order-id"`
	Fields []struct{} `json:"fields"`
}

// Ref names a snapshot.
type Ref struct {
	Snapshot int64  `json:"snapshot-id"`
	Type     string `json:"type"`
}

// Snapshot is the table at one time.
type Snapshot struct {
	ID           int64             `json:"snapshot-id"`
	Parent       *int64            `json:"parent-snapshot-id,omitempty"`
	Sequence     int64             `json:"sequence-number"`
	TimeMS       int64             `json:"timestamp-ms"`
	ManifestList string            `json:"manifest-list"`
	Summary      map[string]string `json:"summary"`
	Schema       int               `json:"schema-id"`
}

// SnapshotLog says when a snapshot became current.
type SnapshotLog struct {
	TimeMS   int64 `json:"timestamp-ms"`
	Snapshot int64 `json:"snapshot-id"`
}

// MetadataLog names an earlier metadata file.
type MetadataLog struct {
	TimeMS int64  `json:"timestamp-ms"`
	File   string `json:"metadata-file"`
}

// New is the metadata of a table without a snapshot.
func New(uuid, location string, nowMS int64, spec Spec) *Metadata {
	return &Metadata{Format: FormatVersion, UUID: uuid, Location: location, UpdatedMS: nowMS, Schema: -1,
		Schemas: []Schema{}, Specs: []Spec{spec}, LastPartition: dayField,
		SortOrders: []SortOrder{{Fields: []struct{}{}}}, Properties: map[string]string{}, Snapshot: -1,
		Refs: map[string]Ref{}, Snapshots: []Snapshot{}, SnapshotLog: []SnapshotLog{}, MetadataLog: []MetadataLog{}}
}

// Evolve makes fields the current schema, as a new version. last is the highest field id that was ever given.
func (m *Metadata) Evolve(fields []Field, last int) {
	id := 0
	for _, s := range m.Schemas {
		id = max(id, s.ID+1)
	}
	m.Schemas = append(m.Schemas, Schema{Type: "struct", ID: id, Fields: fields})
	m.Schema, m.LastColumn = id, max(m.LastColumn, last)
}

// Current is the current schema; nil: the table has none yet.
func (m *Metadata) Current() *Schema {
	for i := range m.Schemas {
		if m.Schemas[i].ID == m.Schema {
			return &m.Schemas[i]
		}
	}
	return nil
}

// Add makes a snapshot the current one.
func (m *Metadata) Add(s Snapshot) {
	if m.Snapshot >= 0 {
		parent := m.Snapshot
		s.Parent = &parent
	}
	s.Schema = m.Schema
	m.Snapshots = append(m.Snapshots, s)
	m.SnapshotLog = append(m.SnapshotLog, SnapshotLog{s.TimeMS, s.ID})
	m.Snapshot, m.LastSequence, m.UpdatedMS = s.ID, s.Sequence, s.TimeMS
	m.Refs = map[string]Ref{"main": {Snapshot: s.ID, Type: "branch"}}
}

// Expire forgets snapshots from before a time, and those beyond most, but never the current one. Schemas that no
// snapshot has go with them.
func (m *Metadata) Expire(beforeMS int64, most int) {
	keep := m.Snapshots[:0:0]
	for i, s := range m.Snapshots {
		if s.ID == m.Snapshot || s.TimeMS >= beforeMS && len(m.Snapshots)-i <= most {
			keep = append(keep, s)
		}
	}
	m.Snapshots = keep
	there, used := map[int64]bool{}, map[int]bool{m.Schema: true}
	for _, s := range keep {
		there[s.ID], used[s.Schema] = true, true
	}
	entries := m.SnapshotLog[:0:0]
	for _, l := range m.SnapshotLog {
		if there[l.Snapshot] {
			entries = append(entries, l)
		}
	}
	m.SnapshotLog = entries
	schemas := m.Schemas[:0:0]
	for _, s := range m.Schemas {
		if used[s.ID] {
			schemas = append(schemas, s)
		}
	}
	m.Schemas = schemas
}
