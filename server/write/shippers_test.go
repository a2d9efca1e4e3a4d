package write_test

import (
	"testing"

	"varve/server/servertest"
)

// TestShippersOfClients: what shippers really send, with their headers, and what must be there afterwards.
func TestShippersOfClients(t *testing.T) {
	servertest.SendBodies(t, "shippers.json", "opt-bulk-", 3, 1, (*servertest.House).WantStored)
	servertest.SendBodies(t, "shippers.json", "opt-journald-", 1, 1, (*servertest.House).WantStored)
	servertest.SendBodies(t, "shippers.json", "ingest-", 2, 1, (*servertest.House).WantStored)
}
