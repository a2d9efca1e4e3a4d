package ingest

import (
	"net/url"
	"testing"

	"varve/cmd/varve/client"
)

// TestInsertBody: rows as SQL, whatever the order of their members.
func TestInsertBody(t *testing.T) {
	in := &input{table: `t"1`, columns: []client.TableColumn{{Name: "ts", Type: "TimestampNanosecond"},
		{Name: `a"b`, Type: "String"}, {Name: "x", Type: "Binary"}, {Name: "j", Type: "Json"},
		{Name: "n", Type: "Int64"}}}
	lines := `{"ts":"2026-11-21T03:46:00Z","a\"b":"it's \"+%&;= \\ ü\n","x":"00ff","j":{"k":["a,}",1]},"n":-1}
{"n":18446744073709551615,"j":"it's","ts":"2026-11-21T03:46:01Z"}

{"ts":"2026-11-21T03:46:02Z","a\"b":null,"x":null,"j":null,"n":null}
`
	const want = `INSERT INTO "t""1" ("ts", "a""b", "x", "j", "n") VALUES ` +
		`('2026-11-21T03:46:00Z','it''s "+%&;= \ ü` + "\n" + `',X'00ff','{"k":["a,}",1]}',-1),` +
		`('2026-11-21T03:46:01Z',NULL,NULL,'"it''s"',18446744073709551615),` +
		`('2026-11-21T03:46:02Z',NULL,NULL,NULL,NULL)`
	body, err := insertBody(in, nil, []byte(lines))
	if err != nil {
		t.Fatal(err)
	}
	form, err := url.ParseQuery(string(body))
	if err != nil || form.Get("sql") != want || len(form) != 1 {
		t.Errorf("%v\n got %s\nwant %s", err, form.Get("sql"), want)
	}
	for _, bad := range []string{"x", `{"ts":}`, `{"ts":"a"`, `{"x":"zz"}`, `[]`, `{"ts":1,"other":2}`,
		`{"ts":1,"a\"b":null,"x":null,"j":null,"n":null,"m":null}`} {
		if body, err := insertBody(in, nil, []byte(bad)); err == nil {
			t.Errorf("%s gives %s", bad, body)
		}
	}
}
