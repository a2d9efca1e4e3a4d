package otlp

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"varve/engine/status"
	"varve/server/protowire"
	"varve/server/web"
	"varve/server/write/rows/samples"
)

// promotion says which attributes of resources and scopes become labels.
type promotion struct {
	all    bool     // all attributes of resources, except ignore
	ignore []string // counts only with all
	more   []string // attributes of resources besides promoted
	scopes bool     // all attributes of scopes
}

// promoted are the attributes of resources that always are labels.
var promoted = map[string]bool{
	"service.instance.id": true, "service.name": true, "service.namespace": true, "service.version": true,
	"cloud.availability_zone": true, "cloud.region": true, "container.name": true,
	"deployment.environment": true, "deployment.environment.name": true, "k8s.cluster.name": true,
	"k8s.container.name": true, "k8s.cronjob.name": true, "k8s.daemonset.name": true,
	"k8s.deployment.name": true, "k8s.job.name": true, "k8s.namespace.name": true, "k8s.pod.name": true,
	"k8s.replicaset.name": true, "k8s.statefulset.name": true,
}

// promotionOf reads the headers.
func promotionOf(c *web.Ctx) promotion {
	return promotion{
		all:    truthy(c.HeaderText("x-service-otlp-metric-promote-all-resource-attrs")),
		ignore: listed(c.HeaderText("x-service-otlp-metric-ignore-resource-attrs"), ";"),
		more:   listed(c.HeaderText("x-service-otlp-metric-promote-resource-attrs"), ";"),
		scopes: truthy(c.HeaderText("x-service-otlp-metric-promote-scope-attrs")),
	}
}

func truthy(header string) bool {
	switch strings.ToLower(header) {
	case "true", "1", "yes", "on", "t", "y":
		return true
	}
	return false
}

// listed are the names in a header.
func listed(header, separator string) (list []string) {
	for name := range strings.SplitSeq(header, separator) {
		if name = strings.TrimSpace(name); name != "" {
			list = append(list, name)
		}
	}
	return list
}

// takes reports whether an attribute of a resource becomes a label.
func (p *promotion) takes(key []byte) bool {
	if p.all {
		return !slices.Contains(p.ignore, string(key))
	}
	return promoted[string(key)] || slices.Contains(p.more, string(key))
}

// beginResource makes the labels of a resource, and the part of keys that stands for them.
func (r *metricsRequest) beginResource(f *resourceFields) error {
	r.resource, r.resourceText = r.resource[:0], r.resourceText[:0]
	for i := range f.attributes {
		a := &f.attributes[i]
		if r.takes(a.key) {
			r.resource, r.resourceText = r.label(r.resource, r.resourceText, "", a)
		}
		switch string(a.key) { // the names that the metrics language has for them
		case "service.name":
			r.resource, r.resourceText = r.named(r.resource, r.resourceText, "job", a)
		case "service.instance.id":
			r.resource, r.resourceText = r.named(r.resource, r.resourceText, "instance", a)
		}
	}
	r.key = append(r.key[:0], byte(r.translation))
	r.key = appendLabels(r.key, r.resource)
	r.resourceEnd = r.shorten(0)
	return nil
}

// beginScope is beginResource for a scope.
func (r *metricsRequest) beginScope(f *scopeFields) error {
	r.scope, r.scopeText = r.scope[:0], r.scopeText[:0]
	if r.scopes {
		for i := range f.attributes {
			r.scope, r.scopeText = r.label(r.scope, r.scopeText, "otel_scope_", &f.attributes[i])
		}
		r.scope = append(r.scope, samples.Label{Name: []byte("otel_scope_name"), Value: f.name},
			samples.Label{Name: []byte("otel_scope_version"), Value: f.version},
			samples.Label{Name: []byte("otel_scope_schema_url"), Value: f.schemaURL})
	}
	r.key = appendLabels(r.key[:r.resourceEnd], r.scope)
	r.scopeEnd = r.shorten(r.resourceEnd)
	return nil
}

// shorten puts a digest in place of the key from from on, so that points of one resource, scope and metric do not hash
// all of it again. It returns the end of the key.
func (r *metricsRequest) shorten(from int) int {
	r.key = r.find.AppendDigest(r.key[:from], r.key[from:])
	return len(r.key)
}

// label appends the label of an attribute to list, and its name and value to the text into. A value that is no scalar
// makes no label.
func (r *metricsRequest) label(list []samples.Label, into []byte, prefix string, a *attribute) ([]samples.Label,
	[]byte) {
	from := len(into)
	into = r.translation.label(into, prefix+string(a.key))
	name := into[from:len(into):len(into)]
	if steers(name) {
		return list, into
	}
	from = len(into)
	into, ok := appendText(into, &a.wireValue)
	if ok {
		list = append(list, samples.Label{Name: name, Value: into[from:len(into):len(into)]})
	}
	return list, into
}

// named is label with a given name.
func (r *metricsRequest) named(list []samples.Label, into []byte, name string, a *attribute) ([]samples.Label, []byte) {
	from := len(into)
	into, ok := appendText(into, &a.wireValue)
	if ok {
		list = append(list, samples.Label{Name: []byte(name), Value: into[from:len(into):len(into)]})
	}
	return list, into
}

// steers reports whether a label of this name would lead the series to another table. Attributes must not.
func steers(name []byte) bool {
	switch string(name) {
	case "__name__", "x_service_database", "__database__", "__schema__", "x_service_physical_table",
		"__physical_table__":
		return true
	}
	return false
}

// appendLabels appends labels to a key.
func appendLabels(key []byte, labels []samples.Label) []byte {
	key = binary.AppendUvarint(key, uint64(len(labels)))
	for i := range labels {
		key = appendSized(appendSized(key, labels[i].Name), labels[i].Value)
	}
	return key
}

func appendSized(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

// metricPart says to which series of a data point a sample belongs.
type metricPart uint8

const (
	whole metricPart = iota
	bucketPart
	quantilePart
	sumPart
	countPart
)

// addSeries adds a series that is not known.
func (r *metricsRequest) addSeries(message []byte, attributes int, p metricPart, bound float64) (h samples.Handle,
	err error) {
	if err := r.seriesLabels(message, attributes, p, bound); err != nil {
		return h, err
	}
	r.weight.held += seriesBytes + int64(len(r.labels))*seriesLabelBytes
	for i := range r.labels {
		r.weight.held += int64(len(r.labels[i].Name) + len(r.labels[i].Value))
	}
	return r.find.Add(r.key, r.labels)
}

// seriesLabels makes the labels of a series, and notes the metadata of the metric. If a label comes several times, the
// point's own counts before the scope's, and the scope's before the resource's.
func (r *metricsRequest) seriesLabels(message []byte, attributes int, p metricPart, bound float64) (err error) {
	r.attrs = r.attrs[:0]
	f := protowire.Of(message)
	for f.Next() {
		if f.Is(attributes, protowire.Bytes) {
			if r.attrs, err = appendAttribute(r.attrs, &f); err != nil {
				return err
			}
		}
	}
	if n := len(r.attrs) + len(r.resource) + len(r.scope); n > samples.MaxLabels {
		return status.New(status.InvalidArguments, "a data point of metric %.80q has %d labels, the limit is %d",
			r.name, n, samples.MaxLabels)
	}
	table := r.translation.table(string(r.name), string(r.unit), r.kind)
	if table == "" {
		return status.New(status.InvalidArguments, "a metric has the name %.80q, which cannot be the name of a table",
			r.name)
	}
	r.describe(table)
	r.labels, r.block = append(append(r.labels[:0], r.resource...), r.scope...), r.block[:0]
	for i := range r.attrs {
		r.labels, r.block = r.label(r.labels, r.block, "", &r.attrs[i])
	}
	switch p {
	case bucketPart:
		table += "_bucket"
		r.labels = append(r.labels, samples.Label{Name: []byte("le"), Value: appendBound(nil, bound)})
	case quantilePart:
		r.labels = append(r.labels, samples.Label{Name: []byte("quantile"), Value: appendBound(nil, bound)})
	case sumPart:
		table += "_sum"
	case countPart:
		table += "_count"
	}
	r.labels = append(lastOfEach(r.labels), samples.Label{Name: []byte("__name__"), Value: []byte(table)})
	return nil
}

// Bytes that a series that is not known takes until it is written, besides the text of its labels.
const (
	seriesBytes      = 512
	seriesLabelBytes = 64
)

// lastOfEach sorts labels by name and keeps the last of each name.
func lastOfEach(labels []samples.Label) []samples.Label {
	slices.SortStableFunc(labels, func(a, b samples.Label) int { return bytes.Compare(a.Name, b.Name) })
	kept := labels[:0]
	for i := range labels {
		if i+1 == len(labels) || !bytes.Equal(labels[i].Name, labels[i+1].Name) {
			kept = append(kept, labels[i])
		}
	}
	return kept
}

// appendBound appends the bound of a bucket, or a quantile, as labels have it.
func appendBound(dst []byte, bound float64) []byte {
	if math.IsInf(bound, 1) {
		return append(dst, "+Inf"...)
	}
	return appendNumber(dst, bound)
}

// describe notes the metadata of the metric in hand.
func (r *metricsRequest) describe(table string) {
	if !r.described {
		r.described = true
		r.metadata = append(r.metadata, samples.NewMetadata(table, metricTypes[r.kind], r.unit, r.help))
	}
}
