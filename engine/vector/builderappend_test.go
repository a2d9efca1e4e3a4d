package vector

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// fillRows adds rows of random columns, the same for the same seed and range.
func fillRows(t *testing.T, b *Builder, seed uint64, from, to int) {
	t.Helper()
	types := []Type{Int64Type, StringType, BoolType, FloatType, Uint8Type}
	for i := from; i < to; i++ {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		for k := range rng.IntN(6) {
			n := rng.IntN(12)
			c, err := b.Column(fmt.Sprint("c", n), types[n%len(types)])
			if err != nil {
				t.Fatal(err)
			}
			switch c.Type().Kind() {
			case Int64:
				c.SetInt(int64(i*k - n))
			case Uint64:
				c.SetUint(uint64(i + n))
			case Float64:
				c.SetFloat(float64(i) / 4)
			case Bool:
				c.SetBool(i%3 == 0)
			default:
				c.SetString(fmt.Sprint("row ", i))
			}
		}
		b.EndRow()
	}
}

func builderText(b *Builder) string {
	fields, rows := b.Finish()
	var s strings.Builder
	fmt.Fprintln(&s, fields, rows.N)
	for r := range rows.N {
		for _, c := range rows.Cols {
			switch {
			case c.IsNull(r):
				s.WriteString("NULL|")
			case c.Type.Kind() == Int64:
				fmt.Fprint(&s, c.Int(r), "|")
			case c.Type.Kind() == Uint64:
				fmt.Fprint(&s, c.Uint(r), "|")
			case c.Type.Kind() == Float64:
				fmt.Fprint(&s, c.Float(r), "|")
			case c.Type.Kind() == Bool:
				fmt.Fprint(&s, c.Bool(r), "|")
			default:
				s.WriteString(c.Str(r) + "|")
			}
		}
		s.WriteByte('\n')
	}
	return s.String()
}

// TestBuilderAppend joins builders and compares with the rows built in one.
func TestBuilderAppend(t *testing.T) {
	whole, joined, part := NewBuilder(), NewBuilder(), NewBuilder()
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 99))
		whole.Reset()
		joined.Reset()
		at := 0
		for range rng.IntN(5) + 1 {
			end := at + rng.IntN(130)
			fillRows(t, whole, seed, at, end)
			if rng.IntN(3) == 0 {
				fillRows(t, joined, seed, at, end)
			} else {
				part.Reset()
				fillRows(t, part, seed, at, end)
				if !joined.Accepts(part) {
					t.Fatal("the types do not fit")
				}
				if err := joined.Append(part); err != nil {
					t.Fatal(err)
				}
			}
			at = end
		}
		if got, want := builderText(joined), builderText(whole); got != want {
			t.Fatalf("seed %d: got\n%swant\n%s", seed, got, want)
		}
	}
	part.Reset()
	if c, err := part.Column("c0", StringType); err != nil {
		t.Fatal(err)
	} else {
		c.SetString("x")
	}
	part.EndRow()
	joined.Reset()
	fillRows(t, joined, 1, 0, 100)
	if joined.Accepts(part) {
		t.Error("a column of another type is accepted")
	}
	if joined.Append(part) == nil {
		t.Error("a column of another type is appended")
	}
}

func TestBuilderAppendRows(t *testing.T) {
	b := NewBuilder()
	id, err := b.Column("id", Int64Type)
	if err != nil {
		t.Fatal(err)
	}
	name, err := b.Column("name", StringType)
	if err != nil {
		t.Fatal(err)
	}
	id.SetInt(1)
	b.EndRow()
	id.SetInt(7) // a row that was begun gives way
	dict := &Vector{Type: StringType, Form: Dict,
		Values: &Vector{Type: StringType, Heap: []byte("ab"), Views: []View{{0, 1}, {1, 1}}}, Codes: []uint32{1, 0, 1}}
	b.AppendRows([]*ColumnBuilder{id, name}, []*Vector{ConstInt(Int64Type, 5), dict}, 3)
	b.AppendRows([]*ColumnBuilder{name}, []*Vector{dict}, 2) // id is NULL
	id.SetInt(9)
	b.EndRow()
	_, batch := b.Finish()
	want := "1,NULL 5,b 5,a 5,b NULL,b NULL,a 9,NULL"
	var rows []string
	for i := range batch.N {
		row := []string{"NULL", "NULL"}
		if !batch.Cols[0].IsNull(i) {
			row[0] = fmt.Sprint(batch.Cols[0].Int(i))
		}
		if !batch.Cols[1].IsNull(i) {
			row[1] = batch.Cols[1].Str(i)
		}
		rows = append(rows, strings.Join(row, ","))
	}
	if got := strings.Join(rows, " "); got != want {
		t.Errorf("rows %s, want %s", got, want)
	}
}
