package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"varve/pipeline/processor"
)

// Warnings about a document: settings without effect, or with an effect that was probably not meant. The document still
// runs.

// maxWarnings bounds the warnings of an answer.
const maxWarnings = 20

// rootKeys are the keys of a document; transformKeys, dispatcherKeys and ruleKeys those of its parts.
var (
	rootKeys = []string{"version", "description", "processors", "transform", "transforms", "dispatcher",
		"table_suffix"}
	transformKeys  = []string{"field", "fields", "type", "index", "tag", "default", "on_failure"}
	dispatcherKeys = []string{"field", "rules"}
	ruleKeys       = []string{"value", "table_suffix", "pipeline"}
)

// warnings finds what to warn of in a document that compiles. named are the keys that its processors name.
func (d *documentParts) warnings(named []string) []string {
	list := processor.UnknownKeys(d.root, "the document", rootKeys)
	for i, n := range d.processors {
		list = append(list, processor.Warnings(n, fmt.Sprintf("processor %d", i+1))...)
	}
	for i, n := range d.transforms {
		list = append(list, processor.UnknownKeys(n, fmt.Sprintf("transform %d", i+1), transformKeys)...)
	}
	if n := d.dispatcher; n != nil {
		list = append(list, processor.UnknownKeys(n, "the dispatcher", dispatcherKeys)...)
		for i := 0; i+1 < len(n.Content); i += 2 {
			if key, _ := processor.Text(n.Content[i]); key == "rules" {
				for k, rule := range processor.Follow(n.Content[i+1]).Content {
					list = append(list, processor.UnknownKeys(rule, fmt.Sprintf("rule %d of the dispatcher", k+1),
						ruleKeys)...)
				}
			}
		}
	}
	list = append(list, d.unmade(named)...)
	if len(list) > maxWarnings {
		list = append(list[:maxWarnings], fmt.Sprintf("and %d more", len(list)-maxWarnings))
	}
	return list
}

// unmade warns of transforms of fields that nothing makes. Which fields an entry brings is not known, but where a
// processor takes the message of a text line apart they come from processors.
func (d *documentParts) unmade(named []string) (list []string) {
	if !slices.Contains(named, "message") {
		return nil
	}
	for _, n := range d.processors {
		if processor.MakesAnything(n) {
			return nil
		}
	}
	for i, n := range d.transforms {
		for _, input := range inputs(n) {
			if !slices.Contains(named, input) && !strings.HasPrefix(input, "service_") {
				list = append(list, fmt.Sprintf("transform %d: no processor makes the field %q; the processors name %s",
					i+1, input, strings.Join(shownNames(named), ", ")))
			}
		}
	}
	return list
}

// shownNames are the first of the keys that processors name, without the variables.
func shownNames(named []string) (list []string) {
	for _, name := range named {
		if !strings.HasPrefix(name, "service_") {
			list = append(list, name)
		}
	}
	const most = 12
	if len(list) > most {
		list = append(list[:most:most], "...")
	}
	return list
}

// inputs are the fields that a transform reads.
func inputs(n *yaml.Node) (names []string) {
	settings, err := processor.ReadSettings(n)
	if err != nil {
		return nil // it would not have compiled
	}
	for _, s := range settings.All() {
		if s.Key != "field" && s.Key != "fields" {
			continue
		}
		fields, err := s.Fields()
		if err != nil {
			return nil
		}
		names = names[:0] // the later setting counts
		for _, f := range fields {
			names = append(names, f.Input)
		}
	}
	return names
}
