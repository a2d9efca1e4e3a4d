package pipeline

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"varve/engine"
	"varve/engine/vector"
)

// TestExamples takes samples of real logs through the documents that are shipped as examples.
func TestExamples(t *testing.T) {
	for _, c := range []struct {
		name, sample string
		columns      string
		values       map[string]int // rows with a value, where they are fewer than lines
		first        map[string]string
	}{
		{"apache", "apache", "time TimestampMillisecond, level String, client String, content String",
			map[string]int{"client": 1}, map[string]string{"time": "1133671664000", "level": `"notice"`,
				"content": `"workerEnv.init() ok /etc/httpd/conf/workers2.properties"`}},
		{"access", "combined-access",
			"time TimestampMillisecond, ip String, user String, method String, protocol String, referer String, agent String, path String, status Int32, size Int64",
			nil, map[string]string{"time": "1793491200000", "ip": `"52.53.92.26"`,
				"path": `"/api/v2/cart/669918/items"`, "status": "200", "size": "1210",
				"referer": `"https://social.example.com/feed"`}},
		{"hdfs", "hdfs",
			"time TimestampSecond, pid Int32, level String, component String, block String, source String, target String, size Int64, content String",
			map[string]int{"source": 42, "target": 42, "size": 121},
			map[string]string{"time": "1226262975", "pid": "148", "component": `"dfs.DataNode$PacketResponder"`,
				"block": `"blk_38865049064139660"`}},
		{"openstack", "openstack",
			"time TimestampMillisecond, pid Int32, level String, component String, request String, user String, tenant String, instance String, method String, path String, status Int16, length Int64, seconds Float64, content String",
			map[string]int{"request": 374, "user": 374, "tenant": 374, "instance": 109, "method": 198, "path": 198,
				"status": 198, "length": 198, "seconds": 198},
			map[string]string{"time": "1494892800008", "pid": "25746", "status": "200", "length": "1893",
				"seconds": "0.2477829", "user": `"113d3a99c3da401fbd62cc2caa5b96d2"`}},
		{"openssh", "openssh",
			"time TimestampSecond, host String, process String, pid Int32, ip String, port UInt16, user String, content String",
			map[string]int{"ip": 302, "port": 97, "user": 247},
			map[string]string{"host": `"LabSZ"`, "process": `"sshd"`, "pid": "24200", "ip": `"173.234.31.186"`}},
		{"linux", "linux",
			"time TimestampSecond, host String, process String, module String, pid Int32, content String",
			map[string]int{"module": 269, "pid": 380},
			map[string]string{"host": `"combo"`, "process": `"sshd"`, "module": `"pam_unix"`, "pid": "19939"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			document, err := os.ReadFile("../docs/pipelines/" + c.name + ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			sample, err := os.ReadFile("testdata/logs/" + c.sample + ".log")
			if err != nil {
				t.Fatal(err)
			}
			if p, err := Compile(document); err != nil || len(p.warnings) > 0 {
				t.Errorf("error %v, warnings %q", err, p.warnings)
			}
			m := managerWith(t, map[string]string{"p": string(document)})
			m.o.Now = func() time.Time { return time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC) }
			b := vector.NewBuilder()
			r := Request{DB: "public", Table: "t", Pipeline: "p", ContentType: "text/plain"}
			out, err := m.run(context.Background(), &r, strings.NewReader(string(sample)),
				func(string, engine.Hint) *vector.Builder { return b })
			if err != nil {
				t.Fatal(err)
			}
			if lines := strings.Count(string(sample), "\n"); out.Rows != lines || lines != 400 {
				t.Errorf("%d rows of %d lines", out.Rows, lines)
			}
			fields, rows := b.Finish()
			var names []string
			for i, f := range fields {
				names = append(names, f.Name+" "+f.Type.String())
				n := 0
				for row := range rows.N {
					if !rows.Cols[i].IsNull(row) {
						n++
					}
				}
				want, fewer := c.values[f.Name]
				if !fewer {
					want = out.Rows
				}
				if n != want {
					t.Errorf("column %s has %d values, want %d", f.Name, n, want)
				}
				if want, checked := c.first[f.Name]; checked && valueText(rows.Cols[i], 0) != want {
					t.Errorf("column %s begins with %s, want %s", f.Name, valueText(rows.Cols[i], 0), want)
				}
			}
			if got := strings.Join(names, ", "); got != c.columns {
				t.Errorf("columns\n got %s\nwant %s", got, c.columns)
			}
		})
	}
}
