package pipeline

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"

	"varve/engine/status"
	"varve/pipeline/processor"
)

// Limits of documents.
const (
	maxDocument   = 1 << 20 // bytes
	maxNodes      = 64 << 10
	maxDepth      = 64
	maxProcessors = 256
	maxTransforms = 1024
	maxRules      = 1024
	maxKeys       = 16 << 10 // each costs a byte to clear for every entry
)

// documentParts is a pipeline document: the parts of its top level, as they stand there. Parts that are absent are nil.
type documentParts struct {
	root        *yaml.Node
	version     int
	processors  []*yaml.Node
	transforms  []*yaml.Node
	dispatcher  *yaml.Node
	tableSuffix *yaml.Node
}

// parseDocument reads the top level of a document.
func parseDocument(text []byte) (*documentParts, error) {
	if len(text) > maxDocument {
		return nil, status.New(status.InvalidArguments, "the pipeline document has %d bytes, the limit is %d",
			len(text), maxDocument)
	}
	root, err := parseYAML(text)
	if err != nil {
		return nil, err
	}
	d := &documentParts{root: root, version: 1}
	if root.Kind != yaml.MappingNode {
		return d, nil
	}
	var alternative []*yaml.Node // of the second spelling
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, _ := processor.Text(root.Content[i])
		v := processor.Follow(root.Content[i+1])
		switch key {
		case "version":
			if d.version, err = documentVersion(v); err != nil {
				return nil, err
			}
		case "processors":
			d.processors = list(v)
		case "transforms":
			d.transforms = list(v)
		case "transform":
			alternative = list(v)
		case "dispatcher":
			d.dispatcher = given(v)
		case "table_suffix":
			d.tableSuffix = given(v)
		}
	}
	if len(d.transforms) == 0 {
		d.transforms = alternative
	}
	if len(d.processors) > maxProcessors || len(d.transforms) > maxTransforms {
		return nil, status.New(status.InvalidArguments,
			"the pipeline document has %d processors and %d transforms, the limits are %d and %d",
			len(d.processors), len(d.transforms), maxProcessors, maxTransforms)
	}
	return d, nil
}

// parseYAML reads a text that holds one YAML document.
func parseYAML(text []byte) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var documents [2]yaml.Node
	n := 0
	for ; n < len(documents); n++ {
		err := decoder.Decode(&documents[n])
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, status.Wrap(err, status.InvalidArguments, "Yaml load error.: %v", err)
		}
	}
	if n != 1 || len(documents[0].Content) != 1 {
		return nil, status.New(status.InvalidArguments, "Yaml parse error.: expected one YAML document, found %s",
			[...]string{"no", "no", "several"}[n])
	}
	root := processor.Follow(documents[0].Content[0])
	nodes := 0
	if err := checkTree(root, 0, &nodes); err != nil {
		return nil, status.New(status.InvalidArguments, "Yaml load error.: %v", err)
	}
	return root, nil
}

// checkTree bounds what the tree holds with its aliases followed, so that whoever reads it need not.
func checkTree(n *yaml.Node, depth int, nodes *int) error {
	n = processor.Follow(n)
	if *nodes++; *nodes > maxNodes {
		return fmt.Errorf("more than %d nodes, including those that aliases repeat", maxNodes)
	}
	if depth > maxDepth {
		return fmt.Errorf("line %d: nesting is deeper than %d", n.Line, maxDepth)
	}
	for _, c := range n.Content {
		if err := checkTree(c, depth+1, nodes); err != nil {
			return err
		}
	}
	return nil
}

// documentVersion is the version of the format that a document states: 1 when it states none.
func documentVersion(n *yaml.Node) (int, error) {
	switch v := processor.Scalar(n).(type) {
	case nil:
		return 1, nil
	case int64:
		if v == 1 || v == 2 {
			return int(v), nil
		}
	case string:
		if v == "1" || v == "2" {
			return int(v[0] - '0'), nil
		}
	}
	return 0, processor.Invalid(n, "Invalid Pipeline doc version number: %s", processor.Show(n))
}

// list is a list's elements; anything else has none.
func list(n *yaml.Node) []*yaml.Node {
	if n.Kind != yaml.SequenceNode {
		return nil
	}
	return n.Content
}

// given is a node, nil for null.
func given(n *yaml.Node) *yaml.Node {
	if processor.Scalar(n) == nil {
		return nil
	}
	return n
}
