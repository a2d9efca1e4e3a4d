package flatten

import (
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
)

// Option is one of the table options that an entry can name with a top-level key, by its place in the table of hints.
type Option uint8

// OptionCount is the number of options.
const OptionCount Option = 6

// optionNames are the names of the options.
var optionNames = [OptionCount]string(schema.Hints(schema.VariableHint))

// String is the option's name, also as a hint.
func (o Option) String() string { return optionNames[o] }

// optionVariables maps the keys of entries to options.
var optionVariables = func() map[string]Option {
	keys := make(map[string]Option, OptionCount)
	for o, name := range optionNames {
		keys["service_"+name] = Option(o)
	}
	return keys
}()

// suffixVariable is the key of a table suffix. It never becomes a column and has no effect here.
const suffixVariable = "service_table_suffix"

// OptionVars are the option variables of a row, as text. Comparable.
type OptionVars struct {
	set    uint8
	values [OptionCount]string
}

// Value is the text of an option; ok reports whether the row names it.
func (v *OptionVars) Value(o Option) (text string, ok bool) { return v.values[o], v.set>>o&1 != 0 }

// Set notes the text of an option.
func (v *OptionVars) Set(o Option, text string) {
	v.set |= 1 << o
	v.values[o] = text
}

// group is the option variables of the current row, and the builder of the last row that had some.
type group struct {
	set    uint8
	texts  [OptionCount]string // of the options in set, and of former rows
	vars   OptionVars          // of b
	b      *vector.Builder
	groups int
}

// take notes an option of the current row. Rows repeat them, so the text is mostly there.
func (g *group) take(o Option, text []byte) {
	g.set |= 1 << o
	if g.texts[o] != string(text) {
		g.texts[o] = string(text)
	}
}

// moveRow ends a row with option variables: it goes to its own builder.
func (d *Decoder) moveRow() error {
	g := &d.group
	vars := OptionVars{set: g.set}
	for o := range OptionCount {
		if g.set>>o&1 != 0 {
			vars.values[o] = g.texts[o]
		}
	}
	if g.b == nil || g.vars != vars {
		b, err := d.newGroup(vars)
		if err != nil {
			d.dropRow()
			if d.o.AllFailures && d.err == nil {
				return err
			}
			d.fail(err) // not an error of the entry alone: never skipped
			return nil
		}
		g.vars, g.b = vars, b
	}
	// Variables may say no more than the request does.
	if g.b != d.b {
		if d.wide {
			g.b.WidenLike(d.b)
		}
		if err := d.b.MoveRow(g.b); err != nil {
			return err
		}
	}
	g.b.EndRow()
	d.counted()
	return nil
}

// newGroup returns the builder of rows with other option variables than the last row.
func (d *Decoder) newGroup(vars OptionVars) (*vector.Builder, error) {
	if d.group.groups++; d.group.groups > maxGroups {
		return nil, status.New(status.InvalidArguments, "option variables change more than %d times in a request",
			maxGroups)
	}
	if d.measure(int64(d.b.Columns()) * ColumnBytes); d.err != nil { // the row's columns come again
		return nil, d.err
	}
	b, err := d.rows(vars)
	if err == nil {
		d.prepare(b)
		d.keep(b)
	}
	return b, err
}
