package manifest

import (
	"encoding/json"
	"fmt"
	"slices"

	"varve/engine/schema"
)

// Origin is the description of a part in its own file. With it the manifest can be rebuilt from the parts, and a file
// that no manifest ever listed can be distinguished from a file that a lost manifest listed.
type Origin struct {
	// Edit is the number of the manifest's last edit when the part was written.
	Edit uint64 `json:"edit"`
	// Table is the table of the part; for logical tables, their physical table.
	Table schema.TableID `json:"table"`
	// Schemas are the schemas of the table and, for a physical table, of the logical tables with rows in the part.
	Schemas []*schema.Table `json:"-"`
	// Options are those of the database.
	Options []schema.Option `json:"options,omitempty"`
	// Replaces are the files of the parts that were merged into this one and its like; none: a memtable was flushed.
	Replaces []uint64 `json:"replaces,omitempty"`
	// Flushed is the sequence number up to which all rows of the table are in parts once this part is listed.
	Flushed uint64 `json:"flushed"`
	// The rest is as in PartMeta.
	MinSeq  uint64 `json:"min_seq"`
	MaxSeq  uint64 `json:"max_seq"`
	Level   uint8  `json:"level,omitempty"`
	Unique  bool   `json:"unique,omitempty"`
	IndexUS int64  `json:"index_us,omitempty"`
}

type originJSON struct {
	*Origin
	Schemas []tableJSON `json:"tables"`
}

// Encode returns the bytes that a part keeps.
func (o *Origin) Encode() ([]byte, error) {
	j := originJSON{Origin: o}
	for _, t := range o.Schemas {
		j.Schemas = append(j.Schemas, toJSON(t))
	}
	return json.Marshal(j)
}

// DecodeOrigin reads what Encode gave.
func DecodeOrigin(b []byte) (*Origin, error) {
	j := originJSON{Origin: &Origin{}}
	if err := json.Unmarshal(b, &j); err != nil {
		return nil, fmt.Errorf("origin of a part: %w", err)
	}
	for _, t := range j.Schemas {
		s, err := fromJSON(t)
		if err != nil {
			return nil, fmt.Errorf("origin of a part: %w", err)
		}
		j.Origin.Schemas = append(j.Origin.Schemas, s)
	}
	own := func(t *schema.Table) bool { return t.ID == j.Origin.Table }
	if !slices.ContainsFunc(j.Origin.Schemas, own) {
		return nil, fmt.Errorf("origin of a part: it lacks the schema of its table, %d", j.Origin.Table)
	}
	return j.Origin, nil
}
