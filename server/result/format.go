package result

import (
	"context"
	"strings"

	"varve/engine/vector"
)

// Rows is a result that is read batch by batch; exec.Reader is one.
type Rows interface {
	Next(*vector.Batch) (bool, error)
	Close()
}

// Output is the outcome of one statement: rows, or a count when Rows is nil.
type Output struct {
	Fields   []vector.Field
	Rows     Rows
	Affected int64
	// Context of Rows ends when the statement is ended from outside, and when they are closed; nil: it never is.
	Context context.Context
	// Reserve, if not nil, takes memory for the answer from that of the statement.
	Reserve func(bytes int64) error
	// Warnings follow the results of all statements, in the formats of JSON.
	Warnings []string
}

// Format is an answer format of SQL.
type Format uint8

// The formats.
const (
	ServiceV1 Format = iota
	InfluxV1
	CSV
	CSVWithNames
	CSVWithNamesAndTypes
	JSONRows
	Table
	Arrow
	Null
	ArrowZstd // Arrow with packed buffers
	ArrowLZ4
)

// ParseFormat reads a format's name in any case; unknown names are the default.
func ParseFormat(name string) Format {
	switch strings.ToLower(name) {
	case "influxdb_v1", "lineproto_v1":
		return InfluxV1
	case "csv":
		return CSV
	case "csvwithnames":
		return CSVWithNames
	case "csvwithnamesandtypes":
		return CSVWithNamesAndTypes
	case "json":
		return JSONRows
	case "table":
		return Table
	case "arrow":
		return Arrow
	case "null":
		return Null
	}
	return ServiceV1
}

// Compressed is the format with the parameter compression, which only arrow has: zstd or lz4. Other texts mean none.
func (f Format) Compressed(compression string) Format {
	if f != Arrow {
		return f
	}
	switch strings.ToLower(compression) {
	case "zstd":
		return ArrowZstd
	case "lz4":
		return ArrowLZ4
	}
	return f
}

// String is the name in the header x-service-format; the three CSV forms share one.
func (f Format) String() string {
	switch f {
	case InfluxV1:
		return "influxdb_v1"
	case CSV, CSVWithNames, CSVWithNamesAndTypes:
		return "csv"
	case JSONRows:
		return "json"
	case Table:
		return "table"
	case Arrow, ArrowZstd, ArrowLZ4:
		return "arrow"
	case Null:
		return "null"
	}
	return "service_v1"
}

// Several reports whether the format can hold the results of several statements.
func (f Format) Several() bool { return f == ServiceV1 || f == InfluxV1 }

// contentType is the media type of an answer in the format.
func (f Format) contentType() string {
	switch f {
	case CSV, CSVWithNames, CSVWithNamesAndTypes:
		return "text/csv; charset=utf-8"
	case Table, Null:
		return "text/plain; charset=utf-8"
	case Arrow, ArrowZstd, ArrowLZ4:
		return "application/arrow"
	}
	return "application/json"
}

// Epoch is the unit that influxdb_v1 converts timestamps to; the zero value keeps the stored unit.
type Epoch struct {
	given  bool
	digits uint8
}

// ParseEpoch reads the parameter epoch: ns, u, ms, s; other text means ms, none keeps the unit.
func ParseEpoch(text string) Epoch {
	switch text {
	case "":
		return Epoch{}
	case "ns":
		return Epoch{true, 9}
	case "u", "µ", "us":
		return Epoch{true, 6}
	case "s":
		return Epoch{true, 0}
	}
	return Epoch{true, 3}
}

// cell is jsonCell with timestamps converted.
func (e Epoch) cell(v *vector.Vector) cell {
	if !e.given || !v.Type.IsTimestamp() || v.Type.Precision == e.digits {
		return jsonCell(v)
	}
	mul, div := int64(1), int64(1)
	for d := v.Type.Precision; d < e.digits; d++ {
		mul *= 10
	}
	for d := e.digits; d < v.Type.Precision; d++ {
		div *= 10
	}
	return func(dst []byte, i int) []byte {
		if v.IsNull(i) {
			return append(dst, "null"...)
		}
		n := v.Int(i)
		if div > 1 {
			q := n / div
			if n%div < 0 {
				q--
			}
			return appendInt(dst, q)
		}
		return appendInt(dst, n*mul)
	}
}
