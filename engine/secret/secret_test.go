package secret

import "testing"

func TestHide(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "SELECT 'a', password FROM t", "SELECT 'a', password FROM t"},
		{"an option", "COPY t TO 'f' WITH (FORMAT = 'csv', password='hush')",
			"COPY t TO 'f' WITH (FORMAT = 'csv', password='***')"},
		{"keys of a store", "CONNECTION (ACCESS_KEY_ID='AK1', SECRET_ACCESS_KEY = 'it''s', REGION='eu')",
			"CONNECTION (ACCESS_KEY_ID='***', SECRET_ACCESS_KEY = '***', REGION='eu')"},
		{"a quoted name", `WITH ("session_token" = 'hush')`, `WITH ("session_token" = '***')`},
		{"a user", "CREATE USER u IDENTIFIED BY 'hush'; SELECT 'x'", "CREATE USER u IDENTIFIED BY '***'; SELECT 'x'"},
		{"a user of a plugin", "CREATE USER u IDENTIFIED WITH native BY 'hush'",
			"CREATE USER u IDENTIFIED WITH native BY '***'"},
		{"a variable", "SET PASSWORD = PASSWORD('hush')", "SET PASSWORD = PASSWORD('***')"},
		{"a role", `ALTER ROLE r PASSWORD 'hush'`, `ALTER ROLE r PASSWORD '***'`},
		{"a condition", `SELECT * FROM t WHERE token="hush" AND a = 'b'`,
			`SELECT * FROM t WHERE token="***" AND a = 'b'`},
		{"without an end", "SET password = 'hush", "SET password = '***"},
		{"a URL", "COPY t FROM 's3://ann:hush@host/x'", "COPY t FROM 's3://***@host/x'"},
		{"a URL without", "COPY t FROM 's3://bucket/a@b:c'", "COPY t FROM 's3://bucket/a@b:c'"},
		{"a name", `SELECT token AS "tok" FROM t`, `SELECT token AS "tok" FROM t`},
		{"a document", `SELECT parse_json('{"password": "hush", "a": "b"}')`,
			`SELECT parse_json('{"password": "***", "a": "b"}')`},
		{"a name in a text", "SELECT 'my secret' AS token, 'b' FROM t WHERE token = 'hush'",
			"SELECT 'my secret' AS token, 'b' FROM t WHERE token = '***'"},
		{"a key in quotes", "WITH ('db_password'='hush', 'a'='b')", "WITH ('db_password'='***', 'a'='b')"},
		{"an empty one", "WITH (password='')", "WITH (password='***')"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Hide(c.in); got != c.want {
				t.Errorf("Hide(%s)\n got %s\nwant %s", c.in, got, c.want)
			}
		})
	}
}

func TestHideFrom(t *testing.T) {
	statement := "SET PASSWORD 'hush''d'; COPY t TO 'https://ann:longer@h' WITH (token='abc', secret='longer still')"
	got := HideFrom("found 'hush'd' or longer still or longer, abc, 'abc' or \"abc\" or 'abcd'", statement)
	if want := "found '***' or *** or ***, abc, '***' or \"***\" or 'abcd'"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
