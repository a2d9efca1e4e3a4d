package server

import (
	"fmt"
	"testing"
)

const putPath = "/v1/jsonput/api/put"

// TestJSONPutOfClients: what clients really send, with their headers, and what must be there afterwards.
func TestJSONPutOfClients(t *testing.T) {
	sentByClients(t, "jsonput.json", "jsonput-", 1, (*house).wantStored)
}

// TestJSONPut: without a switch all or nothing; with one, good points stay.
func TestJSONPut(t *testing.T) {
	h := real(t, nil)
	point := func(metric, value, tags string) string {
		return fmt.Sprintf(`{"metric":%q,"timestamp":1700000000,"value":%s,"tags":{%s}}`, metric, value, tags)
	}
	good, bad := point("cpu", "1", `"host":"a"`), point("cpu", "2", `"service_value":"x"`)
	h.want(h.do("POST", putPath, "["+good+","+bad+"]"), 400, "semantic_type incompatible")
	h.want(h.do("GET", "/v1/sql?sql=SELECT+1+FROM+cpu", ""), 400, "Table not found")
	h.want(h.do("POST", putPath+"?summary", "["+good+","+bad+"]"), 200, `{"success":1,"failed":1}`)
	h.want(h.do("POST", putPath+"?details", "["+bad+"]"), 200,
		`{"success":0,"failed":1,"errors":[{"datapoint":`+bad+`,"error":"`)
	h.want(h.do("POST", putPath+"?details&summary", packed("["+good+"]"), "Content-Encoding", "gzip"), 200,
		`{"success":1,"failed":0,"errors":[]}`)
	h.want(h.do("POST", putPath+"?details", `[{"metric":"x"}]`), 400, "missing field `timestamp`")
	h.want(h.do("POST", putPath+"?details", ""), 400, "Invalid OpenTSDB Json request")
	h.want(h.do("POST", putPath+"?details&db=nowhere", good), 200,
		`{"success":0,"failed":1,"errors":[{"datapoint":`+good+`,"error":"`)
	h.want(h.do("POST", putPath+"?db=nowhere", good), 400, "Failed to find schema")
	h.want(h.do("POST", putPath, "["+good+","+point("cpu", "7", `"host":"a"`)+"]"), 204, "")
	if got := fmt.Sprint(h.selected("SELECT host, service_value FROM cpu")); got != "[[a 7]]" {
		t.Errorf("the last point of equal ones counts: %s", got)
	}
	h.want(h.do("POST",
		"/v1/sql?sql=CREATE+TABLE+typed+(service_timestamp+TIMESTAMP(3)+TIME+INDEX,+service_value+DOUBLE,+host+STRING)",
		""), 200, "")
	h.want(h.do("POST", putPath+"?details",
		"["+point("typed", "1", `"host":"a"`)+","+point("typed", "1", `"zone":"z"`)+"]"), 200, `"success":1,"failed":1`)
	h.want(h.do("GET", "/v1/metricsapi/api/v1/query?query=sum(cpu)&time=1700000000", ""), 200, `"7"`)
	h.want(h.do("POST", putPath+"?details", "["+point("absent", `"x"`, "")+"]"), 200, `"failed":1`)
	h.want(h.do("GET", "/v1/sql?sql=SELECT+1+FROM+absent", ""), 400, "Table not found")
}
