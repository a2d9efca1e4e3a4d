package pgwire

import "strings"

// memberships begins a recursive query inside another one, by which a tool asks for the roles that a role is a member
// of. It refers to the query around it, which recursive queries of ours cannot. A role is a member of itself only.
const memberships = "ARRAY(WITH RECURSIVE cte AS ( SELECT pg_roles.oid,pg_roles.rolname FROM pg_roles WHERE " +
	"pg_roles.oid = roles.oid UNION "

// withoutMembers is a text, or one with another query in place of that for memberships.
func withoutMembers(text string) string {
	const most = 2000 // bytes of the text of the tool, and as much again
	if len(text) > most || !strings.Contains(text, "pg_auth_members") {
		return text
	}
	before, rest, found := strings.Cut(strings.Join(strings.Fields(text), " "), memberships)
	_, after, closed := strings.Cut(rest, "SELECT rolname FROM cte)")
	if !found || !closed {
		return text
	}
	return before + "ARRAY(SELECT pg_roles.rolname FROM pg_roles WHERE pg_roles.oid = roles.oid)" + after
}
