package web

import (
	"varve/engine"
	"varve/engine/status"
)

// batchHeader carries the id of a batch that its client may send again.
const batchHeader = "x-service-batch-id"

// mostBatchID bounds an id, bytes.
const mostBatchID = 256

// Batch makes the writes of a request those of a batch if its client gave it an id: rows that were stored under the id
// are not stored again. Each user has ids of his own.
func (c *Ctx) Batch() error {
	id := c.HeaderText(batchHeader)
	switch {
	case id == "" || c.batch:
		return nil
	case len(id) > mostBatchID:
		return status.New(status.InvalidArguments, "%s has %d bytes: at most %d are possible", batchHeader, len(id),
			mostBatchID)
	}
	c.Context, c.batch = engine.WithBatch(c.Context, c.User.Name+"\x00"+id), true
	return nil
}
