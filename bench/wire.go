package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"varve/bench/client"
	"varve/bench/gen"
)

// wire is a protocol in which rows are written.
type wire struct {
	path        string // with its query
	header      string // lines that are closed
	contentType string
	status      int // of success
	// wrap appends the body of a request with rows; nil: they are the body.
	wrap func(dst, rows []byte) []byte
	// body appends rows of the set as a body; nil: as the set does.
	body func(dst []byte, from, to int64) []byte
	// count returns the rows that an answer to so many names.
	count func(answer []byte, rows int64) (int64, error)
}

// newWire returns the protocol for a set of rows: of rows for ingest the one that -as names.
func newWire(o *options, set *gen.Set) (*wire, error) {
	q := url.Values{"db": {o.db}}
	switch {
	case o.as == "ingest" && set.Signal != "", o.as == "json" && strings.HasPrefix(set.Name, "otlp-"):
		w := &wire{path: "/v1/otlp/v1/" + set.Signal + "?" + q.Encode(), contentType: set.ContentType,
			status: http.StatusOK, count: takenWhole}
		switch set.Signal {
		case "logs":
			w.header = "x-service-log-table-name: " + o.table + "\r\n"
		case "traces":
			w.header = "x-service-trace-table-name: " + o.table + "\r\n"
		}
		if o.as == "json" {
			w.contentType, w.body = "application/json", set.OTLPJSON
		}
		return w, nil
	case o.as == "ingest" && set.Name == "lineproto":
		return &wire{path: "/v1/lineproto/write?" + q.Encode(), contentType: set.ContentType,
			status: http.StatusNoContent, count: takenWhole}, nil
	case o.as == "ingest":
		return &wire{path: client.IngestPath(o.db, o.table, set.TimeIndex), contentType: set.ContentType,
			status: http.StatusOK, count: func(answer []byte, _ int64) (int64, error) {
				return client.Affected(answer)
			}}, nil
	case o.as == "bulk" && set.ContentType == "application/x-ndjson":
		q.Set("custom_time_index", set.TimeIndex)
		return &wire{path: "/v1/elasticsearch/" + url.PathEscape(o.table) + "/_bulk?" + q.Encode(),
			contentType: set.ContentType, status: http.StatusOK, wrap: gen.BulkBody,
			count: func(answer []byte, rows int64) (int64, error) {
				if !bytes.Contains(answer, []byte(`"errors":false`)) {
					return 0, errors.New("documents were refused")
				}
				return rows, nil
			}}, nil
	case o.as == "push" && set.Name == "lines":
		return &wire{path: "/v1/logpush/api/v1/push?" + q.Encode(),
			header: "x-service-log-table-name: " + o.table + "\r\n", contentType: "application/json",
			status: http.StatusNoContent,
			wrap:   gen.PushBody, count: takenWhole}, nil
	}
	return nil,
		fmt.Errorf("-as %s does not go with -dataset %s: ingest for all, bulk for JSON, push for lines, json for OTLP",
			o.as, set.Name)
}

// takenWhole is the count of answers that tell of nothing but what was refused.
func takenWhole(answer []byte, rows int64) (int64, error) {
	if len(answer) > 0 && string(answer) != "{}" {
		return 0, fmt.Errorf("some of %d records were refused: %q", rows, answer)
	}
	return rows, nil
}
