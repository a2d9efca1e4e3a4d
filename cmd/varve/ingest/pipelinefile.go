package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"varve/cmd/varve/client"
)

// removeTime bounds the removal of a pipeline that was uploaded for one run.
const removeTime = 10 * time.Second

// uploadPipeline stores the document of --pipeline-file under a name of its own; the function removes it again.
func (r *run) uploadPipeline(ctx context.Context) (remove func() error, err error) {
	if r.o.PipelineFile == "" {
		return func() error { return nil }, nil
	}
	text, err := os.ReadFile(r.o.PipelineFile)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("ingest_%d_%08x", time.Now().Unix(), rand.Uint32())
	resp, err := r.c.Do(ctx, client.Request{Path: "/v1/pipelines/" + name,
		Header: http.Header{"Content-Type": {"application/x-yaml"}}, Body: strings.NewReader(string(text))})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.o.PipelineFile, err)
	}
	defer resp.Body.Close()
	var answer struct{ Pipelines []struct{ Version string } }
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
	if err == nil {
		err = json.Unmarshal(body, &answer)
	}
	if err != nil || len(answer.Pipelines) != 1 {
		return nil, errors.Join(fmt.Errorf("%s was uploaded as %s, but the server answered something else: %.200q",
			r.o.PipelineFile, name, body), err)
	}
	r.o.Pipeline = name
	return func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTime)
		defer cancel()
		query := url.Values{"version": {answer.Pipelines[0].Version}}
		resp, err := r.c.Do(ctx, client.Request{Method: http.MethodDelete, Path: "/v1/pipelines/" + name, Query: query})
		if err != nil {
			return fmt.Errorf("the pipeline %s, uploaded for this run, could not be removed: %w", name, err)
		}
		return resp.Body.Close()
	}, nil
}
