package write_test

import (
	"fmt"
	"strings"
	"testing"

	"varve/server"
	"varve/server/protowire"
	"varve/server/servertest"
	"varve/server/write/rows/samples"
)

// plainMetrics is a server whose metrics have tables of their own.
func plainMetrics(t *testing.T) *servertest.House {
	t.Helper()
	return servertest.Real(t, func(o *server.Options) {
		store := o.Metrics.Store
		o.Metrics.Samples = samples.New(samples.Options{Store: store, Prefix: "service", OwnStorage: true,
			CacheBytes: 1 << 20})
		o.OTLP.Samples = o.Metrics.Samples
	})
}

// version2 is the type of requests of version 2.0.
const version2 = "application/x-protobuf;proto=io.prometheus.write.v2.Request"

// histogramOfOne is the fields of a histogram of one observation at a time.
func histogramOfOne(at uint64) []func([]byte) []byte {
	return []func([]byte) []byte{servertest.Varint(1, 1), servertest.Double(3, 1), servertest.Varint(4, 0),
		servertest.Spans(11, 0, 1), servertest.Deltas(12, 1), servertest.Varint(15, at)}
}

// metricDoors are the ways of the series m{b="1"} into a server, as a float of 1 or, where the door has them, a
// histogram.
var metricDoors = map[string]func(h *servertest.House, histogram bool, at uint64) servertest.Answer{
	"remote write 1.0": func(h *servertest.House, histogram bool, at uint64) servertest.Answer {
		body := protowire.AppendMessage(nil, 1, func(m []byte) []byte {
			m = append(m, servertest.Message1([]string{"__name__", "m", "b", "1"})[2:]...)
			if histogram {
				return append(m, servertest.HistogramMessage(4, histogramOfOne(at)...)...)
			}
			return servertest.Sample2(m, 1, at, 0)
		})
		return h.Do("POST", servertest.WritePath, servertest.Snappy(body))
	},
	"remote write 2.0": func(h *servertest.House, histogram bool, at uint64) servertest.Answer {
		body := servertest.Request2([]string{"", "__name__", "m", "b", "1"}, func(m []byte) []byte {
			if m = servertest.Refs(m, 1, 2, 3, 4); histogram {
				return append(m, servertest.HistogramMessage(3,
					append(histogramOfOne(at), servertest.Varint(17, 5))...)...)
			}
			return servertest.Sample2(m, 1, at, 5)
		})
		return h.Do("POST", servertest.WritePath, body, "Content-Type", version2)
	},
	"otlp": func(h *servertest.House, _ bool, at uint64) servertest.Answer {
		return h.OTLP("metrics",
			fmt.Sprintf(
				`{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"m","gauge":{"dataPoints":[{"timeUnixNano":"%d000000","asDouble":1,"attributes":[{"key":"b","value":{"stringValue":"1"}}]}]}}]}]}]}`, at))
	},
}

// TestSeriesOfAlteredTables: a series that is known is stored as its labels say after each kind of ALTER, or refused
// with a reason.
func TestSeriesOfAlteredTables(t *testing.T) {
	for _, c := range []struct {
		name, alter string
		histogram   bool
		refused     string // part of the answer; empty: the sample is stored
		query, want string
	}{
		{"drop the value column", "ALTER TABLE m DROP COLUMN service_value", false, "",
			"SELECT b, service_value FROM m ORDER BY service_timestamp", "[[1 <nil>] [1 1]]"},
		{"another type of values", "ALTER TABLE m MODIFY COLUMN service_value STRING", false, "service_value",
			"SELECT b, service_value FROM m", "[[1 1.0]]"},
		{"rename the table", "ALTER TABLE m RENAME n", false, "",
			"SELECT a.c, d.c FROM (SELECT count(*) c FROM m) a, (SELECT count(*) c FROM n) d", "[[1 1]]"},
		{"rename a label", "ALTER TABLE m RENAME COLUMN b TO c", false, "",
			"SELECT b, c FROM m ORDER BY service_timestamp", "[[<nil> 1] [1 <nil>]]"},
		{"rename the value column", "ALTER TABLE m RENAME COLUMN service_value TO v", false, "",
			"SELECT v, service_value FROM m ORDER BY service_timestamp", "[[1 <nil>] [<nil> 1]]"},
		{"rename the time index", "ALTER TABLE m RENAME COLUMN service_timestamp TO ts", false, "time index",
			"SELECT count(*) FROM m", "[[1]]"},
		{"drop the table", "DROP TABLE m", false, "", "SELECT count(*) FROM m", "[[1]]"},
		{"truncate the table", "TRUNCATE TABLE m", false, "", "SELECT count(*) FROM m", "[[1]]"},
		{"add a label", "ALTER TABLE m ADD COLUMN c STRING PRIMARY KEY", false, "",
			"SELECT b, c, count(*) FROM m GROUP BY b, c", "[[1 <nil> 2]]"},
		{"add a label with a default", "ALTER TABLE m ADD COLUMN c STRING DEFAULT 'old' PRIMARY KEY", false, "",
			"SELECT b, c FROM m ORDER BY service_timestamp", "[[1 old] [1 <nil>]]"},
		{"add a field", "ALTER TABLE m ADD COLUMN f BIGINT DEFAULT 7", false, "",
			"SELECT b, f FROM m ORDER BY service_timestamp", "[[1 7] [1 7]]"},
		{"add a field NOT NULL", "ALTER TABLE m ADD COLUMN f BIGINT NOT NULL DEFAULT 7", false, "",
			"SELECT b, f FROM m ORDER BY service_timestamp", "[[1 7] [1 7]]"},
		{"add and drop a field", "ALTER TABLE m ADD COLUMN f BIGINT; ALTER TABLE m DROP COLUMN f", false, "",
			"SELECT b, service_value FROM m ORDER BY service_timestamp", "[[1 1] [1 1]]"},
		{"set a default", "ALTER TABLE m MODIFY COLUMN service_value SET DEFAULT 3", false, "",
			"SELECT service_value FROM m", "[[1] [1]]"},
		{"set an index", "ALTER TABLE m MODIFY COLUMN b SET INVERTED INDEX", false, "", "SELECT service_value FROM m",
			"[[1] [1]]"},
		{"set a ttl", "ALTER TABLE m SET 'ttl'='1000y'", false, "", "SELECT count(*) FROM m", "[[2]]"},
		{"set append_mode", "ALTER TABLE m SET 'append_mode'='true'", false, "", "SELECT count(*) FROM m", "[[2]]"},
		{"set a comment", "COMMENT ON TABLE m IS 'x'", false, "", "SELECT count(*) FROM m", "[[2]]"},
		{"drop the histograms", "ALTER TABLE m DROP COLUMN service_native_histogram", true, "",
			"SELECT b, service_native_histogram IS NULL FROM m ORDER BY service_timestamp", "[[1 true] [1 false]]"},
		{"another type of histograms", "ALTER TABLE m MODIFY COLUMN service_native_histogram STRING", true,
			"service_native_histogram", "SELECT count(*) FROM m", "[[1]]"},
		{"drop the values of histograms", "ALTER TABLE m DROP COLUMN service_value", true, "",
			"SELECT b, service_native_histogram IS NULL FROM m", "[[1 false] [1 false]]"},
	} {
		for door, send := range metricDoors {
			if c.histogram && door == "otlp" {
				continue
			}
			t.Run(c.name+"/"+door, func(t *testing.T) {
				h := plainMetrics(t)
				for range 2 { // the second time the series is known
					if a := send(h, c.histogram, 1000); a.Status/100 != 2 {
						t.Fatal(a.Status, a.Body)
					}
				}
				for _, statement := range strings.Split(c.alter, "; ") {
					h.Execute(statement)
				}
				status := 2
				if c.refused != "" {
					status = 4
				}
				for range 2 {
					if a := send(h, c.histogram, 2000); a.Status/100 != status || !strings.Contains(a.Body, c.refused) {
						t.Fatal(a.Status, a.Body)
					}
				}
				if c.name == "set append_mode" {
					c.want = "[[3]]"
				}
				h.Holds(c.query, c.want)
			})
		}
	}
}

// TestStartTimesOfAlteredTables: the column of start times comes again when it was dropped, and a column of another
// type in its place costs the times alone.
func TestStartTimesOfAlteredTables(t *testing.T) {
	h := plainMetrics(t)
	send := func(at uint64) { h.Want(metricDoors["remote write 2.0"](h, false, at), 204, "") }
	send(1000)
	h.Execute("ALTER TABLE m DROP COLUMN service_start_timestamp")
	send(2000)
	h.Holds("SELECT service_start_timestamp FROM m ORDER BY service_timestamp", "[[<nil>] [5]]")
	h.Execute("ALTER TABLE m MODIFY COLUMN service_start_timestamp STRING")
	send(3000)
	h.Holds("SELECT count(*), count(service_start_timestamp) FROM m", "[[3 1]]")
}

// TestLabelsCalledLikeColumns: a label that has the name of a column of samples is refused with its series, whether the
// metric is there or not, and the histograms of the database stay possible.
func TestLabelsCalledLikeColumns(t *testing.T) {
	for _, plain := range []bool{false, true} {
		for _, column := range []string{"service_native_histogram", "service_start_timestamp", "service_value",
			"service_timestamp"} {
			t.Run(fmt.Sprint(column, " plain=", plain), func(t *testing.T) {
				h := servertest.Real(t, nil)
				if plain {
					h = plainMetrics(t)
				}
				bad := servertest.Message1(append([]string{column, "x"}, servertest.Up...), 1)
				h.Want(h.Do("POST", servertest.WritePath, servertest.Snappy(servertest.Message1(servertest.Up, 1))),
					204, "")
				h.Want(h.Do("POST", servertest.WritePath,
					servertest.Snappy(bad, servertest.Message1([]string{"__name__", "other"}, 1))), 400, column)
				for version, body := range map[string]string{
					"": servertest.Snappy(protowire.AppendMessage(nil, 1, func(m []byte) []byte {
						return append(append(m, servertest.Message1([]string{"__name__", "h"})[2:]...),
							servertest.HistogramMessage(4, histogramOfOne(1000)...)...)
					})),
					version2: servertest.Request2([]string{"", "__name__", "h"}, func(m []byte) []byte {
						return append(servertest.Refs(m, 1, 2),
							servertest.HistogramMessage(3,
								append(histogramOfOne(2000), servertest.Varint(17, 5))...)...)
					}),
				} {
					h.Want(h.Do("POST", servertest.WritePath, body, "Content-Type", version), 204, "")
				}
				h.Holds("SELECT count(service_native_histogram), count(service_start_timestamp) FROM h", "[[2 1]]")
				h.Holds("SELECT count(*) FROM other", "[[1]]")
			})
		}
	}
}

// TestColumnsOfSamplesThatAreTaken: a table whose column has the name of one of samples costs its own histograms, not
// those of other tables in the physical table or in the request.
func TestColumnsOfSamplesThatAreTaken(t *testing.T) {
	h := servertest.Real(t, nil)
	h.Want(h.Do("POST", servertest.WritePath, servertest.Snappy(servertest.Message1(servertest.Up, 1))), 204, "")
	h.Execute(
		"CREATE TABLE taken (service_timestamp TIMESTAMP(3) TIME INDEX, service_value DOUBLE, service_native_histogram STRING, PRIMARY KEY(service_native_histogram)) ENGINE=metric WITH (on_physical_table='service_physical_table')")
	one := func(name string) []byte {
		return protowire.AppendMessage(nil, 1, func(m []byte) []byte {
			return append(append(m, servertest.Message1([]string{"__name__", name})[2:]...),
				servertest.HistogramMessage(4, histogramOfOne(1000)...)...)
		})
	}
	h.Want(h.Do("POST", servertest.WritePath, servertest.Snappy(one("taken"), one("free"),
		servertest.Message1([]string{"__name__", "taken"}, 7))), 400, "service_native_histogram")
	h.Holds("SELECT count(service_native_histogram) FROM free", "[[1]]")
	h.Holds("SELECT service_value FROM taken", "[[7]]")
	h.Want(h.Do("GET", "/v1/metricsapi/api/v1/query?query=histogram_count(free)&time=1", ""), 200, `[1,"1"]`)
}
