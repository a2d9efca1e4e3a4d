package server

import (
	"testing"
)

// TestShippersOfClients: what shippers really send, with their headers, and what must be there afterwards.
func TestShippersOfClients(t *testing.T) {
	sendBodies(t, "shippers.json", "opt-bulk-", 3, 1, (*house).wantStored)
	sendBodies(t, "shippers.json", "opt-journald-", 1, 1, (*house).wantStored)
	sendBodies(t, "shippers.json", "ingest-", 2, 1, (*house).wantStored)
}
