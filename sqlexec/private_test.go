package sqlexec

import (
	"context"
	"strings"
	"testing"

	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/parse"
)

// oddRows is a private function of one integer: the text of odd ones, NULL for others, an error for 99.
type oddRows struct{ arg *vector.Vector }

func (r *oddRows) Begin(_ int, args []*vector.Vector) error {
	r.arg = args[0]
	return nil
}

func (r *oddRows) Row(i int) ([]byte, bool, error) {
	switch x := r.arg.Int(i); {
	case x == 99:
		return nil, false, status.New(status.InvalidArguments, "99 is refused")
	default:
		return []byte{'0' + byte(x%10)}, x%2 == 1, nil
	}
}

func (r *oddRows) End() { r.arg = nil }

// TestPrivate: a session calls its function in every part of a query, and no other session can.
func TestPrivate(t *testing.T) {
	x := New(openStore(t), Options{Workers: 2})
	text := expr.NewPrivate("odd_text", vector.BinaryType, func() expr.PrivateRows { return new(oddRows) })
	test := expr.NewPrivate("is_odd", vector.BoolType, func() expr.PrivateRows { return new(oddRows) })
	s := &Session{Private: map[string]*expr.Private{"odd_text": text, "is_odd": test}, Shown: "in another language"}
	script(t, x, s, "CREATE TABLE t (ts TIMESTAMP TIME INDEX, n BIGINT); INSERT INTO t VALUES (1, 3), (2, 4), (3, 13), (4, 5)")
	for _, c := range []struct{ sql, want string }{
		{"SELECT n FROM t WHERE is_odd(n) ORDER BY n", "3 5 13"},
		{"SELECT n FROM t WHERE is_odd(n) ORDER BY ts DESC LIMIT 2", "5 13"},
		{"SELECT count(*) FROM t WHERE odd_text(n) IS NULL", "1"},
		{"SELECT count(*) FROM t GROUP BY odd_text(n) ORDER BY 1", "1 1 2"},
	} {
		o, err := answer(x, s, c.sql, false)
		var got []string
		for _, row := range o.rows {
			got = append(got, row[0])
		}
		if err != nil || o.err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v %v %v, want %s", c.sql, got, err, o.err, c.want)
		}
	}
	_, err := answer(x, &Session{}, "SELECT is_odd(n) FROM t", false)
	if err == nil {
		o, _ := answer(x, &Session{}, "SELECT is_odd(n) FROM t", false)
		err = o.err
	}
	if err == nil || !strings.Contains(err.Error(), "Invalid function 'is_odd'") {
		t.Errorf("another session calls the function: %v", err)
	}
	script(t, x, s, "INSERT INTO t VALUES (5, 99)")
	if o, err := answer(x, s, "SELECT n FROM t WHERE is_odd(n)", false); err == nil &&
		(o.err == nil || !strings.Contains(o.err.Error(), "99 is refused")) {
		t.Errorf("the error of a row is %v", o.err)
	}
}

// TestShown: lists show the text of a session in place of its statement, by which it is killed.
func TestShown(t *testing.T) {
	x := New(openStore(t), Options{Workers: 1})
	s := &Session{Shown: `{app="x"} |= "y"`}
	list, release, err := x.ParseWithin(context.Background(), s, "SELECT * FROM generate_series(1, 10000000) AS g(n)")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	r, err := x.Execute(context.Background(), s, list[0])
	if err != nil {
		t.Fatal(err)
	}
	defer r.Rows.Close()
	running := x.Running()
	if len(running) != 1 || running[0].Query != s.Shown {
		t.Fatalf("the list is %+v", running)
	}
	if _, err := x.kill(&parse.Kill{ID: running[0].ID}); err != nil {
		t.Fatal(err)
	}
	var b vector.Batch
	for err == nil {
		more := false
		if more, err = r.Rows.Next(&b); !more {
			break
		}
	}
	if status.Of(err) != status.Cancelled {
		t.Errorf("the killed query ends with %v", err)
	}
}
