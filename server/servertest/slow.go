package servertest

import (
	"encoding/json"
	"net/url"
	"testing"

	"varve/server"
	"varve/server/read/slowquery"
	"varve/sqlexec"
)

// Recording starts a real server whose statements are recorded, each of them.
func Recording(t testing.TB, more func(*server.Options)) *House {
	return Real(t, func(o *server.Options) {
		o.Slow = slowquery.New(slowquery.Options{Store: o.Saved, TTL: "30d", Ratio: 1})
		o.Query.Executor = sqlexec.New(o.Saved, sqlexec.Options{Ended: o.Slow.Ended})
		o.Metrics.Ended = o.Slow.Ended
		if more != nil {
			more(o)
		}
	})
}

// Ask runs SQL and returns its rows.
func (h *House) Ask(sql string) [][]any {
	h.Helper()
	a := h.Do("GET", "/v1/sql?sql="+url.QueryEscape(sql), "")
	var got struct {
		Output []struct{ Records struct{ Rows [][]any } }
	}
	if err := json.Unmarshal([]byte(a.Body), &got); err != nil || a.Status != 200 || len(got.Output) != 1 {
		h.Fatalf("%s: got %d %s", sql, a.Status, a.Body)
	}
	return got.Output[0].Records.Rows
}
