package write_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"varve/server/servertest"
)

// shippers of Debian packages: .ci/run installs them.
const (
	journalUpload = "/lib/systemd/systemd-journal-upload"
	journalRemote = "/lib/systemd/systemd-journal-remote"
	rsyslogd      = "/usr/sbin/rsyslogd"
	collectd      = "/usr/sbin/collectd"
	logger        = "/usr/bin/logger"
)

// there reports whether programs are installed. Where one is not, the test says so and is done; where
// VARVE_NEED_SHIPPERS is set they have to be there.
func there(t *testing.T, programs ...string) bool {
	for _, p := range programs {
		if _, err := os.Stat(p); err != nil {
			if os.Getenv("VARVE_NEED_SHIPPERS") != "" {
				t.Fatal(err)
			}
			t.Logf("%v: nothing is sent by it", err)
			return false
		}
	}
	return true
}

// journalEntries is a journal in the export format.
func journalEntries(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b,
			"__REALTIME_TIMESTAMP=%d\n__MONOTONIC_TIMESTAMP=%d\n_BOOT_ID=4b2f1a3c5d6e4f708192a3b4c5d6e7f8\n_MACHINE_ID=4b2f1a3c5d6e4f708192a3b4c5d6e7f9\n_HOSTNAME=h\nPRIORITY=%d\n", 1700000000000000+i, 1000+i, i%8)
		if i%2 == 0 {
			fmt.Fprintf(&b, "MESSAGE=line %d\n\n", i)
			continue
		}
		text := fmt.Sprintf("line %d\nand more", i)
		fmt.Fprintf(&b, "MESSAGE\n%c\x00\x00\x00\x00\x00\x00\x00%s\n\n", len(text), text)
	}
	return b.String()
}

// TestJournalUpload: systemd-journal-upload sends a journal.
func TestJournalUpload(t *testing.T) {
	if !there(t, journalUpload, journalRemote) {
		return
	}
	for _, base := range []string{"/v1/journald", ""} { // some are given the host alone
		uploaded(t, base)
	}
}

func uploaded(t *testing.T, base string) {
	t.Helper()
	h, dir := servertest.Real(t, nil), t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	file := filepath.Join(dir, "remote-h.journal")
	remote := exec.CommandContext(ctx, journalRemote, "-o", file, "-")
	remote.Stdin = strings.NewReader(journalEntries(1000))
	if out, err := remote.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	upload := exec.CommandContext(ctx, journalUpload, "--url="+h.URL+base, "--follow=no", "--file="+file,
		"--save-state="+filepath.Join(dir, "state"))
	if out, err := upload.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got := fmt.Sprint(
		h.Selected(
			`SELECT count(*), count(DISTINCT "MESSAGE"), count(CASE WHEN "MESSAGE" LIKE '%and more' THEN 1 END), max("PRIORITY"), min("_HOSTNAME"), CAST(CAST(max(service_timestamp) AS BIGINT) AS STRING) FROM journald_logs`))
	if got != "[[1000 1000 500 7 h 1700000000000999000]]" {
		t.Error(got)
	}
}

// runUntil runs a program that does not end by itself until a query has an answer.
func runUntil(h *servertest.House, query, want, program string, args ...string) {
	h.Helper()
	var out bytes.Buffer
	run := exec.Command(program, args...)
	run.Stdout, run.Stderr = &out, &out
	if err := run.Start(); err != nil {
		h.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- run.Wait() }()
	defer func() {
		run.Process.Signal(syscall.SIGTERM)
		<-ended
	}()
	deadline, tick := time.After(30*time.Second), time.NewTicker(50*time.Millisecond)
	defer tick.Stop()
	for got := ""; ; {
		select {
		case err := <-ended:
			ended <- err
			h.Fatalf("%s has ended: %v\n%s", program, err, &out)
		case <-deadline:
			h.Fatalf("%s: %s\n got %s\nwant %s", program, query, got, want)
		case <-tick.C:
		}
		a := h.Do("GET", "/v1/sql?format=csv&sql="+url.QueryEscape(query), "")
		if got = strings.TrimSpace(a.Body); got == want {
			return
		}
	}
}

// written puts a file with a text into a folder.
func written(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRsyslog: omelasticsearch sends the lines of a file in bulk.
func TestRsyslog(t *testing.T) {
	if !there(t, rsyslogd) {
		return
	}
	h, dir := servertest.Real(t, nil), t.TempDir()
	var lines strings.Builder
	for i := range 200 {
		fmt.Fprintf(&lines, "line %d \"quoted\"\n", i)
	}
	source := written(t, dir, "app.log", lines.String())
	config := written(t, dir, "rsyslog.conf", fmt.Sprintf(`global(workDirectory=%[1]q)
module(load="imfile")
module(load="omelasticsearch")
template(name="document" type="list" option.jsonf="on") {
	property(outname="message" name="msg" format="jsonf")
	property(outname="app" name="programname" format="jsonf")
}
input(type="imfile" File=%[2]q Tag="web:")
action(type="omelasticsearch" server="%[3]s/v1/elasticsearch" template="document" searchIndex="rsyslog_lines" searchType="" bulkmode="on" writeoperation="create" bulkid="" dynbulkid="off")
`, dir, source, h.URL))
	runUntil(h, `SELECT count(*), count(DISTINCT message), min(app) FROM rsyslog_lines`, "200,200,web", rsyslogd, "-n",
		"-C", "-f", config, "-i", filepath.Join(dir, "pid"))
}

// TestSyslogSenders: rsyslog and logger send to the listeners of syslog, over TCP in both framings and over UDP, in
// both formats.
func TestSyslogSenders(t *testing.T) {
	if !there(t, rsyslogd, logger) {
		return
	}
	h, dir := servertest.Real(t, nil), t.TempDir()
	ln := h.Listen()
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h.Serving(func() error { return h.Server.ServeSyslog(ln) },
		func() error { return h.Server.ServeSyslogUDP(packets) })
	tcp, udp := ln.Addr().(*net.TCPAddr).Port, packets.LocalAddr().(*net.UDPAddr).Port
	for _, c := range []struct {
		port int
		args string
	}{{tcp, "-T"}, {tcp, "-T --octet-count"}, {tcp, "-T --rfc3164"}, {udp, "-d"}, {udp, "-d --rfc3164"}} {
		args := append(strings.Fields(c.args), "-n", "127.0.0.1", "-P", fmt.Sprint(c.port), "-t", "shell", "-p",
			"local5.err", "--id=77", "by hand \u00e9")
		if out, err := exec.CommandContext(t.Context(), logger, args...).CombinedOutput(); err != nil {
			t.Fatalf("logger %s: %v\n%s", c.args, err, out)
		}
	}
	var lines strings.Builder
	for i := range 50 {
		fmt.Fprintf(&lines, "line %d \"quoted\"\n", i)
	}
	source := written(t, dir, "app.log", lines.String())
	config := written(t, dir, "rsyslog.conf", fmt.Sprintf(`global(workDirectory=%[1]q)
module(load="imfile")
input(type="imfile" File=%[2]q Tag="web:" facility="local3" severity="warning")
action(type="omfwd" target="127.0.0.1" port="%[3]d" protocol="tcp")
action(type="omfwd" target="127.0.0.1" port="%[3]d" protocol="tcp" TCP_Framing="octet-counted" template="RSYSLOG_SyslogProtocol23Format")
action(type="omfwd" target="127.0.0.1" port="%[4]d" protocol="udp")
`, dir, source, tcp, udp))
	runUntil(h,
		`SELECT app_name, facility, severity, proc_id, count(*), count(DISTINCT message), min(message) FROM syslog GROUP BY app_name, facility, severity, proc_id ORDER BY app_name`,
		"shell,local5,err,77,5,1,by hand \u00e9\r\nweb,local3,warning,,150,50,\"line 0 \"\"quoted\"\"\"", rsyslogd,
		"-n", "-C", "-f", config, "-i", filepath.Join(dir, "pid"))
}

// TestCollectd: write_http sends values as JSON through ingest.
func TestCollectd(t *testing.T) {
	if !there(t, collectd) {
		return
	}
	h, dir := servertest.Real(t, nil), t.TempDir()
	config := written(t, dir, "collectd.conf", fmt.Sprintf(`Hostname "h"
FQDNLookup false
Interval 0.1
BaseDir %[1]q
PIDFile "%[1]s/pid"
TypesDB "/usr/share/collectd/types.db"
LoadPlugin load
LoadPlugin write_http
<Plugin write_http>
  <Node "varve">
    URL "%[2]s/v1/ingest?db=public&table=collectd&pipeline_name=service_identity"
    Format "JSON"
    BufferSize 1
  </Node>
</Plugin>
`, dir, h.URL))
	runUntil(h, `SELECT count(*) > 0, min(host), min(plugin), min(dsnames) FROM collectd`,
		`true,h,load,"[""shortterm"",""midterm"",""longterm""]"`, collectd, "-f", "-C", config)
}
