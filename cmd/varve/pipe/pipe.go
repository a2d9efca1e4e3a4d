// Package pipe implements `varve pipeline`: it lists, uploads, compares and deletes the pipelines of a server, and
// tries documents that are not uploaded.
package pipe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"varve/cmd/varve/client"
	"varve/engine/status"
	"varve/pipeline"
)

// mostDocument bounds the answer with a document, bytes.
const mostDocument = 64 << 20

// Server manages the pipelines of a server.
type Server struct{ *client.Client }

// Listed is a pipeline of a list.
type Listed struct {
	Name     string
	Versions int64
	Latest   string
}

// List gives all pipelines by name.
func (s Server) List(ctx context.Context) (list []Listed, err error) {
	rows, err := s.query(ctx,
		"SELECT name, count(*), CAST(CAST(max(created_at) AS BIGINT) AS STRING) FROM service_private.pipelines GROUP "+
			"BY name ORDER BY name")
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		l := Listed{Name: fmt.Sprint(row[0])}
		if err = client.Whole(row[1], &l.Versions); err != nil {
			return nil, err
		}
		if l.Latest, err = version(row[2]); err != nil {
			return nil, err
		}
		list = append(list, l)
	}
	return list, nil
}

// Versions gives the versions of a pipeline, the newest first. One that is not there is an error.
func (s Server) Versions(ctx context.Context, name string) (versions []string, err error) {
	rows, err := s.query(ctx,
		"SELECT CAST(CAST(created_at AS BIGINT) AS STRING) FROM service_private.pipelines WHERE name = "+
			client.Text(name)+" ORDER BY created_at DESC")
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		v, err := version(row[0])
		if err != nil {
			return nil, err
		}
		versions = append(versions, v)
	}
	if len(versions) == 0 {
		_, err = s.Show(ctx, name, "") // the server says which names are near
	}
	return versions, err
}

// query asks the table of pipelines, which is not there before the first one.
func (s Server) query(ctx context.Context, sql string) ([][]any, error) {
	answer, err := s.Query(ctx, "", sql)
	var failed *client.AnswerError
	if errors.As(err, &failed) && failed.Code == int(status.TableNotFound) { // nobody has uploaded one yet
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return answer.Rows, nil
}

// version prints a version that came as nanoseconds since the epoch.
func version(v any) (string, error) {
	var ns int64
	if _, err := fmt.Sscan(fmt.Sprint(v), &ns); err != nil {
		return "", fmt.Errorf("the server answered %v where a version was asked", v)
	}
	return pipeline.FormatVersion(ns), nil
}

// Document is a version of a pipeline.
type Document struct {
	Name     string
	Version  string
	Text     string   `json:"pipeline"`
	Warnings []string `json:"-"`
}

// manage sends a request about a pipeline and gives the document of the answer; nil: there is none.
func (s Server) manage(ctx context.Context, r client.Request, name string) (*Document, error) {
	r.Path = "/v1/pipelines/" + url.PathEscape(name)
	resp, err := s.Do(ctx, r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var answer struct {
		Pipelines []Document
		Warnings  []string
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, mostDocument)).Decode(&answer); err != nil {
		return nil, fmt.Errorf("%s did not answer with a pipeline: %w", s.Base, err)
	}
	if len(answer.Pipelines) == 0 {
		return nil, nil
	}
	answer.Pipelines[0].Warnings = answer.Warnings
	return &answer.Pipelines[0], nil
}

// Show gives a version of a pipeline; an empty version is the newest.
func (s Server) Show(ctx context.Context, name, version string) (*Document, error) {
	query := url.Values{}
	if version != "" {
		query.Set("version", version)
	}
	d, err := s.manage(ctx, client.Request{Query: query}, name)
	if err == nil && d == nil {
		err = fmt.Errorf("%s answered without the pipeline %s", s.Base, name)
	}
	return d, err
}

// notFound is how the server's sentence about a pipeline that is not there begins.
const notFound = "Pipeline not found"

// Push uploads a document, unless it is the newest version already. changed reports whether it was uploaded.
func (s Server) Push(ctx context.Context, name string, text []byte) (d *Document, changed bool, err error) {
	d, err = s.Show(ctx, name, "")
	var failed *client.AnswerError
	if errors.As(err, &failed) && failed.Status == http.StatusBadRequest && strings.HasPrefix(failed.Text, notFound) {
		d, err = nil, nil
	}
	if err != nil {
		return nil, false, err
	}
	if d != nil && d.Text == string(text) {
		return d, false, nil
	}
	d, err = s.Put(ctx, name, text)
	return d, true, err
}

// Put uploads a document.
func (s Server) Put(ctx context.Context, name string, text []byte) (*Document, error) {
	d, err := s.manage(ctx, client.Request{
		Method: http.MethodPost, Header: http.Header{"Content-Type": {"application/x-yaml"}},
		Body: bytes.NewReader(text),
	}, name)
	if err == nil && d == nil {
		err = fmt.Errorf("%s answered without the version of %s", s.Base, name)
	}
	return d, err
}

// Delete deletes a version.
func (s Server) Delete(ctx context.Context, name, version string) error {
	d, err := s.manage(ctx, client.Request{Method: http.MethodDelete, Query: url.Values{"version": {version}}}, name)
	if err == nil && d == nil {
		err = fmt.Errorf("%s has no version %s of the pipeline %s: varve pipeline versions %[3]s lists them", s.Base,
			version, name)
	}
	return err
}

// NameOf is the name of a pipeline whose document is a file: that of the file without its ending.
func NameOf(file string) string {
	name := filepath.Base(file)
	for _, ending := range []string{".yaml", ".yml"} {
		name = strings.TrimSuffix(name, ending)
	}
	return name
}

// mostRead bounds a document or samples, which are read whole, bytes.
const mostRead = 256 << 20

// Read reads a file with a document or samples; - is standard input.
func Read(file string) (text []byte, err error) {
	in := os.Stdin
	if file != "-" {
		if in, err = os.Open(file); err != nil {
			return nil, err
		}
		defer in.Close()
	}
	if text, err = io.ReadAll(io.LimitReader(in, mostRead+1)); err == nil && len(text) > mostRead {
		err = fmt.Errorf("%s is larger than %d MiB, which are read whole: take a part of it", file, mostRead>>20)
	}
	return text, err
}

// DifferentError: what was compared differs: exit code 1.
type DifferentError struct{ One, Other string }

func (e *DifferentError) Error() string { return e.One + " differs from " + e.Other }

// Compare prints what differs between two texts; different ones are a DifferentError.
func Compare(w io.Writer, one, other string, oneText, otherText []byte) error {
	if bytes.Equal(oneText, otherText) {
		return nil
	}
	if _, err := io.WriteString(w, Diff(one, other, string(oneText), string(otherText))); err != nil {
		return err
	}
	return &DifferentError{One: other, Other: one}
}
