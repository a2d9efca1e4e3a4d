package otlp

// The messages in JSON: their members by name, in camelCase and in snake_case, with the number and the kind of the
// field that each stands for.

// fieldKind is the form of a member in JSON, and of its field in a message.
type fieldKind uint8

const (
	isText    fieldKind = iota
	isMessage           // an object
	isBool              // a varint
	isInt               // a varint: a number or a text
	isZigzag            // a varint of an sint32
	isFixed64           // 8 bytes: a number or a text
	isFixed32           // 4 bytes
	isDouble            // 8 bytes: a number, or a text such as NaN
	isBase64            // bytes
	isHex               // bytes of an id
	isEnum              // a varint: a number or a name
)

// field is a member. repeated ones are arrays.
type field struct {
	number   int
	kind     fieldKind
	repeated bool
	message  *message // of isMessage
	names    []string // of isEnum, by number
	// double is the number of the field for numbers that are no signed integer of 64 bits; 0: such a number is an
	// error.
	double int
}

// message lists the members of an object by both spellings.
type message struct{ fields map[string]*field }

// objectOf makes a message of members by their names in camelCase.
func objectOf(fields map[string]field) *message {
	m := &message{}
	m.set(fields)
	return m
}

func (m *message) set(fields map[string]field) {
	m.fields = map[string]*field{}
	for name, f := range fields {
		m.fields[name], m.fields[snake(name)] = &f, &f
	}
}

// snake is a name in camelCase as snake_case.
func snake(name string) string {
	var out []byte
	for _, c := range []byte(name) {
		if 'A' <= c && c <= 'Z' {
			out = append(out, '_', c|0x20)
			continue
		}
		out = append(out, c)
	}
	return string(out)
}

func one(number int, kind fieldKind) field { return field{number: number, kind: kind} }
func oneOrDouble(number int, kind fieldKind, double int) field {
	return field{number: number, kind: kind, double: double}
}
func list(number int, kind fieldKind) field { return field{number: number, kind: kind, repeated: true} }
func part(number int, m *message) field     { return field{number: number, kind: isMessage, message: m} }
func parts(number int, m *message) field {
	return field{number: number, kind: isMessage, message: m, repeated: true}
}
func enum(number int, names ...string) field {
	return field{number: number, kind: isEnum, names: names}
}

// anyValue holds itself: init fills it.
var anyValue = &message{}

var (
	keyValue = objectOf(map[string]field{"key": one(1, isText), "value": part(2, anyValue)})
	resource = objectOf(map[string]field{"attributes": parts(1, keyValue)})
	scope    = objectOf(map[string]field{"name": one(1, isText), "version": one(2, isText),
		"attributes": parts(3, keyValue)})
)

func init() {
	anyValue.set(map[string]field{
		"stringValue": one(1, isText), "boolValue": one(2, isBool), "intValue": oneOrDouble(3, isInt, 4),
		"doubleValue": one(4, isDouble),
		"arrayValue":  part(5, objectOf(map[string]field{"values": parts(1, anyValue)})),
		"kvlistValue": part(6, objectOf(map[string]field{"values": parts(1, keyValue)})),
		"bytesValue":  one(7, isBase64),
	})
}

// exportOf is the request that sends items of a kind: by resource and scope.
func exportOf(resources, scopes, items string, item *message) *message {
	return objectOf(map[string]field{resources: parts(1, objectOf(map[string]field{
		"resource": part(1, resource), "schemaUrl": one(3, isText),
		scopes: parts(2,
			objectOf(map[string]field{"scope": part(1, scope), items: parts(2, item), "schemaUrl": one(3, isText)})),
	}))})
}

var (
	attributes = parts(7, keyValue)

	exemplar = objectOf(map[string]field{
		"filteredAttributes": attributes, "timeUnixNano": one(2, isFixed64), "asDouble": one(3, isDouble),
		"asInt": oneOrDouble(6, isFixed64, 3), "spanId": one(4, isHex), "traceId": one(5, isHex),
	})

	numberPoint = objectOf(map[string]field{
		"attributes": attributes, "startTimeUnixNano": one(2, isFixed64), "timeUnixNano": one(3, isFixed64),
		"asDouble": one(4, isDouble), "asInt": oneOrDouble(6, isFixed64, 4), "flags": one(8, isInt),
		"exemplars": parts(5, exemplar),
	})
	histogramPoint = objectOf(map[string]field{
		"attributes": parts(9, keyValue), "startTimeUnixNano": one(2, isFixed64), "timeUnixNano": one(3, isFixed64),
		"count": one(4, isFixed64), "sum": one(5, isDouble),
		"bucketCounts": list(6, isFixed64), "explicitBounds": list(7, isDouble), "flags": one(10, isInt),
		"exemplars": parts(8, exemplar),
	})
	buckets          = objectOf(map[string]field{"offset": one(1, isZigzag), "bucketCounts": list(2, isInt)})
	exponentialPoint = objectOf(map[string]field{
		"attributes": parts(1, keyValue), "startTimeUnixNano": one(2, isFixed64), "timeUnixNano": one(3, isFixed64),
		"count": one(4, isFixed64), "sum": one(5, isDouble),
		"scale": one(6, isZigzag), "zeroCount": one(7, isFixed64), "positive": part(8, buckets),
		"negative": part(9, buckets), "flags": one(10, isInt), "zeroThreshold": one(14, isDouble),
		"exemplars": parts(11, exemplar),
	})
	summaryPoint = objectOf(map[string]field{
		"attributes": attributes, "startTimeUnixNano": one(2, isFixed64), "timeUnixNano": one(3, isFixed64),
		"count": one(4, isFixed64), "sum": one(5, isDouble),
		"quantileValues": parts(6, objectOf(map[string]field{"quantile": one(1, isDouble), "value": one(2, isDouble)})),
		"flags":          one(8, isInt),
	})
	temporality = enum(2, "AGGREGATION_TEMPORALITY_UNSPECIFIED", "AGGREGATION_TEMPORALITY_DELTA",
		"AGGREGATION_TEMPORALITY_CUMULATIVE")

	metricsMessage = exportOf("resourceMetrics", "scopeMetrics", "metrics", objectOf(map[string]field{
		"name": one(1, isText), "description": one(2, isText), "unit": one(3, isText),
		"gauge": part(5, objectOf(map[string]field{"dataPoints": parts(1, numberPoint)})),
		"sum": part(7,
			objectOf(map[string]field{"dataPoints": parts(1, numberPoint), "aggregationTemporality": temporality,
				"isMonotonic": one(3, isBool)})),
		"histogram": part(9,
			objectOf(map[string]field{"dataPoints": parts(1, histogramPoint), "aggregationTemporality": temporality})),
		"exponentialHistogram": part(10,
			objectOf(map[string]field{"dataPoints": parts(1, exponentialPoint),
				"aggregationTemporality": temporality})),
		"summary": part(11, objectOf(map[string]field{"dataPoints": parts(1, summaryPoint)})),
	}))

	spanKinds = []string{"SPAN_KIND_UNSPECIFIED", "SPAN_KIND_INTERNAL", "SPAN_KIND_SERVER", "SPAN_KIND_CLIENT",
		"SPAN_KIND_PRODUCER", "SPAN_KIND_CONSUMER"}
	statusCodes  = []string{"STATUS_CODE_UNSET", "STATUS_CODE_OK", "STATUS_CODE_ERROR"}
	spansMessage = exportOf("resourceSpans", "scopeSpans", "spans", objectOf(map[string]field{
		"traceId": one(1, isHex), "spanId": one(2, isHex), "traceState": one(3, isText), "parentSpanId": one(4, isHex),
		"name": one(5, isText), "kind": enum(6, spanKinds...),
		"startTimeUnixNano": one(7, isFixed64), "endTimeUnixNano": one(8, isFixed64), "attributes": parts(9, keyValue),
		"events": parts(11, objectOf(map[string]field{"timeUnixNano": one(1, isFixed64), "name": one(2, isText),
			"attributes": parts(3, keyValue)})),
		"links": parts(13, objectOf(map[string]field{"traceId": one(1, isHex), "spanId": one(2, isHex),
			"traceState": one(3, isText), "attributes": parts(4, keyValue)})),
		"status": part(15, objectOf(map[string]field{"message": one(2, isText), "code": enum(3, statusCodes...)})),
		"flags":  one(16, isFixed32),
	}))

	logsMessage = exportOf("resourceLogs", "scopeLogs", "logRecords", objectOf(map[string]field{
		"timeUnixNano": one(1, isFixed64), "observedTimeUnixNano": one(11, isFixed64),
		"severityNumber": enum(2, severities()...), "severityText": one(3, isText),
		"body": part(5, anyValue), "attributes": parts(6, keyValue), "flags": one(8, isFixed32),
		"traceId": one(9, isHex), "spanId": one(10, isHex),
	}))
)

// severities are the names of severities: four of each level.
func severities() []string {
	names := []string{"SEVERITY_NUMBER_UNSPECIFIED"}
	for _, level := range []string{"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"} {
		for _, step := range []string{"", "2", "3", "4"} {
			names = append(names, "SEVERITY_NUMBER_"+level+step)
		}
	}
	return names
}
