package write_test

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/s2"

	"varve/engine"
	"varve/engine/status"
	"varve/server"
	"varve/server/protowire"
	"varve/server/servertest"
	"varve/server/web"
)

// doorRow is a row of a body: its names and texts, in order.
type doorRow struct{ names, texts []string }

// doorRows are rows of so many bytes in all: few texts that are long, or many.
func doorRows(bytes, columns, text int) (rows []doorRow) {
	value := strings.Repeat("0123456789abcdef", text/16)
	for size := 0; size < bytes; size += columns * text {
		r := doorRow{}
		for i := range columns {
			r.names, r.texts = append(r.names, fmt.Sprintf("c%d", i)), append(r.texts, value)
		}
		rows = append(rows, r)
	}
	return rows
}

// members are the row's members of a JSON object, formatted each.
func (r doorRow) members(format, between string) string {
	var b strings.Builder
	for i, name := range r.names {
		if i > 0 {
			b.WriteString(between)
		}
		fmt.Fprintf(&b, format, name, r.texts[i])
	}
	return b.String()
}

// object is the row as a JSON object.
func (r doorRow) object() string { return "{" + r.members(`"%s":"%s"`, ",") + "}" }

// attributes are those of a message in JSON.
func (r doorRow) attributes() string {
	return "[" + r.members(`{"key":"%s","value":{"stringValue":"%s"}}`, ",") + "]"
}

// joined joins what is made of each row.
func joined(rows []doorRow, between string, each func(i int, r doorRow) string) string {
	parts := make([]string, len(rows))
	for i, r := range rows {
		parts[i] = each(i, r)
	}
	return strings.Join(parts, between)
}

// attributed appends the row's attributes as a field of a message.
func (r doorRow) attributed(m []byte, field int) []byte {
	for i, name := range r.names {
		m = protowire.AppendMessage(m, field, func(m []byte) []byte {
			m = protowire.AppendBytes(m, 1, []byte(name))
			return protowire.AppendMessage(m, 2,
				func(m []byte) []byte { return protowire.AppendBytes(m, 1, []byte(r.texts[i])) })
		})
	}
	return m
}

// enclosed puts what each row makes into messages in each other: the fields lead to that of the rows.
func enclosed(rows []doorRow, each func(m []byte, i int, r doorRow) []byte, fields ...int) string {
	var in func(m []byte, fields []int) []byte
	in = func(m []byte, fields []int) []byte {
		if len(fields) > 1 {
			return protowire.AppendMessage(m, fields[0], func(m []byte) []byte { return in(m, fields[1:]) })
		}
		for i, r := range rows {
			m = protowire.AppendMessage(m, fields[0], func(m []byte) []byte { return each(m, i, r) })
		}
		return m
	}
	return string(in(nil, fields))
}

const doorNS = 1_790_000_000_000_000_000

// doors are the protocols: a body of some rows, and how many times its size a request may have in memory when its rows
// are written. Bodies are gone by then, but for those that are read again when another changes a column's type, and
// rows that need room to grow have up to a quarter more. A row of few columns holds no wide one where narrow says so.
var doors = []struct {
	name, path, kind string
	encoding         string
	times            float64
	narrow           bool
	body             func(rows []doorRow) string
}{
	{"NDJSON", servertest.IngestPath, "application/x-ndjson", "", 1.3, false, func(rows []doorRow) string {
		return joined(rows, "\n", func(_ int, r doorRow) string { return r.object() })
	}},
	{"JSON", servertest.IngestPath, "application/json", "", 1.3, false, func(rows []doorRow) string {
		return "[" + joined(rows, ",", func(_ int, r doorRow) string { return r.object() }) + "]"
	}},
	{"shaped NDJSON", servertest.IngestPath + "&extra_fields=a=b", "application/x-ndjson", "", 1.3, false,
		func(rows []doorRow) string {
			return joined(rows, "\n", func(_ int, r doorRow) string { return r.object() })
		}},
	{"text", servertest.IngestPath, "text/plain", "", 1.3, true, func(rows []doorRow) string {
		return joined(rows, "\n", func(_ int, r doorRow) string { return r.texts[0] })
	}},
	{"bulk", "/v1/elasticsearch/_bulk", "application/x-ndjson", "", 1.3, false, func(rows []doorRow) string {
		return joined(rows, "", func(_ int, r doorRow) string {
			return `{"create":{"_index":"t"}}` + "\n" + r.object() + "\n"
		})
	}},
	{"events", "/v1/splunk/services/collector/event", "application/json", "", 1.3, false, func(rows []doorRow) string {
		return joined(rows, "", func(i int, r doorRow) string {
			return fmt.Sprintf(`{"time":%d,"event":%s}`, 1790000000+i, r.object())
		})
	}},
	{"raw events", "/v1/splunk/services/collector/raw?linebreaker=%5Cn", "text/plain", "", 1.3, true,
		func(rows []doorRow) string {
			return joined(rows, "\n", func(_ int, r doorRow) string { return r.texts[0] })
		}},
	{"agents", "/v1/datadog/api/v2/logs", "application/json", "", 1.3, false, func(rows []doorRow) string {
		return "[" + joined(rows, ",", func(_ int, r doorRow) string { return r.object() }) + "]"
	}},
	{"journal", "/v1/journald/upload", "application/vnd.fdo.journal", "", 1.3, false, func(rows []doorRow) string {
		return joined(rows, "", func(_ int, r doorRow) string { return r.members("%s=%s", "\n") + "\n\n" })
	}},
	{"line protocol", "/v1/lineproto/write", "text/plain", "", 1.3, false, func(rows []doorRow) string {
		return joined(rows, "\n", func(i int, r doorRow) string {
			return "lp,h=a " + r.members(`%s="%s"`, ",") + fmt.Sprint(" ", doorNS+i)
		})
	}},
	{"JSON put", "/v1/jsonput/api/put", "application/json", "", 1.3, false, func(rows []doorRow) string {
		return "[" + joined(rows, ",", func(i int, r doorRow) string {
			return fmt.Sprintf(`{"metric":"p","timestamp":%d,"value":1.5,"tags":%s}`, 1790000000+i, r.object())
		}) + "]"
	}},
	{"log push", "/v1/logpush/api/v1/push", "application/json", "", 1.3, false, func(rows []doorRow) string {
		return `{"streams":[{"stream":{"a":"b"},"values":[` + joined(rows, ",", func(i int, r doorRow) string {
			return fmt.Sprintf(`["%d","x",%s]`, doorNS+i, r.object())
		}) + "]}]}"
	}},
	{"log push, protobuf", "/v1/logpush/api/v1/push", "application/x-protobuf", "snappy", 1.3, false,
		func(rows []doorRow) string {
			var m []byte
			m = protowire.AppendMessage(m, 1, func(m []byte) []byte {
				m = protowire.AppendBytes(m, 1, []byte(`{a="b"}`))
				return append(m, enclosed(rows, func(m []byte, i int, r doorRow) []byte {
					m = protowire.AppendMessage(m, 1, func(m []byte) []byte {
						return protowire.AppendVarint(m, 1, uint64(1790000000+i))
					})
					m = protowire.AppendBytes(m, 2, []byte("x"))
					for i, name := range r.names {
						m = protowire.AppendMessage(m, 3, func(m []byte) []byte {
							return protowire.AppendBytes(protowire.AppendBytes(m, 1, []byte(name)), 2,
								[]byte(r.texts[i]))
						})
					}
					return m
				}, 2)...)
			})
			return string(m)
		}},
	{"OTLP logs", servertest.OTLPLogs, "application/x-protobuf", "", 2.3, false, func(rows []doorRow) string {
		return enclosed(rows, func(m []byte, i int, r doorRow) []byte {
			return r.attributed(protowire.AppendFixed64(m, 1, uint64(doorNS+i)), 6)
		}, 1, 2, 2)
	}},
	{"OTLP logs, JSON", servertest.OTLPLogs, "application/json", "", 2.3, false, func(rows []doorRow) string {
		return `{"resourceLogs":[{"scopeLogs":[{"logRecords":[` + joined(rows, ",", func(i int, r doorRow) string {
			return fmt.Sprintf(`{"timeUnixNano":"%d","attributes":%s}`, doorNS+i, r.attributes())
		}) + "]}]}]}"
	}},
	{"OTLP spans", servertest.OTLPTraces, "application/x-protobuf", "", 2.3, true, func(rows []doorRow) string {
		return enclosed(rows, func(m []byte, i int, r doorRow) []byte {
			m = protowire.AppendBytes(protowire.AppendBytes(m, 1, []byte("0123456789abcdef")), 2, []byte("01234567"))
			return r.attributed(protowire.AppendFixed64(protowire.AppendFixed64(m, 7, uint64(doorNS+i)), 8,
				uint64(doorNS+i)), 9)
		}, 1, 2, 2)
	}},
	{"OTLP events of spans", servertest.OTLPTraces, "application/x-protobuf", "", 2.3, false,
		func(rows []doorRow) string {
			return enclosed(rows, func(m []byte, i int, r doorRow) []byte {
				m = protowire.AppendBytes(protowire.AppendBytes(m, 1, []byte("0123456789abcdef")), 2,
					[]byte("01234567"))
				m = protowire.AppendFixed64(protowire.AppendFixed64(m, 7, uint64(doorNS+i)), 8, uint64(doorNS+i))
				return protowire.AppendMessage(m, 11,
					func(m []byte) []byte { return r.attributed(protowire.AppendFixed64(m, 1, doorNS), 3) })
			}, 1, 2, 2)
		}},
	{"OTLP spans, JSON", servertest.OTLPTraces, "application/json", "", 2.3, true, func(rows []doorRow) string {
		return `{"resourceSpans":[{"scopeSpans":[{"spans":[` + joined(rows, ",", func(i int, r doorRow) string {
			return fmt.Sprintf(
				`{"traceId":"%032x","spanId":"%016x","startTimeUnixNano":"%d","endTimeUnixNano":"%[3]d","attributes":%s}`, i+1, i+1, doorNS+i, r.attributes())
		}) + "]}]}]}"
	}},
}

// measuredStore looks at the memory of requests when their rows are written, and writes none.
type measuredStore struct {
	web.Store
	intake     *web.Intake
	before     uint64 // heap before the request
	made, held int64  // heap and what is counted of it when the rows are written
	calls      int
}

func (s *measuredStore) Write(_ context.Context, set *engine.WriteSet) ([]engine.Written, error) {
	s.calls++
	s.made, s.held = int64(heapNow()-s.before), s.intake.Bytes()
	runtime.KeepAlive(set)
	return []engine.Written{{Rows: 1}}, nil
}

// heapNow is the heap that is in use.
func heapNow() uint64 {
	runtime.GC()
	runtime.GC() // what the first one found in pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestBodiesAreNotKeptBesideTheirRows sends a body of long rows and one of wide rows by each protocol: when its rows
// are written they are what the request has in memory, and that is counted.
func TestBodiesAreNotKeptBesideTheirRows(t *testing.T) {
	const bytes = 34 << 20 // smaller ones are kept for the next request
	for _, shape := range []struct {
		name          string
		columns, text int
	}{{"long", 1, 1 << 20}, {"wide", 1000, 512}} {
		rows := doorRows(bytes, shape.columns, shape.text)
		for _, d := range doors {
			if shape.columns > 1 && d.narrow {
				continue
			}
			t.Run(d.name+"/"+shape.name, func(t *testing.T) {
				store := &measuredStore{}
				h := servertest.Real(t, func(o *server.Options) {
					o.Intake = web.NewIntake(1<<30, time.Minute, status.RegionBusy)
					store.Store, store.intake = o.Admin.Store.(web.Store), o.Intake
					w := web.NewWriter(store)
					o.Rows.Writer = w
				})
				body := d.body(rows)
				size, headers := int64(len(body)), []string{"Content-Type", d.kind}
				if d.encoding == "snappy" {
					body, headers = string(s2.EncodeSnappy(nil, []byte(body))),
						append(headers, "Content-Encoding", d.encoding)
				}
				store.before = heapNow()
				a := h.Do("POST", d.path, body, headers...)
				if a.Status/100 != 2 || store.calls == 0 {
					t.Fatalf("%d %.300s, %d writes", a.Status, a.Body, store.calls)
				}
				if most := int64(d.times * float64(size)); store.made > most {
					t.Errorf("%d bytes are in memory when the rows of %d are written, want at most %d", store.made,
						size, most)
				}
				if store.held < store.made/10*8 {
					t.Errorf("%d bytes are counted of %d that are in memory", store.held, store.made)
				}
				debug.FreeOSMemory()
			})
		}
	}
}

// TestLabelsOfEverySampleAreCounted sends a series through a pipeline, whose entries have its labels each: they are
// bounded before they are made.
func TestLabelsOfEverySampleAreCounted(t *testing.T) {
	h := servertest.Real(t, func(o *server.Options) { o.Rows.RowBytes = 1 << 20 })
	message := func(samples int) string {
		return string(s2.EncodeSnappy(nil, protowire.AppendMessage(nil, 1, func(m []byte) []byte {
			for _, l := range [...][2]string{{"__name__", "m"}, {"l", strings.Repeat("x", 1000)}} {
				m = protowire.AppendMessage(m, 1, func(m []byte) []byte {
					return protowire.AppendBytes(protowire.AppendBytes(m, 1, l[0]), 2, l[1])
				})
			}
			for i := range samples {
				m = protowire.AppendMessage(m, 2, func(m []byte) []byte {
					return protowire.AppendVarint(protowire.AppendDouble(m, 1, 1), 2, uint64(1_790_000_000_000+i))
				})
			}
			return m
		})))
	}
	for samples, want := range map[int]int{500: 204, 1000: 400} {
		text := ""
		if want == 400 {
			text = "the limit is 1048576: each sample has the labels of its series, send fewer at a time"
		}
		h.Want(h.Do("POST", "/v1/metricsapi/write", message(samples), "Content-Encoding", "snappy",
			"x-service-pipeline-name", "service_identity"), want, text)
	}
}
