package pipeline

import (
	"context"
	"fmt"
	"testing"

	"varve/engine"
	"varve/engine/vfs"
	"varve/pipeline/value"
)

// TestValues takes entries that are no text through a document and through service_identity.
func TestValues(t *testing.T) {
	e := openStore(t, vfs.NewMem(), "data")
	m := New(Options{Store: e})
	if _, err := m.Put(context.Background(), "p",
		[]byte("transform: [{field: a, type: string}, {field: t, type: time, index: time}]")); err != nil {
		t.Fatal(err)
	}
	run := func(pipeline string) (Outcome, string, error) {
		var set engine.WriteSet
		left := 3
		out, err := m.RunValues(context.Background(),
			&Request{DB: "public", Table: pipeline, Pipeline: pipeline, SkipError: true},
			func(a *value.Arena) (value.Value, bool, error) {
				if left--; left < 0 {
					return value.Null, false, nil
				}
				o := a.Object(2)
				o.Set(a, "a", a.Concat("x", "y"))
				o.Set(a, "t", value.Timestamp(int64(left)))
				if left == 0 {
					return value.Int(1), true, nil // no entry
				}
				return o.Of(), true, nil
			}, &set)
		if err != nil {
			return out, "", err
		}
		written, err := e.Write(context.Background(), &set)
		return out, fmt.Sprint(written), err
	}
	for _, pipeline := range []string{"p", Identity} {
		if out, written, err := run(pipeline); err != nil || out.Rows != 2 || out.Skipped != 1 ||
			len(out.Failures) != 1 || out.Failures[0].Entry != 3 || written != "[{2}]" {
			t.Errorf("%s: %+v, %s, %v", pipeline, out, written, err)
		}
	}
	if _, _, err := run("absent"); err == nil {
		t.Error("a pipeline that is not there has no error")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := m.RunValues(ctx, &Request{DB: "public", Table: "t", Pipeline: "p"}, nil, new(engine.WriteSet)); err ==
		nil {
		t.Error("a request that was given up has no error")
	}
}
