package logapi_test

import (
	"fmt"
	"strings"
	"testing"

	"varve/server/servertest"
)

// TestSizesOfAlteredTables: sizes are those of the texts that SQL sees, whatever happened to the columns of a table
// since its parts were written.
func TestSizesOfAlteredTables(t *testing.T) {
	for name, steps := range map[string][]string{
		"another type and back": {"FLUSH", "ALTER TABLE l MODIFY COLUMN message BIGINT", "FLUSH",
			"ALTER TABLE l MODIFY COLUMN message STRING"},
		"bytes and back": {"FLUSH", "ALTER TABLE l MODIFY COLUMN message VARBINARY", "INSERT",
			"FLUSH", "ALTER TABLE l MODIFY COLUMN message STRING"},
		"dropped and made anew": {"FLUSH", "ALTER TABLE l DROP COLUMN message", "FLUSH",
			"ALTER TABLE l ADD COLUMN message STRING DEFAULT 'as it was made'", "INSERT", "FLUSH"},
		"renamed": {"FLUSH", "ALTER TABLE l RENAME COLUMN message TO body", "ALTER TABLE l ADD COLUMN message STRING",
			"INSERT", "FLUSH"},
		"a tag later": {"FLUSH", "ALTER TABLE l ADD COLUMN zone STRING DEFAULT 'z0' PRIMARY KEY",
			"INSERT INTO l (ts, app, message, zone) VALUES (1700000040000000000, 'a', 'zoned', 'z1')," +
				"(1700000050000000000, 'a', 'unzoned', NULL)", "FLUSH"},
		"a tag later, merged": {"FLUSH", "ALTER TABLE l ADD COLUMN zone STRING PRIMARY KEY",
			"INSERT INTO l (ts, app, message, zone) VALUES (1700000040000000000, 'a', 'zoned', 'z1')", "FLUSH", "COMPACT"},
		"expired": {"FLUSH", "INSERT INTO l (ts, app, message) VALUES (now(), 'a', 'young')", "FLUSH", "COMPACT",
			"ALTER TABLE l SET 'ttl'='1d'"},
		"truncated": {"FLUSH", "TRUNCATE TABLE l", "INSERT", "FLUSH"},
	} {
		t.Run(name, func(t *testing.T) {
			h := servertest.Real(t, nil)
			h.Execute(`CREATE TABLE l (ts TIMESTAMP(9) TIME INDEX, app STRING, message STRING, PRIMARY KEY(app))
				WITH ('append_mode'='true')`)
			insert := func() {
				for i := range 3 {
					h.Execute(fmt.Sprintf(`INSERT INTO l (ts, app, message) VALUES (17000000%d0000000000, 'a', '%d'),
						(17000000%d1000000000, 'b', 'x'), (17000000%d2000000000, NULL, 'some text é'),
						(17000000%d3000000000, 'c', NULL), (17000000%d3500000000, 'b', '')`, i, 10+i, i, i, i, i))
				}
			}
			insert()
			for _, step := range append([]string{""}, steps...) {
				switch step {
				case "":
				case "INSERT":
					insert()
				case "FLUSH", "COMPACT":
					h.Want(h.SQL("ADMIN "+strings.ToLower(step)+"_table('l')"), 200, "")
				default:
					h.Execute(step)
				}
				if line := h.Ask("SELECT count(*) FROM information_schema.columns WHERE table_name = 'l' AND " +
					"column_name = 'message' AND data_type = 'String'"); fmt.Sprint(line) != "[[1]]" {
					continue
				}
				checkAlteredSizes(t, h, step)
			}
		})
	}
}

// checkAlteredSizes compares the sizes of the table l with those that SQL counts.
func checkAlteredSizes(t *testing.T, h *servertest.House, after string) {
	t.Helper()
	const to = 4_000_000_000
	for _, from := range []int64{0, 1700000011} {
		rows := h.Ask(fmt.Sprintf(`SELECT coalesce(sum(octet_length(message)), 0), count(*) FROM l
			WHERE ts >= %d::TIMESTAMP(9) AND ts < %d::TIMESTAMP(9)`, from*1e9, int64(to*1e9)))
		want := fmt.Sprintf(`"bytes":%v,"entries":%v}`, rows[0][0], rows[0][1])
		path := fmt.Sprintf(`index/stats?start=%d&end=%d&query={service_table%%3D"l"}`, from*1e9, int64(to*1e9))
		if got := h.Do("GET", "/loki/api/v1/"+path, "").Body; !strings.HasSuffix(got, want) {
			t.Errorf("after %q from %d: got %s, want %s", after, from, got, want)
		}
	}
}
