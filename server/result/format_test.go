package result

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"varve/engine/jsontext"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/server/web"
)

// batches is a result held in memory.
type batches struct {
	list   []*vector.Batch
	err    error // after the last one
	closed bool
}

func (r *batches) Next(b *vector.Batch) (bool, error) {
	if len(r.list) == 0 {
		return false, r.err
	}
	*b = *r.list[0]
	r.list = r.list[1:]
	return true, nil
}

func (r *batches) Close() { r.closed = true }

func le128(lo, hi uint64) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, lo), hi)
}

// sample is a batch of two rows with a column of every kind; the second row is NULL where it can be.
func sample() ([]vector.Field, *vector.Batch) {
	half := vector.Bitmap{1}
	interval := binary.LittleEndian.AppendUint32(nil, 1)
	interval = binary.LittleEndian.AppendUint32(interval, 2)
	interval = binary.LittleEndian.AppendUint64(interval, 3_600_500_000_000)
	text := func(t vector.Type, b []byte) *vector.Vector {
		return &vector.Vector{Type: t, Valid: half, Heap: b, Views: []vector.View{{Off: 0, Len: uint32(len(b))}, {}}}
	}
	columns := []struct {
		name string
		v    *vector.Vector
	}{
		{"b", &vector.Vector{Type: vector.BoolType, Bools: vector.Bitmap{1}}},
		{"i", &vector.Vector{Type: vector.Int64Type, Ints: []int64{math.MinInt64, 0}, Valid: half}},
		{"u", &vector.Vector{Type: vector.Uint64Type, Uints: []uint64{math.MaxUint64, 1}}},
		{"f", &vector.Vector{Type: vector.FloatType, Floats: []float64{1024, math.NaN()}}},
		{"s", text(vector.StringType, []byte("a,\"b\"\n\x01\xff"))},
		{"x", text(vector.BinaryType, []byte("hi"))},
		{"j", text(vector.JSONType, []byte(`{"a":[1,2]}`))},
		{"t", &vector.Vector{Type: vector.Timestamp(3), Ints: []int64{-1, 1500}}},
		{"d", text(vector.Type{ID: vector.TypeDecimal, Precision: 10, Scale: 2}, le128(^uint64(0)-4, ^uint64(0)))},
		{"n", text(vector.Interval, interval)},
		{"c", vector.ConstInt(vector.Int64Type, 7)},
		{"y", &vector.Vector{Type: vector.StringType, Form: vector.Dict, Codes: []uint32{1, 0}, Values: &vector.Vector{
			Type: vector.StringType, Heap: []byte("xyz"), Views: []vector.View{{Off: 0, Len: 1}, {Off: 1, Len: 2}}}}},
		{"0", vector.ConstNull(vector.NullType)},
	}
	b := &vector.Batch{N: 2}
	var fields []vector.Field
	for _, c := range columns {
		fields = append(fields, vector.Field{Name: c.name, Type: c.v.Type})
		b.Cols = append(b.Cols, c.v)
	}
	return fields, b
}

// answer renders outputs.
func render(t *testing.T, f Format, e Epoch, limit int64, outputs ...*Output) (*web.Ctx, error) {
	t.Helper()
	c := web.NewCtx(&fasthttp.RequestCtx{}, context.Background(), 0)
	err := Reply(c, f, e, Texts{}, limit, func() (*Output, bool, error) {
		if len(outputs) == 0 {
			return nil, true, nil
		}
		o := outputs[0]
		outputs = outputs[1:]
		return o, len(outputs) == 0, nil
	})
	return c, err
}

// volatile takes the times out of an answer.
func volatile(body string) string {
	if i := strings.LastIndex(body, `"execution_time_ms":`); i >= 0 {
		return body[:i] + "T}"
	}
	if i := strings.LastIndex(body, "Elapsed: "); i >= 0 {
		return body[:i] + "T\n"
	}
	return body
}

func TestFormats(t *testing.T) {
	row1 := `true,-9223372036854775808,18446744073709551615,1024.0,"a,\"b\"\n\u0001` + "\uFFFD" +
		`",[104,105],{"a":[1,2]},-1,"-0.05","1 mons 2 days 1 hours 0.500000000 secs",7,"yz",null`
	row2 := `false,null,1,null,null,null,null,1500,null,null,7,"x",null`
	types := []string{"Boolean", "Int64", "UInt64", "Float64", "String", "Binary", "Json", "TimestampMillisecond",
		"Decimal(10, 2)", "IntervalMonthDayNano", "Int64", "String", "Null"}
	fields, _ := sample()
	var schema []string
	for i, f := range fields {
		schema = append(schema, `{"name":"`+f.Name+`","data_type":"`+types[i]+`"}`)
	}
	head := `{"records":{"schema":{"column_schemas":[` + strings.Join(schema, ",") + `]},"rows":[`
	csv := "true,-9223372036854775808,18446744073709551615,1024.0,\"a,\"\"b\"\"\n\x01\xff\",\"[104,105]\",\"{\"\"a\"\":[1,2]}\",-1,-0.05,1 mons 2 days 1 hours 0.500000000 secs,7,yz,\r\n" +
		"false,,1,NaN,,,,1500,,,7,x,\r\n"
	for _, c := range []struct {
		name  string
		f     Format
		e     Epoch
		limit int64
		want  string
	}{
		{"service_v1", ServiceV1, Epoch{}, -1,
			`{"output":[` + head + "[" + row1 + "],[" + row2 + `]],"total_rows":2}}],T}`},
		{"limit", ServiceV1, Epoch{}, 1, `{"output":[` + head + "[" + row1 + `]],"total_rows":1}}],T}`},
		{"limit zero", ServiceV1, Epoch{}, 0, `{"output":[` + head + `],"total_rows":0}}],T}`},
		{"influxdb_v1", InfluxV1, ParseEpoch("s"), -1,
			`{"results":[{"statement_id":0,"series":[{"name":"","columns":["b","i","u","f","s","x","j","t","d","n","c","y","0"],"values":[[` +
				row1 + "],[" + strings.Replace(row2, "1500", "1", 1) + `]]}]}],T}`},
		{"csv", CSV, Epoch{}, -1, csv},
		{"csvWithNamesAndTypes", CSVWithNamesAndTypes, Epoch{}, -1, "b,i,u,f,s,x,j,t,d,n,c,y,0\r\n" +
			strings.Replace(strings.Join(types, ","), "Decimal(10, 2)", `"Decimal(10, 2)"`, 1) + "\r\n" + csv},
		{"null", Null, Epoch{}, -1, "2 rows in set.\nT\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fields, b := sample()
			rows := &batches{list: []*vector.Batch{b}}
			ctx, err := render(t, c.f, c.e, c.limit, &Output{Fields: fields, Rows: rows})
			if err != nil {
				t.Fatal(err)
			}
			if got := volatile(string(ctx.Response.Body())); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			if c.f == ServiceV1 && !json.Valid(ctx.Response.Body()) {
				t.Error("the answer is not JSON")
			}
			if ctx.Done(); !rows.closed {
				t.Error("the rows were not closed when the request was over")
			}
		})
	}
}

func TestSmallFormats(t *testing.T) {
	fields := []vector.Field{{Name: "cpu", Type: vector.FloatType}, {Name: "ts", Type: vector.Timestamp(3)}}
	rows := func() *batches {
		return &batches{list: []*vector.Batch{{N: 1,
			Cols: []*vector.Vector{{Type: vector.FloatType, Floats: []float64{66.6}},
				vector.ConstInt(vector.Timestamp(3), 0)}}}}
	}
	twice := append(fields, fields[0])
	for _, c := range []struct {
		name string
		f    Format
		outs []*Output
		want string
	}{
		{"table", Table, []*Output{{Fields: fields, Rows: rows()}}, "┌─cpu──┬─ts─┐\n│ 66.6 │ 0  │\n└──────┴────┘\n"},
		{"table affected", Table, []*Output{{Affected: 3}}, "3\n"},
		{"csv affected", CSV, []*Output{{Affected: 3}}, "3\n"},
		{"json", JSONRows, []*Output{{Fields: fields, Rows: rows()}}, `{"data":[{"cpu":66.6,"ts":0}],T}`},
		{"json same name", JSONRows,
			[]*Output{{Fields: twice, Rows: &batches{list: []*vector.Batch{{N: 1, Cols: []*vector.Vector{
				vector.ConstFloat(vector.FloatType, 1), vector.ConstInt(vector.Timestamp(3), 0),
				vector.ConstFloat(vector.FloatType, 2)}}}}}}, `{"data":[{"ts":0,"cpu":2.0}],T}`},
		{"json affected", JSONRows, []*Output{{Affected: 3}}, `{"data":[],"affected_rows":3,T}`},
		{"null affected", Null, []*Output{{Affected: 3}}, "3 rows affected.\nT\n"},
		{"several", ServiceV1, []*Output{{Affected: 1}, {Fields: fields, Rows: &batches{}}, {Affected: 2}},
			`{"output":[{"affectedrows":1},{"records":{"schema":{"column_schemas":[{"name":"cpu","data_type":"Float64"},{"name":"ts","data_type":"TimestampMillisecond"}]},"rows":[],"total_rows":0}},{"affectedrows":2}],T}`},
		{"influx several", InfluxV1, []*Output{{Affected: 1}, {Fields: fields, Rows: &batches{}}},
			`{"results":[{"statement_id":0,"series":[]},{"statement_id":1,"series":[{"name":"","columns":[],"values":[]}]}],T}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, err := render(t, c.f, Epoch{}, -1, c.outs...)
			if err != nil {
				t.Fatal(err)
			}
			if got := volatile(string(ctx.Response.Body())); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
	if ctx, err := render(t, Arrow, Epoch{}, -1, &Output{Affected: 1}); err != nil || len(ctx.Response.Body()) != 0 {
		t.Errorf("arrow without rows: %v", err)
	}
}

// TestStreams reads an answer that is larger than what is buffered, plain and in every compression.
func TestStreams(t *testing.T) {
	const rows = 400_000
	for _, encoding := range []string{"", "gzip", "zstd", "br", "deflate"} {
		t.Run(encoding, func(t *testing.T) {
			result := &batches{}
			for range rows / vector.Size {
				result.list = append(result.list,
					&vector.Batch{N: vector.Size, Cols: []*vector.Vector{vector.ConstInt(vector.Int64Type, 12345)}})
			}
			n := len(result.list) * vector.Size
			rc := &fasthttp.RequestCtx{}
			rc.Request.Header.Set("Accept-Encoding", encoding)
			c := web.NewCtx(rc, context.Background(), 0)
			over := false
			c.Finally(func() { over = true })
			given := false
			err := Reply(c, ServiceV1, Epoch{}, Texts{}, -1, func() (*Output, bool, error) {
				if given {
					return nil, true, nil
				}
				given = true
				return &Output{Fields: []vector.Field{{Name: "n", Type: vector.Int64Type}}, Rows: result}, true, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if c.Done(); over {
				t.Error("the request is over before its answer")
			}
			body, err := uncompressed(&rc.Response)
			if err != nil {
				t.Fatal(err)
			}
			if !json.Valid(body) || !strings.Contains(string(body), `"total_rows":`+strconv.Itoa(n)+"}") ||
				string(rc.Response.Header.Peek("Content-Encoding")) != encoding {
				t.Errorf("%d bytes, ending in %s", len(body), body[len(body)-80:])
			}
			if !result.closed || !over {
				t.Error("rows or request were not closed")
			}
		})
	}
}

func uncompressed(r *fasthttp.Response) ([]byte, error) {
	switch string(r.Header.Peek("Content-Encoding")) {
	case "gzip":
		return r.BodyGunzip()
	case "br":
		return r.BodyUnbrotli()
	case "deflate":
		return r.BodyInflate()
	case "zstd":
		return r.BodyUnzstd()
	}
	return r.Body(), nil
}

// TestStreamThatFails has an error after the first bytes are gone: the body must not end properly.
func TestStreamThatFails(t *testing.T) {
	result := &batches{err: status.New(status.EngineExecuteQuery, "block 7 is damaged")}
	for range 200 {
		result.list = append(result.list,
			&vector.Batch{N: vector.Size, Cols: []*vector.Vector{vector.ConstInt(vector.Int64Type, 12345)}})
	}
	c, err := render(t, ServiceV1, Epoch{}, -1,
		&Output{Fields: []vector.Field{{Name: "n", Type: vector.Int64Type}}, Rows: result})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, c.Response.BodyStream()); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("the stream ends with %v", err)
	}
	result = &batches{err: status.New(status.EngineExecuteQuery, "block 7 is damaged")}
	if _, err := render(t, ServiceV1, Epoch{}, -1, &Output{Rows: result}); status.Of(err) !=
		status.EngineExecuteQuery || !result.closed {
		t.Errorf("a small answer that fails: %v, closed %v", err, result.closed)
	}
}

func TestJSONFloat(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0.0", 1: "1.0", -1.5: "-1.5", 1e15: "1000000000000000.0", 1e16: "1e16", 1.5e300: "1.5e300", 1e-5: "0.00001",
		1e-7:     "1e-7",
		1.25e-10: "1.25e-10", math.Inf(1): "null", float64(float32(1.99)): "1.9900000095367432", 66.6: "66.6",
		123456789.125: "123456789.125",
	} {
		got := string(jsontext.AppendFloat(nil, f))
		if got != want {
			t.Errorf("%v is written %s, want %s", f, got, want)
		}
		if back, err := strconv.ParseFloat(got, 64); want != "null" && (err != nil || back != f) {
			t.Errorf("%s reads back as %v", got, back)
		}
	}
}

func BenchmarkRows(b *testing.B) {
	fields, batch := sample()
	_ = fields
	n := 2
	var cells []cell
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		cells = cellsOf(batch, cells, jsonCell)
		dst = appendRows(dst[:0], cells, 0, n, false)
	}
	b.SetBytes(int64(len(dst)))
}
