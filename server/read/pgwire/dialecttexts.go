package pgwire

import (
	"strings"

	"varve/sqlexec/parse"
)

// texts adds the functions that write names and literals.
func texts() {
	quoted := func(text func(parse.Node, parse.Expr) parse.Expr) func(*conn, *parse.Call) parse.Expr {
		return func(_ *conn, c *parse.Call) parse.Expr {
			if len(c.Args) != 1 {
				return nil
			}
			return text(c.Node, c.Args[0])
		}
	}
	catalogCalls["quote_ident"] = quoted(quotedIdent)
	catalogCalls["quote_literal"] = quoted(quotedLiteral)
	catalogCalls["format"] = format
	catalogCalls["bpchar"] = quoted(asText)
	catalogCalls["substring"] = matched
}

func joined(at parse.Node, list ...parse.Expr) parse.Expr {
	x := list[0]
	for _, y := range list[1:] {
		x = &parse.Binary{Node: at, Op: "||", L: x, R: y}
	}
	return x
}

func asText(at parse.Node, x parse.Expr) parse.Expr {
	return &parse.Cast{Node: at, X: x, Type: sqlType(at, "STRING")}
}

// quotedIdent is a name in quotes, unless it is a plain word.
func quotedIdent(at parse.Node, x parse.Expr) parse.Expr {
	plain := &parse.Binary{Node: at, Op: "~", L: asText(at, x), R: textOf(at, "^[a-z_][a-z0-9_$]*$")}
	inside := callOf(at, "replace", asText(at, x), textOf(at, `"`), textOf(at, `""`))
	return &parse.Case{Node: at, Whens: []parse.When{{If: plain, Then: asText(at, x)}},
		Else: joined(at, textOf(at, `"`), inside, textOf(at, `"`))}
}

// quotedLiteral is a text in quotes.
func quotedLiteral(at parse.Node, x parse.Expr) parse.Expr {
	return joined(at, textOf(at, "'"), callOf(at, "replace", asText(at, x), textOf(at, "'"), textOf(at, "''")),
		textOf(at, "'"))
}

// matched is the part of a text that matches a pattern, substring(x FROM 'a(b)'): of its first group, if it has one.
func matched(_ *conn, c *parse.Call) parse.Expr {
	if len(c.Args) != 2 {
		return nil
	}
	pattern, ok := literalOf(c.Args[1], parse.StringLiteral)
	if !ok {
		return nil
	}
	group := "0"
	for i := 0; i < len(pattern); i++ {
		if pattern[i] == '\\' {
			i++
		} else if pattern[i] == '(' && !strings.HasPrefix(pattern[i:], "(?") {
			group = "1"
			break
		}
	}
	return callOf(c.Node, "regexp_extract", c.Args[0], c.Args[1], numberOf(c.Node, group))
}

// parseIdent is the list of the parts of a name that is a constant.
func parseIdent(_ *conn, c *parse.Call) parse.Expr {
	if len(c.Args) == 0 {
		return nil
	}
	text, ok := literalOf(c.Args[0], parse.StringLiteral)
	if !ok {
		return nil
	}
	list := &parse.Array{Node: c.Node}
	for i, word := range parse.Lexemes(text, 8) {
		name := word.Kind == parse.WordLexeme || word.Kind == parse.QuotedLexeme
		if name != (i%2 == 0) || !name && word.Text != "." {
			return nil
		}
		if name {
			list.Items = append(list.Items, textOf(c.Node, word.Text))
		}
	}
	if len(list.Items) == 0 {
		return nil
	}
	return list
}

// wholeRows makes objects of row_to_json(t) among the items of a SELECT, where t is a query in FROM that names its
// columns.
func wholeRows(s *parse.Select) {
	for i := range s.Items {
		c, ok := s.Items[i].X.(*parse.Call)
		if !ok || c.Name != "row_to_json" && c.Name != "to_json" && c.Name != "to_jsonb" || len(c.Args) != 1 {
			continue
		}
		of, ok := c.Args[0].(*parse.Column)
		if !ok || len(of.Parts) != 1 {
			continue
		}
		if names := derivedNames(s.From, of.Parts[0].Name); names != nil {
			var pairs []parse.Expr
			for _, name := range names {
				column := &parse.Column{Node: c.Node, Parts: parse.Name{of.Parts[0], name}}
				pairs = append(pairs, textOf(c.Node, name.Name), column)
			}
			if s.Items[i].X = callOf(c.Node, "json_object", pairs...); s.Items[i].Alias == nil {
				s.Items[i].Alias = &parse.Ident{Name: c.Name, At: c.At}
			}
		}
	}
}

// derivedNames are the names of the columns of a query in FROM; nil: it is none, or does not name them all.
func derivedNames(from []parse.TableRef, name string) (names []parse.Ident) {
	for _, t := range from {
		d, ok := t.(*parse.Derived)
		if !ok || d.Alias == nil || d.Alias.Name.Name != name {
			continue
		}
		if len(d.Alias.Columns) > 0 {
			return d.Alias.Columns
		}
		body, ok := d.Query.Body.(*parse.Select)
		if !ok {
			return nil
		}
		for _, item := range body.Items {
			column, plain := item.X.(*parse.Column)
			switch {
			case item.Alias != nil:
				names = append(names, *item.Alias)
			case plain:
				names = append(names, column.Parts[len(column.Parts)-1])
			default:
				return nil
			}
		}
	}
	return names
}

// maxPlaces bounds the places of values in a format.
const maxPlaces = 100

// format writes values in the places %s, %I and %L of a constant. Other formats are those of numbers.
func format(_ *conn, c *parse.Call) parse.Expr {
	if len(c.Args) == 0 {
		return nil
	}
	text, ok := literalOf(c.Args[0], parse.StringLiteral)
	if !ok || !strings.Contains(text, "%") {
		return nil
	}
	list, values := []parse.Expr{textOf(c.Node, "")}, c.Args[1:]
	for range maxPlaces {
		before, after, found := strings.Cut(text, "%")
		list = append(list, textOf(c.Node, before))
		if !found {
			return joined(c.Node, list...)
		}
		if after == "" {
			return nil
		}
		kind := after[0]
		if text = after[1:]; kind == '%' {
			list = append(list, textOf(c.Node, "%"))
			continue
		}
		if len(values) == 0 {
			return nil
		}
		switch kind {
		case 's':
			list = append(list, callOf(c.Node, "coalesce", asText(c.Node, values[0]), textOf(c.Node, "")))
		case 'I':
			list = append(list, quotedIdent(c.Node, values[0]))
		case 'L':
			list = append(list, callOf(c.Node, "coalesce", quotedLiteral(c.Node, values[0]), textOf(c.Node, "NULL")))
		default:
			return nil
		}
		values = values[1:]
	}
	return nil
}
