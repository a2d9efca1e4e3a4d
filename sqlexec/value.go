package sqlexec

import (
	"context"
	"encoding/hex"
	"math"
	"strconv"
	"strings"

	"varve/engine/convert"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/timefmt"
	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/parse"
	"varve/sqlexec/plan"
)

// valuer turns the values of INSERT and DEFAULT into column values: literals straight, everything else by evaluating
// it.
type valuer struct {
	goctx context.Context
	ctx   *expr.Context
	st    *plan.Statement
}

func (x *Executor) valuer(ctx context.Context, sess *Session) *valuer {
	ectx := x.context(sess)
	return &valuer{goctx: ctx, ctx: ectx, st: x.statement(sess, ectx)}
}

// set sets the current row of a column to the value of e. A double-quoted word is text. Values that cannot be read as
// the column's type are InvalidSyntax.
func (v *valuer) set(c *vector.ColumnBuilder, e parse.Expr) error {
	switch e := e.(type) {
	case *parse.Literal:
		switch e.Kind {
		case parse.NullLiteral:
			c.SetNull()
			return nil
		case parse.NumberLiteral:
			return v.setNumber(c, e.Text)
		case parse.StringLiteral:
			return v.setText(c, e.Text)
		case parse.HexLiteral:
			return v.setHex(c, e.Text)
		}
		if c.Type() == vector.BoolType {
			c.SetBool(e.Kind == parse.TrueLiteral)
			return nil
		}
		return badValue(c, parse.PrintExpr(e))
	case *parse.Column:
		if len(e.Parts) == 1 && e.Parts[0].Quote == '"' {
			return v.setText(c, e.Parts[0].Name)
		}
	}
	bound, err := v.st.Scalar(v.goctx, e)
	if err != nil {
		return err
	}
	return v.setBound(c, bound, e)
}

func badValue(c *vector.ColumnBuilder, text string) error {
	if len(text) > 60 {
		text = strings.ToValidUTF8(text[:60], "") + "..."
	}
	why := status.OutOfRange
	if strings.HasPrefix(text, "'") {
		why = status.BadText
	}
	return status.Because(status.New(status.InvalidSyntax, "Failed to parse value: %s does not fit column %s of type %s",
		text, c.Name(), c.Type()), why)
}

// setBound sets a value that was evaluated: same type, text that is read, or a cast that is exact enough for INSERT.
func (v *valuer) setBound(c *vector.ColumnBuilder, e expr.Expr, source parse.Expr) error {
	k, ok := e.(*expr.Const)
	if !ok { // it refers to no column, but may have a branch that fails or be new in every row
		one, err := expr.Constant(e)
		if err != nil {
			return err
		}
		if k, ok = one.(*expr.Const); !ok {
			return status.New(status.InvalidSyntax, "Failed to parse value: %s is not a constant",
				parse.PrintExpr(source))
		}
		e = k
	}
	t := c.Type()
	switch {
	case k.Value.IsNull(0):
		c.SetNull()
		return nil
	case k.Value.Type.IsText() && t.ID != vector.TypeString:
		return v.setText(c, k.Value.Str(0))
	case t.IsText() && k.Value.Type.IsNumber():
		return badValue(c, parse.PrintExpr(source))
	case k.Value.Type != t:
		cast, err := v.ctx.Cast(e, t, false)
		if err != nil {
			return err
		}
		if k, ok = cast.(*expr.Const); !ok {
			return badValue(c, parse.PrintExpr(source))
		}
	}
	setValue(c, k.Value, 0)
	return nil
}

// setValue sets the current row to row i of a vector of the column's kind.
func setValue(c *vector.ColumnBuilder, v *vector.Vector, i int) {
	if v.IsNull(i) {
		c.SetNull()
		return
	}
	switch c.Type().Kind() {
	case vector.Bool:
		c.SetBool(v.Bool(i))
	case vector.Int64:
		c.SetInt(v.Int(i))
	case vector.Uint64:
		c.SetUint(v.Uint(i))
	case vector.Float64:
		c.SetFloat(v.Float(i))
	default:
		c.SetBytes(v.Bytes(i))
	}
}

// setNumber sets a number as written. Floats in integer columns must be whole.
func (v *valuer) setNumber(c *vector.ColumnBuilder, text string) error {
	t := c.Type()
	lo, hi := convert.IntBounds(t)
	if t.ID == vector.TypeDate {
		lo, hi = math.MinInt32, math.MaxInt32
	}
	switch t.Kind() {
	case vector.Int64:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			n, err = wholeFloat(text)
		}
		if err != nil || n < lo || n > int64(hi) {
			return badValue(c, text)
		}
		c.SetInt(n)
		return nil
	case vector.Uint64:
		n, err := strconv.ParseUint(strings.TrimPrefix(text, "+"), 10, 64)
		if err != nil {
			var i int64
			if i, err = wholeFloat(text); i < 0 {
				return badValue(c, text)
			}
			n = uint64(i)
		}
		if err != nil || n > hi {
			return badValue(c, text)
		}
		c.SetUint(n)
		return nil
	case vector.Float64:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return badValue(c, text)
		}
		if t.ID == vector.TypeFloat32 {
			f = float64(float32(f))
		}
		c.SetFloat(f)
		return nil
	case vector.Bool:
		if text == "0" || text == "1" {
			c.SetBool(text == "1")
			return nil
		}
	}
	if t.ID == vector.TypeDecimal {
		return v.castText(c, text)
	}
	return badValue(c, text)
}

func wholeFloat(text string) (int64, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err == nil && (f != math.Trunc(f) || math.Abs(f) >= 1<<63) {
		err = strconv.ErrRange
	}
	return int64(f), err
}

// setText sets a text: as it is in text columns, read in others. Times without a zone are in the session's.
func (v *valuer) setText(c *vector.ColumnBuilder, text string) error {
	t := c.Type()
	switch t.ID {
	case vector.TypeString, vector.TypeBinary:
		c.SetString(text)
		return nil
	case vector.TypeTimestamp:
		n, err := v.timestamp(text, t)
		if err != nil {
			return badValue(c, "'"+text+"'")
		}
		c.SetInt(n)
		return nil
	case vector.TypeDate:
		sec, _, err := timefmt.ParseTimestamp(text, nil)
		if err != nil {
			return badValue(c, "'"+text+"'")
		}
		c.SetInt(timefmt.FloorDiv(sec, 86400))
		return nil
	case vector.TypeBool, vector.TypeJSON, vector.TypeDecimal:
		return v.castText(c, text)
	}
	if t.Kind() == vector.Float64 {
		return v.castText(c, text)
	}
	if err := v.setNumber(c, strings.TrimSpace(text)); err != nil {
		return badValue(c, "'"+text+"'")
	}
	return nil
}

// timestamp reads a time as a count of t's unit, cutting what is finer.
func (v *valuer) timestamp(text string, t vector.Type) (int64, error) {
	sec, nanos, err := timefmt.ParseTimestamp(text, v.ctx.Zone)
	if err != nil {
		return 0, err
	}
	n, ok := plan.Count(sec, int64(nanos), t)
	if !ok {
		return 0, timefmt.ErrRange
	}
	return n, nil
}

// castText reads a text by the cast of SQL.
func (v *valuer) castText(c *vector.ColumnBuilder, text string) error {
	var e expr.Expr = &expr.Const{Value: vector.ConstString(text)}
	var err error
	if c.Type() == vector.JSONType {
		e, err = v.ctx.Call("parse_json", e)
	} else {
		e, err = v.ctx.Cast(e, c.Type(), false)
	}
	k, ok := e.(*expr.Const)
	if err != nil || !ok {
		return badValue(c, "'"+text+"'")
	}
	setValue(c, k.Value, 0)
	return nil
}

func (v *valuer) setHex(c *vector.ColumnBuilder, digits string) error {
	b, err := hex.DecodeString(digits)
	if err != nil || c.Type().ID != vector.TypeBinary {
		return badValue(c, "x'"+digits+"'")
	}
	c.SetBytes(b)
	return nil
}

// setDefault reads the default of a column definition: a literal, NULL, or the current time.
func (x *Executor) setDefault(sess *Session, c *schema.Column, e parse.Expr) error {
	c.Default, c.DefaultExpr, c.DefaultText = nil, "", ""
	if call, ok := e.(*parse.Call); ok && plan.GivesTime(call.Name) && len(call.Args) == 0 {
		if !c.Type.IsTimestamp() {
			return status.New(status.InvalidArguments, "column %s of type %s cannot have the default %s", c.Name,
				c.Type, parse.PrintExpr(e))
		}
		c.DefaultExpr, c.DefaultText = "current_timestamp()", "current_timestamp()"
		n, _ := plan.Count(x.now(sess).Unix(), int64(x.now(sess).Nanosecond()), c.Type)
		c.Default = vector.ConstInt(c.Type, n)
		return nil
	}
	if lit, ok := e.(*parse.Literal); ok && lit.Kind == parse.NullLiteral {
		if !c.Nullable {
			return status.New(status.InvalidArguments, "column %s is NOT NULL and cannot have the default NULL", c.Name)
		}
		return nil
	}
	b := vector.NewBuilder()
	col, err := b.Column(c.Name, c.Type)
	if err != nil {
		return err
	}
	if err := x.valuer(context.Background(), sess).set(col, e); err != nil {
		return status.Wrap(err, status.InvalidArguments, "Invalid default of column %s: %s", c.Name, err.Error())
	}
	b.EndRow()
	_, rows := b.Finish()
	if rows.Cols[0].IsNull(0) {
		return nil
	}
	c.Default = constOf(rows.Cols[0])
	if c.DefaultText, err = x.defaultText(sess, c, e); err != nil {
		return err
	}
	if c.Type.IsTimestamp() {
		return x.defaultInstant(sess, c)
	}
	return nil
}

// defaultInstant adds its offset to a default time that was read in a zone other than UTC, so that it means the same to
// everybody who sees it.
func (x *Executor) defaultInstant(sess *Session, c *schema.Column) error {
	sec, nanos, err := timefmt.ParseTimestamp(c.DefaultText, nil)
	if err != nil {
		return nil // a number, which counts from 1970 in UTC
	}
	if n, ok := plan.Count(sec, int64(nanos), c.Type); ok && n == c.Default.Int(0) {
		return nil
	}
	text, err := x.context(sess).Cast(&expr.Const{Value: c.Default}, vector.StringType, false)
	if err != nil {
		return err
	}
	if k, ok := text.(*expr.Const); ok {
		c.DefaultText = strings.Replace(k.Value.Str(0), "T", " ", 1) + "+0000"
	}
	return nil
}

// constOf is the one row of a Flat vector as a Const vector that shares nothing.
func constOf(v *vector.Vector) *vector.Vector {
	k := &vector.Vector{Type: v.Type}
	k.Append(0, v, 0, 1)
	k.Form = vector.Const
	return k
}

// defaultText is a default as DESC shows it: numbers and words as written, strings without quotes, the values of
// expressions.
func (x *Executor) defaultText(sess *Session, c *schema.Column, e parse.Expr) (string, error) {
	switch e := e.(type) {
	case *parse.Literal:
		switch e.Kind {
		case parse.TrueLiteral:
			return "true", nil
		case parse.FalseLiteral:
			return "false", nil
		}
		return e.Text, nil
	case *parse.Column:
		return e.Parts[0].Name, nil
	}
	text, err := x.context(sess).Cast(&expr.Const{Value: c.Default}, vector.StringType, false)
	if err != nil {
		return "", err
	}
	return text.(*expr.Const).Value.Str(0), nil // a constant stays one
}

// recastDefault casts a column's default to the column's new type; it is NULL when it does not convert.
func recastDefault(c *schema.Column) error {
	switch {
	case c.DefaultExpr != "" && !c.Type.IsTimestamp():
		return status.New(status.InvalidArguments, "column %s has the default %s, which type %s cannot have", c.Name,
			c.DefaultExpr, c.Type)
	case c.Default == nil:
		return nil
	}
	if c.Default = convert.One(c.Default, c.Type); c.Default == nil {
		c.DefaultText = ""
	} else if c.DefaultExpr == "" {
		c.DefaultText = string(convert.AppendText(nil, c.Default, 0))
	}
	return nil
}
