package write_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"varve/server/servertest"
)

// TestArrivalTimesDiffer: entries without a time that come in one request do not replace each other in a table that
// keeps one row of a key and a time, whichever way in they took.
func TestArrivalTimesDiffer(t *testing.T) {
	h := servertest.Real(t, nil)
	const entries = 50
	line := func(text string) string { return strings.Repeat(text+"\n", entries) }
	for name, in := range map[string]struct{ path, body, kind, column string }{
		"ingest": {"/v1/ingest?pipeline_name=service_identity&table=", line(`{"v":1}`), servertest.BulkType, "v"},
		"time field": {"/v1/ingest?pipeline_name=service_identity&_time_field=at&table=", line(`{"v":1}`), servertest.BulkType,
			"v"},
		"message field": {"/v1/ingest?pipeline_name=service_identity&_msg_field=m&table=", line(`{"v":1}`), servertest.BulkType,
			"v"},
		"lines": {"/v1/ingest?pipeline_name=service_identity&_time_field=at&table=", line(`x`), "text/plain",
			"message"},
		"bulk": {servertest.BulkPath + "/_bulk?table=", line(`{"create":{"_index":"NAME"}}` + "\n" + `{"v":1}`),
			servertest.BulkType, "v"},
		"events":     {"/v1/splunk/services/collector/event?table=", line(`{"event":"x"}`), "", "event"},
		"raw events": {"/v1/splunk/services/collector/raw?linebreaker=%0A&table=", line(`x`), "", "message"},
		"agent": {servertest.AgentPath + "/api/v2/logs?table=",
			"[" + strings.TrimSuffix(strings.Repeat(`{"v":"1"},`, entries), ",") + "]", "application/json", "v"},
		"agent's lines": {servertest.AgentPath + "/api/v2/logs?table=", line(`x`), "text/plain", "message"},
	} {
		table := strings.NewReplacer(" ", "_", "'", "").Replace("arrival_" + name)
		kind := "STRING"
		if column := in.column; column == "v" && name != "agent" {
			kind = "BIGINT"
		}
		h.Want(h.Do("POST", "/v1/sql?sql="+url.QueryEscape("CREATE TABLE "+table+
			" (service_timestamp TIMESTAMP(9) TIME INDEX, "+in.column+" "+kind+")"), ""), 200, "")
		for range 2 {
			a := h.Do("POST", in.path+table, strings.ReplaceAll(in.body, "NAME", table), "Content-Type", in.kind)
			if a.Status/100 != 2 {
				t.Errorf("%s: %d %s", name, a.Status, a.Body)
			}
		}
		if got := fmt.Sprint(h.Selected("SELECT count(*) FROM " + table)); got != fmt.Sprintf("[[%d]]", 2*entries) {
			t.Errorf("%s: got %s rows of %d", name, got, 2*entries)
		}
	}
}
