package pgwire_test

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// everyType are the types of sql.md with values: a usual one and the extremes.
var everyType = []struct {
	name   string
	values []string
}{
	{"BOOLEAN", []string{"TRUE", "FALSE"}},
	{"TINYINT", []string{"7", "-128", "127"}},
	{"SMALLINT", []string{"7", "-32768", "32767"}},
	{"INT", []string{"7", "-2147483648", "2147483647"}},
	{"BIGINT", []string{"7", "'-9223372036854775808'", "9223372036854775807"}},
	{"TINYINT UNSIGNED", []string{"0", "255"}},
	{"SMALLINT UNSIGNED", []string{"0", "65535"}},
	{"INT UNSIGNED", []string{"0", "4294967295"}},
	{"BIGINT UNSIGNED", []string{"0", "'18446744073709551615'"}},
	{"FLOAT", []string{"1.5", "3.4028235e38", "-1e-45", "'NaN'", "'Infinity'", "'-Infinity'"}},
	{"DOUBLE", []string{"0.1", "1.7976931348623157e308", "5e-324", "'NaN'", "'Infinity'", "'-Infinity'"}},
	{"DECIMAL(38, 10)", []string{"'1.5'", "'0'", "'-9999999999999999999999999999.9999999999'", "'0.0000000001'"}},
	{"DECIMAL(5, 0)", []string{"'99999'", "'-10000'"}},
	{"STRING", []string{"'a'", "''", "'NULL'", "'{\"a\\,b\"}'", "'ü😀'"}},
	{"BINARY", []string{"'a'", "''", "'\\x00ff'"}},
	{"JSON", []string{`'{"a":[1,null,"x"]}'`, `'null'`, `'[]'`}},
	{"DATE", []string{"'2024-02-29'", "'0001-01-01'", "'9999-12-31'"}},
	{"TIME", []string{"'00:00:00'", "'23:59:59.999999'"}},
	{"TIMESTAMP(0)", []string{"'2024-02-29 12:00:00'", "'0001-01-01 00:00:00'", "'9999-12-31 23:59:59'"}},
	{"TIMESTAMP(3)", []string{"'2024-02-29 12:00:00.123'", "'9999-12-31 23:59:59.999'"}},
	{"TIMESTAMP(6)", []string{"'2024-02-29 12:00:00.123456'", "'1969-12-31 23:59:59.999999'"}},
	{"TIMESTAMP(9)", []string{"'2024-02-29 12:00:00.123456'", "'2262-04-11 23:47:16.854775'"}},
	{"INTERVAL", []string{"'1 month 2 days 3 seconds'", "'-1 day'", "'0 seconds'"}},
}

// TestPGEveryTypeEveryWay: a value of each type is the same by both protocols, in both formats, as a parameter in both
// formats, and in a list; so is NULL.
func TestPGEveryTypeEveryWay(t *testing.T) {
	s := startPG(t, nil)
	c := s.connect("ann")
	for _, one := range everyType {
		for _, value := range append([]string{"NULL"}, one.values...) {
			t.Run(one.name+" "+value, func(t *testing.T) { everyWay(t, s, c, one.name, value) })
		}
	}
}

// plain is a value as text. The digits of a zero do not count: in binary it has none.
func plain(v any) string {
	if n, ok := v.(pgtype.Numeric); ok && n.Valid && n.Int != nil && n.Int.Sign() == 0 {
		return "0"
	}
	return fmt.Sprint(v)
}

// everyWay looks at one value.
func everyWay(t *testing.T, s *pgServer, c *pgx.Conn, kind, value string) {
	text := fmt.Sprintf("SELECT CAST(%s AS %s)", value, kind)
	simple, err := c.PgConn().Exec(t.Context(), text).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	want, oid := simple[0].Rows[0][0], simple[0].FieldDescriptions[0].DataTypeOID
	if (want == nil) != (value == "NULL") {
		t.Fatalf("%s is %q", text, want)
	}
	decode := func(format int16, raw []byte) any {
		known, ok := c.TypeMap().TypeForOID(oid)
		if !ok {
			t.Fatalf("a client does not know the type %d", oid)
		}
		if raw == nil {
			return nil
		}
		v, err := known.Codec.DecodeValue(c.TypeMap(), oid, format, raw)
		if err != nil {
			t.Fatalf("%q in format %d: %v", raw, format, err)
		}
		return v
	}
	ask := func(sql string, values [][]byte, oids []uint32, in, out int16) []byte {
		r := c.PgConn().ExecParams(t.Context(), sql, values, oids, []int16{in}, []int16{out}).Read()
		if r.Err != nil {
			t.Fatalf("%s, %q: %v", sql, values, r.Err)
		}
		if got := r.FieldDescriptions[0].DataTypeOID; got != oid {
			t.Fatalf("%s has the type %d, want %d", sql, got, oid)
		}
		return r.Rows[0][0]
	}
	same := func(how string, format int16, got []byte) {
		if format == 0 && (string(got) != string(want) || (got == nil) != (want == nil)) {
			t.Errorf("%s: %q, want %q", how, got, want)
		}
		if g, w := plain(decode(format, got)), plain(decode(0, want)); g != w {
			t.Errorf("%s: %s, want %s", how, g, w)
		}
	}
	same("extended, text", 0, ask(text, nil, nil, 0, 0))
	binary := ask(text, nil, nil, 0, 1)
	same("extended, binary", 1, binary)
	cast := fmt.Sprintf("SELECT CAST($1 AS %s)", kind)
	same("a parameter as text", 0, ask(cast, [][]byte{want}, nil, 0, 0))
	same("a parameter of the type as text", 0, ask(cast, [][]byte{want}, []uint32{oid}, 0, 0))
	same("a parameter in binary", 0, ask(cast, [][]byte{binary}, []uint32{oid}, 1, 0))

	list := fmt.Sprintf("SELECT array_agg(CAST(%s AS %s))", value, kind)
	for format := range int16(2) {
		r := c.PgConn().ExecParams(t.Context(), list, nil, nil, nil, []int16{format}).Read()
		if r.Err != nil {
			t.Fatalf("%s: %v", list, r.Err)
		}
		known, ok := c.TypeMap().TypeForOID(r.FieldDescriptions[0].DataTypeOID)
		if !ok {
			t.Fatalf("a client does not know the list's type %d", r.FieldDescriptions[0].DataTypeOID)
		}
		v, err := known.Codec.DecodeValue(c.TypeMap(), r.FieldDescriptions[0].DataTypeOID, format, r.Rows[0][0])
		if err != nil {
			t.Fatalf("a list %q in format %d: %v", r.Rows[0][0], format, err)
		}
		wants := plain(decode(0, want))
		if wants == "NaN" || wants == "+Inf" || wants == "-Inf" {
			wants = plain(nil) // lists are JSON, which has no such numbers
		}
		if items, ok := v.([]any); !ok || len(items) != 1 || plain(items[0]) != wants {
			t.Errorf("a list in format %d: %v, want [%s]", format, v, wants)
		}
	}
}
