package expr

import (
	"maps"
	"slices"
	"strings"

	"varve/engine/nearest"
	"varve/engine/status"
	"varve/engine/vector"
)

// VariablePrefix begins the names of variables in expressions, as in SELECT @@version.
const VariablePrefix = "@@"

// variables are the variables of SHOW VARIABLES and @@name: the ones that clients read when they connect.
var variables = map[string]func(c *Context) string{
	"auto_increment_increment": constantText("1"),
	"autocommit":               constantText("1"),
	"character_set_client":     constantText("utf8"),
	"character_set_connection": constantText("utf8"),
	"character_set_results":    constantText("utf8"),
	"character_set_server":     constantText("utf8"),
	"collation_connection":     constantText("utf8_bin"),
	"collation_server":         constantText("utf8_bin"),
	"max_allowed_packet":       constantText("67108864"),
	"read_preference":          constantText("LEADER"),
	"sql_mode":                 constantText(""),
	"system_time_zone":         constantText("UTC"),
	"time_zone":                func(c *Context) string { return c.zone().String() },
	"timezone":                 func(c *Context) string { return c.zone().String() },
	"transaction_isolation":    constantText("READ-COMMITTED"),
	"tx_isolation":             constantText("READ-COMMITTED"),
	"version":                  func(c *Context) string { return c.Version },
	"version_comment":          func(c *Context) string { return c.product() },
}

func constantText(value string) func(*Context) string { return func(*Context) string { return value } }

// product names the server with its version.
func (c *Context) product() string { return strings.TrimSpace("varve " + c.Version) }

// Variable is the value of a variable; names are in lower case.
func (c *Context) Variable(name string) (string, bool) {
	value, ok := variables[name]
	if !ok {
		return "", false
	}
	return value(c), true
}

// VariableNames lists the variables in order.
func VariableNames() []string { return slices.Sorted(maps.Keys(variables)) }

// variable binds @@name.
func (c *Context) variable(name string) (Expr, error) {
	value, ok := c.Variable(name)
	if !ok {
		hint := nearest.Hint(name, VariableNames())
		return nil, status.Hinted(planError("Unknown system variable '%s'.%s", name, hint), hint)
	}
	return Text(value), nil
}

// registerServer makes the functions that tell of the server and the session.
func registerServer() {
	for _, f := range []struct {
		names []string
		value func(c *Context) string
	}{
		{[]string{"database", "current_schema", "schema", "current_database"}, func(c *Context) string { return c.DB }},
		{[]string{"timezone"}, func(c *Context) string { return c.zone().String() }},
		{[]string{"current_user", "session_user", "user"}, func(c *Context) string { return c.User }},
		{[]string{"version", "build"}, func(c *Context) string { return c.product() }},
		{[]string{"read_preference"}, constantText("leader")},
	} {
		register(&Function{max: 0, bind: func(c *Context, _ []Expr) ([]Expr, vector.Type, kernel, error) {
			return []Expr{Text(f.value(c))}, str,
				mapText(func(dst []byte, a []*vector.Vector, i int) []byte { return append(dst, a[0].Bytes(i)...) }),
				nil
		}}, f.names...)
	}
	register(&Function{max: 0, bind: func(c *Context, _ []Expr) ([]Expr, vector.Type, kernel, error) {
		return []Expr{Int(int64(c.ConnID))}, i64, mapInt(func(a []*vector.Vector, i int) int64 { return a[0].Ints[i] }),
			nil
	}}, "connection_id", "pg_backend_pid")
}
