package jsonput_test

import (
	"fmt"
	"testing"

	"varve/server/servertest"
)

// TestJSONPutOfClients: what clients really send, with their headers, and what must be there afterwards.
func TestJSONPutOfClients(t *testing.T) {
	servertest.SentByClients(t, "jsonput.json", "jsonput-", 1, (*servertest.House).WantStored)
}

// TestJSONPut: without a switch all or nothing; with one, good points stay.
func TestJSONPut(t *testing.T) {
	h := servertest.Real(t, nil)
	point := func(metric, value, tags string) string {
		return fmt.Sprintf(`{"metric":%q,"timestamp":1700000000,"value":%s,"tags":{%s}}`, metric, value, tags)
	}
	good, bad := point("cpu", "1", `"host":"a"`), point("cpu", "2", `"service_value":"x"`)
	h.Want(h.Do("POST", servertest.PutPath, "["+good+","+bad+"]"), 400, "semantic_type incompatible")
	h.Want(h.Do("GET", "/v1/sql?sql=SELECT+1+FROM+cpu", ""), 400, "Table not found")
	h.Want(h.Do("POST", servertest.PutPath+"?summary", "["+good+","+bad+"]"), 200, `{"success":1,"failed":1}`)
	h.Want(h.Do("POST", servertest.PutPath+"?details", "["+bad+"]"), 200,
		`{"success":0,"failed":1,"errors":[{"datapoint":`+bad+`,"error":"`)
	h.Want(h.Do("POST", servertest.PutPath+"?details&summary", servertest.Packed("["+good+"]"), "Content-Encoding",
		"gzip"), 200, `{"success":1,"failed":0,"errors":[]}`)
	h.Want(h.Do("POST", servertest.PutPath+"?details", `[{"metric":"x"}]`), 400, "missing field `timestamp`")
	h.Want(h.Do("POST", servertest.PutPath+"?details", ""), 400, "Invalid OpenTSDB Json request")
	h.Want(h.Do("POST", servertest.PutPath+"?details&db=nowhere", good), 200,
		`{"success":0,"failed":1,"errors":[{"datapoint":`+good+`,"error":"`)
	h.Want(h.Do("POST", servertest.PutPath+"?db=nowhere", good), 400, "Failed to find schema")
	h.Want(h.Do("POST", servertest.PutPath, "["+good+","+point("cpu", "7", `"host":"a"`)+"]"), 204, "")
	if got := fmt.Sprint(h.Selected("SELECT host, service_value FROM cpu")); got != "[[a 7]]" {
		t.Errorf("the last point of equal ones counts: %s", got)
	}
	h.Want(h.Do("POST",
		"/v1/sql?sql=CREATE+TABLE+typed+(service_timestamp+TIMESTAMP(3)+TIME+INDEX,+service_value+DOUBLE,+host+STRING)",
		""), 200, "")
	h.Want(h.Do("POST", servertest.PutPath+"?details",
		"["+point("typed", "1", `"host":"a"`)+","+point("typed", "1", `"zone":"z"`)+"]"), 200, `"success":1,"failed":1`)
	h.Want(h.Do("GET", "/v1/metricsapi/api/v1/query?query=sum(cpu)&time=1700000000", ""), 200, `"7"`)
	h.Want(h.Do("POST", servertest.PutPath+"?details", "["+point("absent", `"x"`, "")+"]"), 200, `"failed":1`)
	h.Want(h.Do("GET", "/v1/sql?sql=SELECT+1+FROM+absent", ""), 400, "Table not found")
}
