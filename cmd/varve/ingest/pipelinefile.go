package ingest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"varve/cmd/varve/pipe"
)

// removeTime bounds the removal of a pipeline that was uploaded for one run.
const removeTime = 10 * time.Second

// uploadPipeline stores the document of --pipeline-file under a name of its own; the function removes it again.
func (r *running) uploadPipeline(ctx context.Context) (remove func() error, err error) {
	if r.o.PipelineFile == "" {
		return func() error { return nil }, nil
	}
	text, err := os.ReadFile(r.o.PipelineFile)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("ingest_%d_%08x", time.Now().Unix(), rand.Uint32())
	server := pipe.Server{Client: r.c}
	d, err := server.Put(ctx, name, text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.o.PipelineFile, err)
	}
	r.o.Pipeline = name
	return func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTime)
		defer cancel()
		if err := server.Delete(ctx, name, d.Version); err != nil {
			return fmt.Errorf("the pipeline %s, uploaded for this run, could not be removed: %w", name, err)
		}
		return nil
	}, nil
}
