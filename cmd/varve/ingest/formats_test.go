package ingest

import "testing"

func TestGuess(t *testing.T) {
	const line = `{"ts":1,"message":"x"}` + "\n"
	for _, c := range []struct{ path, head, want string }{
		{"a.ndjson", line, "ndjson"},
		{"a.jsonl.gz", "", "ndjson"},
		{"a", line + line, "ndjson"},
		{"a.log", line, "ndjson"},
		{"a.log", "2026-11-21 10:00:00 INFO started\n", "text"},
		{"a.log", "[2026-11-21 10:00:00] INFO started\n", "text"},
		{"a.log", "[error] no, it failed\n", "text"},
		{"a.json", "{\n \"a\": 1\n}\n", "json"},
		{"a.json", line + line, "ndjson"},
		{"a.json", "[" + line + "]", "json"},
		{"a", "[\n" + line + "]", "json"},
		{"a", "[{\"a\":1},\n{\"a\":2}]", "json"},
		{"a.csv", "x\n1\n", "csv"},
		{"a", "time,level,message\n1,info,x\n2,warn,\"y, z\"\n", "csv"},
		{"a", "one, two and three\nwords, of a text\n", "text"},
		{"a.lp", "", "lineproto"},
		{"a", "cpu,host=a usage=0.5,n=7i 1700000000000000000\n", "lineproto"},
		{"a", "# comment\ncpu usage=\"a b\" 1700000000\n", "lineproto"},
		{"a", "# a list\n# of comments\n", "text"},
		{"a", "level=info msg=started took=3\n", "text"},
		{"a", `{"metric":"cpu","timestamp":1,"value":2,"tags":{"h":"a"}}`, "jsonput"},
		{"a.json", `[{"metric":"cpu","timestamp":1,"value":2,"tags":{"h":"a"}}]`, "jsonput"},
		{"a", `{"streams":[{"stream":{"app":"x"},"values":[["1","y"]]}]}`, "logpush"},
		{"a", `{"streams":[{"stream":{"app":"x"},"values":[["1","`, "logpush"},
		{"a", `{"metric":"cpu","message":"x"}` + "\n", "ndjson"},
		{"", "", "text"},
	} {
		if got := guess(c.path, []byte(c.head)); got != c.want {
			t.Errorf("%s %q: got %s, want %s", c.path, c.head, got, c.want)
		}
	}
}

func TestBaseName(t *testing.T) {
	for path, want := range map[string]string{
		"/var/log/web-1.ndjson.gz": "web_1", "a.log": "a", "access.log.1": "access_log_1", "x.tar.zst": "x_tar",
		"/d/t.csv": "t",
	} {
		if got := baseName(path); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}
