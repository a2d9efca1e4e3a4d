package ingest

import (
	"strconv"

	"varve/engine"
	"varve/engine/jsontext"
	"varve/engine/schema"
	"varve/server/web"
)

// Store identifies the store and its tables; engine.Engine does.
type Store interface {
	Store() string
	Table(n schema.Name) (*engine.Table, error)
}

// Target answers GET /v1/ingest/target: the identity of the store and of a table, by which a client that continues an
// interrupted run sees whether its rows are still there. An empty store at the same address has another id, and so has
// a table that was dropped and made anew; "emptied" changes when the table is truncated.
func (h *Handler) Target(c *web.Ctx) error {
	p, err := c.Query("db", "table")
	if err != nil {
		return err
	}
	name := schema.Name{Table: p.String("table")}
	name.DB, _ = web.Database(c.HeaderDB(), p.String("db"))
	body := jsontext.AppendString([]byte(`{"store":`), h.o.Store.Store())
	body = append(body, `,"table_id":`...)
	if t, err := h.o.Store.Table(name); err == nil {
		body = strconv.AppendUint(body, uint64(t.Schema.ID), 10)
		if t.Schema.Emptied != 0 {
			body = strconv.AppendUint(append(body, `,"emptied":`...), t.Schema.Emptied, 10)
		}
	} else {
		body = append(body, "null"...)
	}
	c.JSON(200, append(body, '}'))
	return nil
}
