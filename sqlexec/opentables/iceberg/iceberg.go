// Package iceberg writes the metadata of Apache Iceberg tables of format 2: schemas, table metadata, manifests and
// manifest lists. It knows neither where files lie nor what made their rows.
//
//	schema.go    types, fields, and which changes of a type Iceberg knows
//	metadata.go  the metadata of a table, as JSON
//	manifest.go  manifests and manifest lists, as Avro
//	avro.go      the encoding of Avro, its container files, and bounds of columns
//
// A table is partitioned by the day of one column of times. Source: the Iceberg table specification, version 2.
package iceberg

// FormatVersion is the version of the table format that is written.
const FormatVersion = 2

// dayField is the id of the partition field; the specification begins them at 1000.
const dayField = 1000
