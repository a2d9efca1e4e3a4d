package engine

import (
	"errors"
	"testing"

	"varve/engine/schema"
	"varve/engine/vector"
)

// TestClashKeepsItsValue: an error that names a value says the same after the memory of the write has become another's.
func TestClashKeepsItsValue(t *testing.T) {
	v := &vector.Vector{}
	v.Reset(vector.StringType)
	v.AppendNulls(0, 2)
	one := &vector.Vector{}
	one.Reset(vector.StringType)
	one.Views, one.Heap = append(one.Views, vector.View{Len: 5}), append(one.Heap, "first"...)
	v.Append(2, one, 0, 1)
	var err error = clashOf(&schema.Column{Name: "c", Type: vector.Int64Type}, v, 3)
	copy(v.Heap, "other")
	v.Reset(vector.FloatType)
	var clash *TypeClash
	if !errors.As(err, &clash) || clash.Row != 2 || string(clash.Value.Bytes(0)) != "first" ||
		clash.Given != vector.StringType {
		t.Errorf("%+v", clash)
	}
}
