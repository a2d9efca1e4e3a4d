package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"varve/engine"
)

// rates bounds what users write, as write_rate says.
func (c *Config) rates() engine.Rates {
	users, err := parseRates(c.WriteRate.Users)
	if err != nil {
		panic(fmt.Sprintf("write_rate.users was checked: %v", err))
	}
	return engine.Rates{Default: engine.Rate{Rows: int64(c.WriteRate.Rows), Bytes: int64(c.WriteRate.Bytes)},
		Users: users}
}

// reads bounds what the queries of users read, as query.max_read_* say.
func (c *Config) reads() engine.ReadLimits {
	users, err := parseRates(c.Query.MaxReadUsers)
	if err != nil {
		panic(fmt.Sprintf("query.max_read_users was checked: %v", err))
	}
	usual := engine.ReadLimit{Rows: int64(c.Query.MaxReadRows), Bytes: int64(c.Query.MaxReadBytes)}
	l := engine.ReadLimits{Default: usual, Users: map[string]engine.ReadLimit{}}
	for user, r := range users {
		l.Users[user] = engine.ReadLimit(r)
	}
	return l
}

// parseRates reads the bounds of single users, each written "name rows=1000 bytes=10MiB"; what is left out has no
// bound.
func parseRates(list []string) (map[string]engine.Rate, error) {
	users := map[string]engine.Rate{}
	for _, text := range list {
		words := strings.Fields(text)
		if len(words) == 0 {
			return nil, errors.New("a rate begins with the name of a user")
		}
		var r engine.Rate
		for _, word := range words[1:] {
			key, value, _ := strings.Cut(word, "=")
			var err error
			switch key {
			case "rows":
				r.Rows, err = strconv.ParseInt(value, 10, 64)
			case "bytes":
				var size Size
				size, err = parseSize(value)
				r.Bytes = int64(size)
			default:
				err = errors.New("a rate is written: name rows=1000 bytes=10MiB")
			}
			if err == nil && r.Rows < 0 {
				err = errors.New("a rate is not below zero")
			}
			if err != nil {
				return nil, fmt.Errorf("%q: %w", word, err)
			}
		}
		if _, twice := users[words[0]]; twice {
			return nil, fmt.Errorf("user %s is named twice", words[0])
		}
		users[words[0]] = r
	}
	return users, nil
}
