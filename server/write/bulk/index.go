package bulk

import (
	"strconv"
	"strings"

	"varve/engine/jsontext"
	"varve/server/web"
)

// Document answers POST /v1/elasticsearch/{index}/_doc and its like: one document. Its id, which may stand in the path,
// has no meaning here.
func (h *Handler) Document(c *web.Ctx) error {
	introduce(c)
	d := &decoder{}
	err := h.store(c, d, d.one)
	if err == nil {
		err = d.failure(&d.items[0])
	}
	if err != nil {
		kind, text := complaint(c, err)
		code := c.Response.StatusCode()
		if code == 408 {
			return nil
		}
		h.failed.Inc()
		out := append(appendError([]byte(`{"error":`), kind, text), `,"status":`...)
		c.JSON(code, append(strconv.AppendInt(out, int64(code), 10), '}'))
		return nil
	}
	out := jsontext.AppendString([]byte(`{"_index":`), d.items[0].table.Name)
	out = jsontext.AppendString(append(out, `,"_id":`...), strings.ToValidUTF8(inPath(c, "id"), "\uFFFD"))
	c.JSON(201, append(out,
		`,"_version":1,"result":"created","_shards":{"total":1,"successful":1,"failed":0},"_seq_no":0,"_primary_term":1}`...))
	return nil
}

// Typed answers POST /v1/elasticsearch/{index}/{type} and its like, of old clients for which an index has types of
// documents. A part of the path that begins with an underscore is a query, which this interface does not serve.
func (h *Handler) Typed(c *web.Ctx) error {
	if strings.HasPrefix(inPath(c, "index"), "_") || strings.HasPrefix(inPath(c, "type"), "_") {
		introduce(c)
		c.JSON(404, append(appendError([]byte(`{"error":`), "illegal_argument_exception",
			"documents are written here, not asked for: ask with SQL at /v1/sql"), `,"status":404}`...))
		return nil
	}
	return h.Document(c)
}

// Index answers HEAD, GET and PUT /v1/elasticsearch/{index}: a table is made by its first document, so every index is
// said to be there.
func (h *Handler) Index(c *web.Ctx) error {
	introduce(c)
	name := inPath(c, "index")
	text := jsontext.AppendString(nil, strings.ToValidUTF8(name, "\uFFFD"))
	switch {
	case strings.HasPrefix(name, "_"):
		c.JSON(200, []byte("{}"))
	case string(c.Method()) == "PUT":
		c.JSON(200, append(append([]byte(`{"acknowledged":true,"shards_acknowledged":true,"index":`), text...), '}'))
	default:
		c.JSON(200, append(append([]byte{'{'}, text...), `:{"aliases":{},"mappings":{},"settings":{}}}`...))
	}
	return nil
}

// Refresh answers POST /v1/elasticsearch/{index}/_refresh: documents can be read once they are acknowledged.
func (h *Handler) Refresh(c *web.Ctx) error {
	introduce(c)
	c.JSON(200, []byte(`{"_shards":{"total":1,"successful":1,"failed":0}}`))
	return nil
}

// Health answers GET /v1/elasticsearch/_cluster/health, which some senders ask for until it is not red.
func (h *Handler) Health(c *web.Ctx) error {
	introduce(c)
	c.JSON(200,
		[]byte(
			`{"cluster_name":"varve","status":"green","timed_out":false,"number_of_nodes":1,"number_of_data_nodes":1,"active_primary_shards":1,"active_shards":1,"relocating_shards":0,`+
				`"initializing_shards":0,"unassigned_shards":0,"delayed_unassigned_shards":0,"number_of_pending_tasks":0,"number_of_in_flight_fetch":0,"task_max_waiting_in_queue_millis":0,"active_shards_percent_as_number":100}`))
	return nil
}

// inPath is a part of the path. What is wrong with it is said when it is used as a name.
func inPath(c *web.Ctx, name string) string {
	text, _, _ := c.PathText(name)
	return text
}
