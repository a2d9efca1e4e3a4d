package logapi

import (
	"bytes"
	"cmp"
	"math"
	"strconv"
	"time"

	"varve/engine/jsontext"
	"varve/sqlexec/logql"
	"varve/sqlexec/promql"
)

// success begins every answer with data.
const success = `{"status":"success","data":`

// appendText appends a text as JSON in which no character means anything in HTML.
func appendText(dst []byte, text string) []byte {
	from := len(dst)
	dst = jsontext.AppendString(dst, text)
	if meansHTML(dst[from:]) {
		made := bytes.Clone(dst[from:])
		for i, c := range [...]string{"<", ">", "&", "\u2028", "\u2029"} {
			made = bytes.ReplaceAll(made, []byte(c),
				[]byte([...]string{`\u003c`, `\u003e`, `\u0026`, `\u2028`, `\u2029`}[i]))
		}
		dst = append(dst[:from], made...)
	}
	return dst
}

// meansHTML reports whether a text may have a character that means something in HTML. U+2028 and U+2029 begin with
// 0xE2.
func meansHTML(text []byte) bool {
	return bytes.IndexByte(text, '<') >= 0 || bytes.IndexByte(text, '>') >= 0 || bytes.IndexByte(text, '&') >= 0 ||
		bytes.IndexByte(text, 0xE2) >= 0
}

// appendLabels appends a set of labels as an object.
func appendLabels(dst []byte, l logql.Labels) []byte {
	dst = append(dst, '{')
	for i := range l {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendText(dst, l[i].Name), ':')
		dst = appendText(dst, l[i].Value)
	}
	return append(dst, '}')
}

// appendTexts appends a list of texts.
func appendTexts(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for i, text := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendText(dst, text)
	}
	return append(dst, ']')
}

// streamsAnswer is an answer of lines.
func (r *request) streamsAnswer(streams []logql.Stream, categorized bool) (answer, error) {
	size := 0
	for i := range streams {
		for k := range streams[i].Lines {
			size += len(streams[i].Lines[k].Text) + 64
		}
	}
	if err := r.Reserve(int64(size)); err != nil {
		return answer{}, err
	}
	dst := append(make([]byte, 0, size+1024), success...)
	dst = append(dst, `{"resultType":"streams",`...)
	if flags := r.flags(); len(flags) > 0 {
		dst = append(appendTexts(append(dst, `"encodingFlags":`...), flags), ',')
	}
	dst, lines := appendStreams(append(dst, `"result":`...), streams, categorized)
	r.rows = int64(lines)
	dst = r.appendStats(append(dst, `,"stats":`...), lines)
	return answer{body: append(dst, `}}`...)}, nil
}

// appendStreams appends a list of streams, and counts their lines.
func appendStreams(dst []byte, streams []logql.Stream, categorized bool) (_ []byte, lines int) {
	dst = append(dst, '[')
	for i := range streams {
		if i > 0 {
			dst = append(dst, ',')
		}
		s := &streams[i]
		dst = append(appendLabels(append(dst, `{"stream":`...), s.Labels), `,"values":[`...)
		for k := range s.Lines {
			if k > 0 {
				dst = append(dst, ',')
			}
			dst = appendLine(dst, &s.Lines[k], categorized)
		}
		lines += len(s.Lines)
		dst = append(dst, `]}`...)
	}
	return append(dst, ']'), lines
}

// appendLine appends [time, line] or, categorized, [time, line, labels by kind].
func appendLine(dst []byte, l *logql.Line, categorized bool) []byte {
	dst = strconv.AppendInt(append(dst, `["`...), l.At, 10)
	dst = appendText(append(dst, `",`...), l.Text)
	if categorized {
		dst = append(dst, `,{`...)
		if len(l.Metadata) > 0 {
			dst = appendLabels(append(dst, `"structuredMetadata":`...), l.Metadata)
		}
		if len(l.Parsed) > 0 {
			if len(l.Metadata) > 0 {
				dst = append(dst, ',')
			}
			dst = appendLabels(append(dst, `"parsed":`...), l.Parsed)
		}
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// numbersAnswer is an answer of numbers; at is the time of an instant query, ns.
func (r *request) numbersAnswer(result *promql.Result, at int64) (answer, error) {
	dst := append([]byte(success), `{"resultType":"`...)
	dst = append(append(dst, result.Type...), `","result":[`...)
	for i := range result.Len() {
		before := len(dst)
		switch result.Type {
		case promql.Scalar:
			dst = append(strconv.AppendInt(dst, at/1e6, 10), ',')
			for _, p := range result.Samples(i) {
				dst = appendNumber(dst, p.V)
			}
		case promql.Vector:
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendMetric(append(dst, `{"metric":`...), result.Labels(i))
			dst = append(dst, `,"value":`...)
			for t, p := range result.Samples(i) {
				dst = appendPoint(dst, t, p.V)
			}
			dst = append(dst, '}')
		default:
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendMatrix(dst, result, i)
		}
		if err := cmp.Or(r.ctx.Err(), r.Reserve(2*int64(len(dst)-before))); err != nil {
			return answer{}, err
		}
	}
	dst = append(dst, ']')
	r.rows = int64(result.Len())
	dst = r.appendStats(append(dst, `,"stats":`...), result.Len())
	return answer{body: append(dst, `}}`...)}, nil
}

func appendMatrix(dst []byte, result *promql.Result, i int) []byte {
	dst = append(appendMetric(append(dst, `{"metric":`...), result.Labels(i)), `,"values":[`...)
	first := true
	for t, p := range result.Samples(i) {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = appendPoint(dst, t, p.V)
	}
	return append(dst, `]}`...)
}

func appendMetric(dst []byte, labels promql.Labels) []byte {
	dst = append(dst, '{')
	for i := range labels {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendText(dst, labels[i].Name), ':')
		dst = appendText(dst, labels[i].Value)
	}
	return append(dst, '}')
}

// appendPoint appends a time, in seconds with up to three decimals, and a value.
func appendPoint(dst []byte, ms int64, v float64) []byte {
	dst = strconv.AppendFloat(append(dst, '['), float64(ms)/1000, 'f', -1, 64)
	return append(appendNumber(append(dst, ','), v), ']')
}

// appendNumber appends a value as a text.
func appendNumber(dst []byte, v float64) []byte {
	dst = append(dst, '"')
	if math.IsInf(v, 1) {
		dst = append(dst, "+Inf"...)
	} else {
		dst = strconv.AppendFloat(dst, v, 'f', -1, 64)
	}
	return append(dst, '"')
}

// appendStats appends the object of statistics. What this server does not have is zero.
func (r *request) appendStats(dst []byte, entries int) []byte {
	took := time.Since(r.began).Seconds()
	lines, size := r.stats.Lines.Load(), r.stats.Bytes.Load()
	rate := func(n int64) int64 {
		if took <= 0 {
			return 0
		}
		return int64(float64(n) / took)
	}
	member := func(name string, n int64) {
		dst = append(append(append(dst, '"'), name...), `":`...)
		dst = append(strconv.AppendInt(dst, n, 10), ',')
	}
	dst = append(dst, `{"summary":{`...)
	member("bytesProcessedPerSecond", rate(size))
	member("linesProcessedPerSecond", rate(lines))
	member("totalBytesProcessed", size)
	member("totalLinesProcessed", lines)
	dst = strconv.AppendFloat(append(dst, `"execTime":`...), took, 'f', -1, 64)
	dst = strconv.AppendFloat(append(dst, `,"queueTime":`...), r.queued.Seconds(), 'f', -1, 64)
	dst = append(dst, ',')
	member("subqueries", 0)
	member("totalEntriesReturned", int64(entries))
	member("splits", 0)
	member("shards", 0)
	member("totalPostFilterLines", r.stats.Kept.Load())
	dst = append(dst, `"totalStructuredMetadataBytesProcessed":0},"querier":{"store":`...)
	dst = append(dst, noStore...)
	dst = append(dst, `},"ingester":{"totalReached":1,"totalChunksMatched":0,"totalBatches":0,"totalLinesSent":0,"store":`...)
	dst = append(append(dst, noStore...), `},"cache":{`...)
	for i, name := range [...]string{"chunk", "index", "result", "statsResult", "volumeResult", "seriesResult",
		"labelResult", "instantMetricResult"} {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), name...), `":`...)
		dst = append(dst, noCache...)
	}
	return append(dst, `},"index":{"totalChunks":0,"postFilterChunks":0,"shardsDuration":0}}`...)
}

// What a server with other storage tells of its storage and its caches.
const (
	noStore = `{"totalChunksRef":0,"totalChunksDownloaded":0,"chunksDownloadTime":0,"queryReferencedStructuredMetadata":false,"chunk":{"headChunkBytes":0,"headChunkLines":0,"decompressedBytes":0,"decompressedLines":0,"compressedBytes":0,"totalDuplicates":0,"postFilterLines":0,"headChunkStructuredMetadataBytes":0,"decompressedStructuredMetadataBytes":0},"chunkRefsFetchTime":0,"congestionControlLatency":0,"pipelineWrapperFilteredLines":0}`
	noCache = `{"entriesFound":0,"entriesRequested":0,"entriesStored":0,"bytesReceived":0,"bytesSent":0,"requests":0,"downloadTime":0,"queryLengthServed":0}`
)
