package stage

import (
	"errors"
	"fmt"
	"strings"
	"text/template"
	"time"
)

// counted returns a function over texts that counts their bytes as work. Functions of other forms stay as they are:
// they take no texts of which much is made, or count themselves.
func (st *templateState) counted(f any) any {
	switch f := f.(type) {
	case func(string) string:
		return func(s string) (string, error) { return spent(st, f(s), len(s)) }
	case func(string, string) string:
		return func(a, b string) (string, error) { return spent(st, f(a, b), len(a)+len(b)) }
	case func(string, string) bool:
		return func(a, b string) (bool, error) { return spent(st, f(a, b), len(a)+len(b)) }
	case func(int, string) string:
		return func(n int, s string) (string, error) { return spent(st, f(n, s), len(s)) }
	case func(int, int, string) string:
		return func(from, to int, s string) (string, error) { return spent(st, f(from, to, s), len(s)) }
	case func(string, any) string:
		return func(a string, v any) (string, error) { return spent(st, f(a, v), len(a)) }
	case func(string, string) time.Time:
		return func(a, b string) (time.Time, error) { return spent(st, f(a, b), len(a)+len(b)) }
	case func(string, string, string) time.Time:
		return func(a, b, c string) (time.Time, error) { return spent(st, f(a, b, c), len(a)+len(b)+len(c)) }
	case func(string) any:
		return func(s string) (any, error) { return spent(st, f(s), len(s)) }
	case func(string) (string, error):
		return func(s string) (string, error) {
			if err := st.spend(len(s)); err != nil {
				return "", err
			}
			return f(s)
		}
	}
	return f
}

// spent counts work and returns what it made.
func spent[T any](st *templateState, made T, work int) (T, error) { return made, st.spend(work) }

// printFunctions are the functions that make texts of any values. They take the place of those that templates have by
// themselves, which know no bound.
func (st *templateState) printFunctions() template.FuncMap {
	counted := func(f func(args ...any) string) func(args ...any) (string, error) {
		return func(args ...any) (string, error) {
			if _, err := st.spendValues(args); err != nil {
				return "", err
			}
			s := f(args...)
			return s, st.spend(len(s))
		}
	}
	return template.FuncMap{
		"print": counted(fmt.Sprint), "println": counted(fmt.Sprintln), "printf": st.printf,
		"html": counted(template.HTMLEscaper), "js": counted(template.JSEscaper),
		"urlquery": counted(template.URLQueryEscaper),
	}
}

// spendValues counts the texts of values as work and returns their bytes.
func (st *templateState) spendValues(values []any) (size int, err error) {
	for _, v := range values {
		s, ok := v.(string)
		if !ok {
			s = fmt.Sprint(v)
		}
		if err := st.spend(len(s)); err != nil {
			return 0, err
		}
		size += len(s)
	}
	return size, nil
}

// printf is fmt.Sprintf. The width of a verb is at most a million there, so that the format's length bounds the result.
func (st *templateState) printf(format string, args ...any) (string, error) {
	verbs := strings.Count(format, "%")
	if verbs > 64 {
		return "", errors.New("printf: the format has more than the limit of 64 verbs")
	}
	size, err := st.spendValues(args)
	if err == nil && strings.Contains(format, "[") { // each verb may take any of the values
		err = st.spend(size * verbs)
	}
	if err != nil {
		return "", err
	}
	s := fmt.Sprintf(format, args...)
	return s, st.spend(len(s))
}
