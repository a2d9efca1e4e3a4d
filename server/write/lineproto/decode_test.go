package lineproto

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/server/web"
)

// there are tables.
type there map[string]*schema.Table

func (l there) Table(n schema.Name) (*engine.Table, error) {
	if t := l[n.Table]; t != nil {
		return &engine.Table{Schema: t}, nil
	}
	return nil, errors.New("there is no such table")
}

func newRequest(unit int64, tables there) *request {
	return &request{db: "public", tables: tables, hint: engine.Hint{AutoCreate: true, TimeIndex: "time"}, unit: unit,
		now: 7_000_000_000, most: 1 << 30}
}

// describe shows the rows of a body, one per line: table, values in the order of columns, tags with a star.
func describe(body string, unit int64, tables there) string {
	d := newDecoder(newRequest(unit, tables), new(engine.WriteSet))
	if err := d.decode([]byte(body)); err != nil {
		_, text := web.Message(err)
		return text
	}
	return shown(d)
}

// shown are the rows of a decoder.
func shown(d *decoder) string {
	var out []string
	for name, t := range d.byName {
		fields, batch := t.rows.Finish()
		for r := range batch.N {
			line := name
			for i, f := range fields {
				line += " " + f.Name
				if n := t.byKey[f.Name]; n != 0 && t.cols[n].kind == tag {
					line += "*"
				}
				line += "=" + cell(batch.Cols[i], r)
			}
			out = append(out, line)
		}
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

func cell(v *vector.Vector, r int) string {
	if v.IsNull(r) {
		return "null"
	}
	switch v.Type.Kind() {
	case vector.Bool:
		return strconv.FormatBool(v.Bool(r))
	case vector.Int64:
		return fmt.Sprintf("%di", v.Int(r))
	case vector.Uint64:
		return fmt.Sprintf("%du", v.Uint(r))
	case vector.Float64:
		return strconv.FormatFloat(v.Float(r), 'g', -1, 64)
	}
	return strconv.Quote(string(v.Bytes(r)))
}

func TestDecode(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "", ""},
		{"blank lines and comments", "\n \r\n# a comment\n\t#x v=1\n#", ""},
		{"a point", "cpu,host=a v=1 5", `cpu host*="a" v=1 time=5i`},
		{"order of columns", "m,b=1,a=2 z=1,y=2 5\nm,c=3 x=1 6",
			"m b*=\"1\" a*=\"2\" z=1 y=2 time=5i c*=null x=null\nm b*=null a*=null z=null y=null time=6i c*=\"3\" x=1"},
		{"server's time", "m v=1", "m v=1 time=7000000000i"},
		{"kinds", `m f=1.5,g=1,h=1e3,i=-2.,j=1i,k=18446744073709551615u,l=t,n="x" 5`,
			`m f=1.5 g=1 h=1000 i=-2 j=1i k=18446744073709551615u l=true n="x" time=5i`},
		{"booleans", "m a=t,b=T,c=true,d=True,e=TRUE,f=f,g=F,h=false,i=False,j=FALSE 5",
			"m a=true b=true c=true d=true e=true f=false g=false h=false i=false j=false time=5i"},
		{"floats", "m a=-0,b=.5,c=+1,d=1E-3,e=0.1,f=123456789012345678,g=1.7976931348623157e308,h=9007199254740993 5",
			"m a=-0 b=0.5 c=1 d=0.001 e=0.1 f=1.2345678901234568e+17 g=1.7976931348623157e+308 h=9.007199254740992e+15 time=5i"},
		{"integers", "m a=-9223372036854775808i,b=9223372036854775807i,c=-0i,d=007i 5",
			"m a=-9223372036854775808i b=9223372036854775807i c=0i d=7i time=5i"},
		{"spaces and line ends", "m,a=b  v=1   5  \r\nm,a=b v=1 \r\nm,a=b v=2\r",
			"m a*=\"b\" v=1 time=5i\nm a*=\"b\" v=1 time=7000000000i\nm a*=\"b\" v=2 time=7000000000i"},
		{"negative time", "m v=1 -5", "m v=1 time=-5i"},
		{"escapes of a measurement", `a\ b\,c\=d=e,x=y v=1 5`, `a b,c\=d=e x*="y" v=1 time=5i`},
		{"escapes of keys and values", `m,a\ b\,c\=d=e\ f\,g\=h i\ j\,k\=l="m" 5`,
			`m a b,c=d*="e f,g=h" i j,k=l="m" time=5i`},
		{"other backslashes stay", `m,path=C:\temp\new v="C:\temp\\x\"y\z" 5`,
			`m path*="C:\\temp\\new" v="C:\\temp\\x\"y\\z" time=5i`},
		{"a backslash before an escape", `m,a=x\\,y v=1 5`, `m a*="x\\,y" v=1 time=5i`},
		{"a field that needs the buffer twice", `m a\ b="c\"d" 5`, `m a b="c\"d" time=5i`},
		{"text with everything", "m a=\"x, y=z\nnew \xc3\xa9\",b=1 5", "m a=\"x, y=z\\nnew \u00e9\" b=1 time=5i"},
		{"empty text", `m a="" 5`, `m a="" time=5i`},
		{"quotes in tags are bytes", `m,a="b" v=1 5`, `m a*="\"b\"" v=1 time=5i`},
		{"a field twice", "m v=1,v=2,w=t,w=f 5", "m v=2 w=false time=5i"},
		{"other order", "m,a=1,b=2 v=1,w=2 5\nm,b=3,a=4 w=3,v=4 6",
			"m a*=\"1\" b*=\"2\" v=1 w=2 time=5i\nm a*=\"4\" b*=\"3\" v=4 w=3 time=6i"},
		{"keys that begin alike", "m,a=1,ab=2 v=1 5\nm,ab=3 v=2 6",
			"m a*=\"1\" ab*=\"2\" v=1 time=5i\nm a*=null ab*=\"3\" v=2 time=6i"},
		{"measurements that begin alike", "m v=1 5\nm v=2 6", "m v=1 time=5i\nm v=2 time=6i"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := describe(c.in, 1, nil); got != c.want {
				t.Errorf("decode(%q)\n got %s\nwant %s", c.in, got, c.want)
			}
		})
	}
}

func TestRefuse(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"empty tag value", "ok v=1\n# c\ncpu,host= value=1",
			"line 3: unable to parse 'cpu,host= value=1': empty tag value"},
		{"lines within text count", "m a=\"x\ny\"\nm", "line 3: unable to parse 'm': missing fields"},
		{"no measurement", ",a=b v=1", "missing measurement"},
		{"no fields", "m,a=b", "missing fields"},
		{"no fields before the end of the line", "m,a=b \nm v=1", "line 1: unable to parse 'm,a=b ': missing fields"},
		{"no tag key", "m,=b v=1", "missing tag key"},
		{"empty tag", "m, v=1", "missing tag value"},
		{"no tag value", "m,a v=1", "missing tag value"},
		{"equals sign in a tag", "m,a=b=c v=1", "an equals sign"},
		{"tag twice", "m,a=b,a=c v=1", "duplicate tag 'a'"},
		{"trailing backslash", `m,a=b\ v=1`, "unable to parse"},
		{"no field key", "m =1", "missing field key"},
		{"no field value", "m v=", "missing field value"},
		{"no field value before another", "m v=,w=1", "missing field value"},
		{"field without value", "m v", "missing field value"},
		{"comma behind the last", "m v=1, 5", "missing field value"},
		{"text without end", `m v="abc`, "unbalanced quotes"},
		{"text with an escaped end", `m v="abc\"`, "unbalanced quotes"},
		{"text and more", `m v="a"b`, "invalid field value"},
		{"NaN", "m v=NaN", "NaN"},
		{"infinity", "m v=inf", "infinite"},
		{"signed infinity", "m v=-inf", "invalid field value"},
		{"word", "m v=yes", "invalid field value"},
		{"hexadecimal", "m v=0x10", "invalid field value"},
		{"two points", "m v=1.2.3", "invalid field value"},
		{"point alone", "m v=.", "invalid field value"},
		{"sign alone", "m v=-", "invalid field value"},
		{"integer too large", "m v=9223372036854775808i", "not an integer between"},
		{"integer with a fraction", "m v=1.5i", "invalid field value"},
		{"unsigned with a sign", "m v=-1u", "not an integer between 0"},
		{"float too large", "m v=1e400", "too large"},
		{"time with a point", "m v=1 1.5", "bad timestamp"},
		{"time that is none", "m v=1 now", "bad timestamp"},
		{"two times", "m v=1 1 2", "bad timestamp"},
		{"time too large", "m v=1 99999999999999999999", "Timestamp overflow"},
		{"other type", "m v=1\nm v=t",
			"Column: v, datatype incompatible, expected: Float64, actual: Boolean (line 2: 'm v=t')"},
		{"signed and unsigned", "m v=1i\nm v=1u",
			"Column: v, datatype incompatible, expected: Int64, actual: UInt64 (line 2: 'm v=1u')"},
		{"tag and field", "m,a=b v=1\nm a=1", "Column: a, semantic_type incompatible, expected: TAG, actual: FIELD"},
		{"field and tag", "m a=1\nm,a=b v=1", "Column: a, semantic_type incompatible, expected: FIELD, actual: TAG"},
		{"tag and field in a line", "m,a=b a=\"c\"", "Column: a, semantic_type incompatible"},
		{"the time index", "m time=1", "Column: time, semantic_type incompatible, expected: TIMESTAMP, actual: FIELD"},
		{"name of a column", "m " + strings.Repeat("x", 600) + "=1", "Invalid column name"},
		{"long lines are cut", "m " + strings.Repeat("x", 300), "'m " + strings.Repeat("x", 254) + "'"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := describe(c.in, 1, nil); !strings.Contains(got, c.want) {
				t.Errorf("decode(%q)\n got %s\nwant %s", c.in, got, c.want)
			}
		})
	}
}

// TestNumbers: integers and floats are one kind, whichever comes first; a column that meets both is one of floats.
func TestNumbers(t *testing.T) {
	for in, want := range map[string]string{
		"m v=1 1\nm v=2i 2\nm v=3u 3":   "m v=1 time=1i\nm v=2 time=2i\nm v=3 time=3i",
		"m v=1i 1\nm v=2.5 2\nm v=4i 3": "m v=1 time=1i\nm v=2.5 time=2i\nm v=4 time=3i",
		"m v=7u 1\nm v=7.5 2\nm v=8i 3": "m v=7 time=1i\nm v=7.5 time=2i\nm v=8 time=3i",
	} {
		if got := describe(in, 1, nil); got != want {
			t.Errorf("decode(%q)\n got %s\nwant %s", in, got, want)
		}
	}
}

// TestTables: rows for tables that are there, whose time index has another name and unit.
func TestTables(t *testing.T) {
	tables := there{}
	for precision, name := range map[uint8]string{0: "s", 3: "ms", 6: "us", 9: "ns"} {
		tables[name] = &schema.Table{Columns: []schema.Column{
			{Name: "host", Type: vector.StringType, Semantic: schema.Tag}, {Name: "v", Type: vector.FloatType},
			{Name: "ts", Type: vector.Timestamp(precision), Semantic: schema.Timestamp},
		}, Time: 2}
	}
	const hour = 3_600_000_000_000
	for _, c := range []struct {
		in   string
		unit int64
		want string
	}{
		{"ns v=1 1700000000123456789", 1, "ns v=1 ts=1700000000123456789i"},
		{"us v=1 1700000000123456789", 1, "us v=1 ts=1700000000123456i"},
		{"s v=1 -1500", 1_000_000, "s v=1 ts=-2i"},
		{"s v=1 99999999999", 1_000_000_000, "s v=1 ts=99999999999i"},
		{"ms v=1 2", hour, "ms v=1 ts=7200000i"},
		{"ms v=1", 1, "ms v=1 ts=7000i"},
		{"ns v=1 9223372037", 1_000_000_000, "Timestamp overflow: 9223372037 of 1s each (line 1: 'ns v=1 9223372037')"},
		{"s v=1 -9223372036854775808", hour,
			"Timestamp overflow: -9223372036854775808 of 1h0m0s each (line 1: 's v=1 -9223372036854775808')"},
		{"ns v=1i", 1, "ns v=1i ts=7000000000i"},
		{"ns v=t", 1,
			"column v expect type Float64, given: Boolean: send it as Float64 or under another name, or change the column by ALTER TABLE .. MODIFY COLUMN (line 1: 'ns v=t')"},
		{"ns,v=1 w=1", 1, "column v expect semantic type FIELD, given: TAG (line 1: 'ns,v=1 w=1')"},
		{"ns host=\"a\"", 1, "column host expect semantic type TAG, given: FIELD (line 1: 'ns host=\"a\"')"},
		{"ns ts=1", 1,
			"Column: ts, semantic_type incompatible, expected: TIMESTAMP, actual: FIELD (line 1: 'ns ts=1')"},
	} {
		if got := describe(c.in, c.unit, tables); got != c.want {
			t.Errorf("decode(%q) in units of %d ns\n got %s\nwant %s", c.in, c.unit, got, c.want)
		}
	}
}

// TestBounds: what a body of tiny lines makes grow is bounded before it is there.
func TestBounds(t *testing.T) {
	var columns, tables strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&columns, "m f%d=1\n", i)
		fmt.Fprintf(&tables, "m%d f=1\n", i)
	}
	for range 3000 {
		columns.WriteString("m f0=1\n")
	}
	for name, body := range map[string]string{"columns": columns.String(), "tables": tables.String()} {
		r := newRequest(1, nil)
		r.most = 8 << 20
		if err := newDecoder(r, new(engine.WriteSet)).decode([]byte(body)); err == nil ||
			!strings.Contains(err.Error(), "the limit is 8388608") {
			t.Errorf("%s: %v", name, err)
		}
	}
	var wide strings.Builder
	for i := range schema.MaxColumns + 1 {
		fmt.Fprintf(&wide, "m f%d=1\n", i)
	}
	if got := describe(wide.String(), 1, nil); !strings.Contains(got, "at most 4096 columns") {
		t.Errorf("wide: %s", got)
	}
}

// TestAllocations: a line of known columns allocates nothing.
func TestAllocations(t *testing.T) {
	line := []byte(benchLine(1))
	set := new(engine.WriteSet)
	d := newDecoder(newRequest(1, nil), set)
	for range 1 << 12 { // the buffers of the columns grow
		if err := d.decode(line); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range d.byName {
		c.rows.Reset()
	}
	set.Reset()
	d = newDecoder(newRequest(1, nil), set)
	if err := d.decode(line); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(1000, func() {
		if err := d.decode(line); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a line", n)
	}
}

// benchLine is a point of a host: 10 tags, 10 integers.
func benchLine(i int) string {
	return fmt.Sprintf(
		"cpu,hostname=host_%d,region=eu-central-1,datacenter=eu-central-1a,rack=%d,os=Ubuntu16.04LTS,arch=x64,team=SF,service=%d,service_version=%d,service_environment=production "+
			"usage_user=%di,usage_system=%di,usage_idle=%di,usage_nice=%di,usage_iowait=%di,usage_irq=%di,usage_softirq=%di,usage_steal=%di,usage_guest=%di,usage_guest_nice=%di %d\n",
		i%1000, i%100, i%20, i%2, i%101, i%97, i%89, i%83, i%79, i%73, i%71, i%67, i%61, i%59,
		1451606400000000000+int64(i)*10_000_000_000)
}

// BenchmarkDecode is a body of 5,000 lines of 1,000 hosts.
func BenchmarkDecode(b *testing.B) {
	floating := strings.NewReplacer("i,usage", ".25,usage", "i 14", ".5 14")
	for _, kind := range []string{"integers", "floats"} {
		var text strings.Builder
		for i := range 5000 {
			line := benchLine(i)
			if kind == "floats" {
				line = floating.Replace(line)
			}
			text.WriteString(line)
		}
		body := []byte(text.String())
		b.Run(kind, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			set := new(engine.WriteSet)
			for b.Loop() {
				if err := newDecoder(newRequest(1, nil), set).decode(body); err != nil {
					b.Fatal(err)
				}
				set.Reset()
			}
		})
	}
}

// FuzzDecode: any bytes give rows or an error; what is decoded is what a decoder without memory of lines before gives,
// line by line.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		"cpu,host=a v=1 5\ncpu,host=b v=2i", "m,a\\ b=c\\,d e=\"f\\\"g\n\\\\\",h=t -5\r\n# c\n",
		"m v=1,w=2\nm w=1,v=2\nn v=\"\" 1", "m,a=b=c v=1e400", "m v=1.5,v=t", "\xff m =", "m,a=b\\", "m a=\"\\",
		benchLine(7), "a\\ b,c=d e=1.,f=.5,g=-0,h=+1u 99999999999999999999",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if utf8.Valid(body) {
			leavesOut(t, string(body))
		}
		d := newDecoder(newRequest(1000, nil), new(engine.WriteSet))
		err := d.decode(body)
		if err != nil {
			if _, text := web.Message(err); !strings.Contains(text, "line ") {
				t.Fatalf("the error names no line: %v", err)
			}
			return
		}
		for name, of := range d.byName {
			fields, batch := of.rows.Finish()
			if name == "" || batch.N == 0 || len(fields) != len(of.cols) {
				t.Fatalf("table %q: %d rows, %d fields, %d columns", name, batch.N, len(fields), len(of.cols))
			}
			for i, v := range batch.Cols {
				for r := range batch.N {
					if v.Type.Kind() == vector.Float64 && !v.IsNull(r) &&
						(math.IsNaN(v.Float(r)) || math.IsInf(v.Float(r), 0)) {
						t.Fatalf("%s: %v", fields[i].Name, v.Float(r))
					}
				}
			}
		}
	})
}
