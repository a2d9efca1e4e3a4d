package sqlexec

import (
	"context"
	"strconv"
	"strings"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/sqlexec/parse"
)

// The variables of a session that lower what each of its statements may read.
const (
	maxReadRows  = "max_read_rows"
	maxReadBytes = "max_read_bytes"
)

// allowed bounds what a statement reads; done is called after it.
func (x *Executor) allowed(ctx context.Context, s *Session, done func()) (bounded context.Context, end func()) {
	limit := x.o.Reads.Of(s.User)
	limit.Rows = lower(limit.Rows, s.Reads.Rows)
	limit.Bytes = lower(limit.Bytes, s.Reads.Bytes)
	ctx, over := engine.WithAllowance(ctx, limit)
	return ctx, func() {
		over()
		done()
	}
}

// lower is the lower of two bounds, of which 0 is none.
func lower(a, b int64) int64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// setReads runs SET of a bound of the session.
func (x *Executor) setReads(s *Session, st *parse.Set) error {
	text := ""
	if len(st.Values) == 1 {
		switch v := st.Values[0].(type) {
		case *parse.Literal:
			text = v.Text
		case *parse.Column:
			text = v.Parts.String()
		}
	}
	if strings.EqualFold(text, "default") {
		text = "0"
	}
	return x.SetReads(s, st.Name, text)
}

// SetReads sets a bound of the session, max_read_rows or max_read_bytes: a number, a size for bytes, or 0 for what the
// configuration has.
func (x *Executor) SetReads(s *Session, name, text string) error {
	of, most := &s.Reads.Rows, x.o.Reads.Of(s.User).Rows
	if name == maxReadBytes {
		of, most = &s.Reads.Bytes, x.o.Reads.Of(s.User).Bytes
	}
	n, err := strconv.ParseInt(text, 10, 64)
	ok := err == nil
	if name == maxReadBytes && !ok {
		n, ok = schema.ParseBytes(text)
	}
	switch {
	case !ok || n < 0:
		return status.New(status.InvalidArguments, "%s is a whole number, or DEFAULT: found '%s'", name, text)
	case most > 0 && n > most:
		return status.New(status.InvalidArguments, "%s = %d is above query.%s = %d: a session can only lower it",
			name, n, name, most)
	}
	*of = n
	return nil
}
