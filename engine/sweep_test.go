package engine

import (
	"strings"
	"testing"

	"varve/engine/parts"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/engine/vfs"
	"varve/sst"
)

// mapCounter counts the mappings of a file system that are not given back.
type mapCounter struct {
	vfs.FS
	open int
}

func (c *mapCounter) Map(name string) (vfs.Mapping, error) {
	m, err := c.FS.Map(name)
	if err == nil {
		c.open++
		m = counted{m, c}
	}
	return m, err
}

type counted struct {
	vfs.Mapping
	of *mapCounter
}

func (c counted) Unmap() error {
	c.of.open--
	return c.Mapping.Unmap()
}

// TestLookAtLetsGo: a part that says nothing readable of itself is not left open.
func TestLookAtLetsGo(t *testing.T) {
	for name, origin := range map[string]string{"no JSON": "{", "without its table": `{"table":7,"tables":[]}`} {
		t.Run(name, func(t *testing.T) {
			fs := &mapCounter{FS: vfs.NewMem()}
			if err := parts.At(fs, "/data").Make(); err != nil {
				t.Fatal(err)
			}
			ts := schema.Column{ID: 1, Name: "ts", Type: vector.Timestamp(3), Semantic: schema.Timestamp}
			err := parts.At(fs, "/data").Publish(9, func(f vfs.File) error {
				w := sst.NewWriter(f, sst.WriterOptions{Columns: []schema.Column{ts}})
				if err := w.Series(schema.KeyPrefix(7)); err != nil {
					return err
				}
				one := &vector.Vector{Type: ts.Type, Ints: []int64{1}}
				if err := w.Write(&vector.Batch{N: 1, Cols: []*vector.Vector{one}}); err != nil {
					return err
				}
				w.Describe([]byte(origin))
				_, err := w.Finish()
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			s := lookAt(parts.At(fs, "/data"), 9)
			if s.err == nil || !strings.Contains(s.err.Error(), "origin of a part") || fs.open != 0 {
				t.Errorf("%d mappings are open; the part says: %v", fs.open, s.err)
			}
		})
	}
}
