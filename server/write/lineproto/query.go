package lineproto

import (
	"regexp"
	"strings"

	"varve/engine"
	"varve/engine/jsontext"
	"varve/engine/status"
	"varve/server/web"
	"varve/sqlexec"
	"varve/sqlexec/parse"
)

var (
	createDatabase = regexp.MustCompile(`(?is)^\s*CREATE\s+DATABASE\s+(?:"([^"\\]+)"|(\w+))(?:\s+WITH\s.*)?[\s;]*$`)
	showDatabases  = regexp.MustCompile(`(?i)^\s*SHOW\s+DATABASES[\s;]*$`)
)

// Query answers /v1/lineproto/query. It knows the two statements that clients of version 1 send before they write: one
// makes a database unless it is there, the other lists databases.
func (h *Handler) Query(c *web.Ctx) error {
	h.introduce(c)
	q, err := asked(c)
	if err != nil {
		return err
	}
	if showDatabases.MatchString(q) {
		if c.User.Mode == web.WriteOnly {
			return web.Denied
		}
		return c.Make(200, "application/json", func() ([]byte, error) { return listing(h.o.Databases()), nil })
	}
	named := createDatabase.FindStringSubmatch(q)
	if named == nil {
		return status.New(status.Unsupported,
			"CREATE DATABASE and SHOW DATABASES are answered here, not %.80q: ask with SQL at /v1/sql", q)
	}
	if err := h.createDatabase(c, named[1]+named[2]); err != nil {
		return err
	}
	c.JSON(200, []byte(`{"results":[{"statement_id":0}]}`))
	return nil
}

// createDatabase makes a database unless it is there, for users who may write.
func (h *Handler) createDatabase(c *web.Ctx, name string) error {
	if c.User.Mode == web.ReadOnly {
		return web.Denied
	}
	statements, err := parse.Parse("CREATE DATABASE IF NOT EXISTS " + parse.QuoteIdent(name))
	if err != nil {
		return err
	}
	done, err := h.o.Executor.Execute(c.Context,
		&sqlexec.Session{User: c.User.Name, Client: c.RemoteAddr().String(), Network: c.Network()}, statements[0])
	if err != nil {
		return err
	}
	if done.Rows != nil {
		done.Rows.Close()
	}
	return nil
}

// asked is the statement of a request: it is in the address, or in the body, which is then mostly a form.
func asked(c *web.Ctx) (string, error) {
	p, err := c.Query("q")
	if err == nil && !p.Has("q") {
		p, err = c.QueryOrForm("q")
	}
	if err != nil {
		return "", err
	}
	return p.String("q"), nil
}

// listing is the answer that lists databases.
func listing(all []engine.Database) []byte {
	body := []byte(`{"results":[{"statement_id":0,"series":[{"name":"databases","columns":["name"],"values":[`)
	for i, d := range all {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(jsontext.AppendString(append(body, '['), strings.ToValidUTF8(d.Name, "")), ']')
	}
	return append(body, `]}]}]}`...)
}
