package write_test

import (
	"testing"

	"varve/engine"
	"varve/pipeline"
	"varve/server"
	"varve/server/servertest"
	"varve/server/web"
)

// TestNoAutoCreate checks that the configuration's switch is beaten neither by hints nor by what entries say.
func TestNoAutoCreate(t *testing.T) {
	e, err := engine.Open(engine.Options{Dir: t.TempDir(), MinFree: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(t.Context(), false)
	h := servertest.Open(t, func(o *server.Options) {
		o.Rows.Pipelines, o.Rows.Writer, o.Rows.NoAutoCreate = pipeline.New(pipeline.Options{}), web.NewWriter(e),
			true
	})
	const path = "/v1/ingest?table=t&pipeline_name=service_identity"
	for _, c := range []struct{ name, body, header, value string }{
		{"plain", `{"a":1}`, "X-Other", "1"},
		{"hint", `{"a":1}`, "X-Service-Hints", "auto_create_table=true"},
		{"hint of an entry", `{"a":1,"service_auto_create_table":"true"}`, "X-Other", "1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h.Want(h.Do("POST", path, c.body, "Content-Type", "application/json", c.header, c.value), 400,
				"auto-create table is disabled by frontend config")
		})
	}
	if tables, err := e.Tables("public"); err != nil || len(tables) != 0 {
		t.Errorf("tables: %v, %v", tables, err)
	}
}
