package plan

import (
	"fmt"

	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/parse"
)

var timeUnits = map[uint8]string{0: "Second", 3: "Millisecond", 6: "Microsecond", 9: "Nanosecond"}

// arrowName is a type by the name that arrow_typeof shows and arrow_cast takes.
func arrowName(t vector.Type) string {
	switch t.ID {
	case vector.TypeString, vector.TypeJSON:
		return "Utf8"
	case vector.TypeDate:
		return "Date32"
	case vector.TypeTimestamp:
		return fmt.Sprintf("Timestamp(%s, None)", timeUnits[t.Precision])
	case vector.TypeDuration:
		return fmt.Sprintf("Duration(%s)", timeUnits[t.Precision])
	case vector.TypeInterval:
		return "Interval(MonthDayNano)"
	case vector.TypeTime:
		if t.Precision <= 3 {
			return fmt.Sprintf("Time32(%s)", timeUnits[t.Precision])
		}
		return fmt.Sprintf("Time64(%s)", timeUnits[t.Precision])
	case vector.TypeDecimal:
		return fmt.Sprintf("Decimal128(%d, %d)", t.Precision, t.Scale)
	}
	return t.String()
}

// arrowTypes are the types that arrow_cast knows.
var arrowTypes = func() map[string]vector.Type {
	all := map[string]vector.Type{}
	for _, t := range []vector.Type{
		vector.BoolType, vector.Int8Type, vector.Int16Type, vector.Int32Type, vector.Int64Type, vector.Uint8Type,
		vector.Uint16Type,
		vector.Uint32Type, vector.Uint64Type, vector.Float32Type, vector.FloatType, vector.StringType,
		vector.BinaryType, vector.DateType,
		vector.Timestamp(0), vector.Timestamp(3), vector.Timestamp(6), vector.Timestamp(9), vector.Interval,
		vector.Duration(0), vector.Duration(3), vector.Duration(6), vector.Duration(9),
		{ID: vector.TypeTime, Precision: 0}, {ID: vector.TypeTime, Precision: 3}, {ID: vector.TypeTime, Precision: 6},
		{ID: vector.TypeTime, Precision: 9},
	} {
		all[arrowName(t)] = t
	}
	return all
}()

// arrow binds arrow_typeof(x) and arrow_cast(x, 'type'), which are about types, not values.
func (eb *exprBinder) arrow(x *parse.Call) (expr.Expr, error) {
	args, err := eb.bindList(x.Args)
	if err != nil {
		return nil, err
	}
	if roleOf[x.Name] == typeOf {
		if len(args) != 1 {
			return nil, planError("arrow_typeof takes 1 argument, found %d", len(args))
		}
		return expr.Text(arrowName(args[0].Type())), nil
	}
	if len(args) != 2 {
		return nil, planError("arrow_cast takes 2 arguments, found %d", len(args))
	}
	name, ok := args[1].(*expr.Const)
	if !ok || !name.Value.Type.IsText() || name.Value.IsNull(0) {
		return nil, planError("arrow_cast needs the name of a type as constant text")
	}
	t, ok := arrowTypes[name.Value.Str(0)]
	var p, s uint8
	if n, _ := fmt.Sscanf(name.Value.Str(0), "Decimal128(%d,%d)", &p, &s); n == 2 && p >= 1 && p <= 38 && s <= p {
		t, ok = vector.Type{ID: vector.TypeDecimal, Precision: p, Scale: s}, true
	}
	if !ok {
		return nil, planError("arrow_cast: unknown type %s", name.Value.Bytes(0))
	}
	return eb.typed(args[0], t, false)
}
