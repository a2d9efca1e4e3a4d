package plan

import (
	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/parse"
)

const (
	// maxSeries bounds the rows of generate_series.
	maxSeries = 10_000_000
	// seriesCheck is the number of values after which a series looks whether its query still runs.
	seriesCheck = 1 << 16
)

// Series are the rows of generate_series or range of constants, which are made as they are read.
type Series struct {
	Of    expr.Series
	Count int64
	Cols  []Column // the value and, if requested, its number from 1
}

// Columns are the value and its number.
func (n *Series) Columns() []Column { return n.Cols }

// seriesOf reports whether a function of FROM counts by what the tables before it have.
func seriesOf(f *parse.TableFunc) bool {
	depends := false
	for _, a := range f.Call.Args {
		parse.Walk(a, func(x parse.Expr) bool {
			_, column := x.(*parse.Column)
			depends = depends || column
			return !depends
		})
	}
	return depends && tableFunctions[f.Call.Name].counts
}

// tableFunc binds generate_series(a, b [, step]) and range(a, b [, step]) of constants.
func (b *binder) tableFunc(t *parse.TableFunc) (Node, error) {
	name := t.Call.Name
	if !tableFunctions[name].counts {
		return nil, planError("table function '%s' not found", name)
	}
	eb := &exprBinder{b: b, sc: &scope{}, where: "FROM"}
	list, err := eb.bindList(t.Call.Args)
	if err != nil {
		return nil, err
	}
	list, typ, err := b.ctx.SeriesArgs(name, list)
	if err != nil {
		return nil, err
	}
	args := make([]*vector.Vector, len(list))
	for i, e := range list {
		c, ok := e.(*expr.Const)
		if !ok || c.Value.IsNull(0) {
			return nil, planError("%s needs constants", name)
		}
		args[i] = c.Value
	}
	n := &Series{Of: expr.SeriesAt(name, args, 0), Cols: []Column{{Name: "value", Type: typ}}}
	if n.Count, err = b.countSeries(name, n.Of); err != nil {
		return nil, err
	}
	if t.Ordinality {
		n.Cols = append(n.Cols, Column{Name: "ordinality", Type: vector.Int64Type})
	}
	return rename(n, t.Alias, name)
}

// countSeries counts the values of a series.
func (b *binder) countSeries(name string, s expr.Series) (int64, error) {
	values, err := s.Read()
	if err != nil {
		return 0, err
	}
	for n := int64(0); ; n++ {
		if _, ok := values.Next(); !ok {
			return n, nil
		}
		if n == maxSeries {
			return 0, planError("%s makes more than %d rows", name, maxSeries)
		}
		if n%seriesCheck == 0 && b.goctx.Err() != nil {
			return 0, b.goctx.Err()
		}
	}
}
