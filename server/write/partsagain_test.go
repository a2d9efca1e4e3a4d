package write_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"varve/engine"
	"varve/engine/status"
	"varve/server"
	"varve/server/servertest"
	"varve/server/web"
)

// filling is a store that takes some writes and then one less.
type filling struct {
	web.Store
	left atomic.Int64
}

func (f *filling) Write(ctx context.Context, s *engine.WriteSet) ([]engine.Written, error) {
	if f.left.Add(-1) == 0 {
		return nil, status.New(status.RegionBusy, "memtables are full")
	}
	return f.Store.Write(ctx, s)
}

// TestSentAgain sends requests that are stored in parts, of which one is refused for a time: an answer that tells of
// each entry tells which are to be sent again, and where it cannot, what is stored of a request that is sent again is
// not stored twice.
func TestSentAgain(t *testing.T) {
	store := &filling{}
	h := servertest.Real(t, func(o *server.Options) {
		store.Store = o.Admin.Store.(web.Store)
		o.Rows.Writer = web.NewWriter(store)
		o.Forward.Store = store
	})
	asIs(h)
	objects := newFields(1000)
	for name, send := range tellers {
		for part := range int64(2) {
			table := fmt.Sprint(name, part)
			store.left.Store(part + 1)
			refused := 0
			a := send(h, table, objects)
			for ; a.Status == 503; a = send(h, table, objects) {
				if refused++; refused > 1 {
					t.Fatalf("%s: refused again", table)
				}
			}
			if strings.Contains(a.Body, `"errors":true`) {
				var answer struct {
					Items []map[string]struct{ Status int }
				}
				if err := json.Unmarshal([]byte(a.Body), &answer); err != nil {
					t.Fatal(err)
				}
				var rest []string
				for i, item := range answer.Items {
					switch code := item["create"].Status; code {
					case 503:
						rest = append(rest, objects[i])
					case 201:
					default:
						t.Fatalf("%s: item %d has status %d", table, i, code)
					}
				}
				if refused = len(rest); refused == len(objects) {
					t.Errorf("%s: nothing was stored", table)
				}
				a = send(h, table, rest)
			}
			if a.Status > 202 || refused == 0 {
				t.Errorf("%s: %d %.300s, %d refused", table, a.Status, a.Body, refused)
			}
			h.Holds("SELECT count(*) FROM \""+table+"\"", "[[1000]]")
			if send(h, table, objects); store.left.Load() >= 0 {
				t.Errorf("%s: the store was not written to", table)
			}
			h.Holds("SELECT count(*) FROM \""+table+"\"", "[[2000]]") // another request of the same entries
		}
	}
	for _, name := range []string{"hec", "agents"} {
		for _, removal := range []string{"TRUNCATE", "DROP"} {
			table := name + removal
			store.left.Store(2) // the second part is refused
			if a := tellers[name](h, table, objects); a.Status != 503 {
				t.Fatalf("%s: %d %.300s", table, a.Status, a.Body)
			}
			h.Want(h.SQL(removal+` TABLE "`+table+`"`), 200, "")
			if a := tellers[name](h, table, objects); a.Status > 202 {
				t.Fatalf("%s: %d %.300s", table, a.Status, a.Body)
			}
			h.Holds("SELECT count(*) FROM \""+table+"\"", "[[1000]]") // what was stored before is gone
		}
	}
	addr, _ := h.Forward()
	for part := range int64(2) {
		store.left.Store(part + 1)
		c := h.Connect(addr)
		if _, err := io.WriteString(c, newFieldsMessage(2000)); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(servertest.BigAnswer))
		if _, err := io.ReadFull(c, got); err != nil {
			answered(h, addr, newFieldsMessage(2000), servertest.BigAnswer)
		}
		h.Holds("SELECT count(*) FROM fields", fmt.Sprintf("[[%d]]", 2000*(part+1)))
	}
}
