package pipeline

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"varve/engine/schema"
	"varve/engine/vector"
	"varve/pipeline/processor"
)

// readIndex reads what a transform says about indexes.
func (t *transform) readIndex(s *processor.Setting) error {
	word, options := "", (*processor.Settings)(nil)
	if s.IsMap() {
		var err error
		if word, options, err = readIndexMap(s); err != nil {
			return err
		}
	} else {
		var err error
		if word, err = s.String(); err != nil {
			return s.Invalid("Field index must be a string or map")
		}
	}
	switch word {
	case "timestamp", "time":
		t.time = true
	case "tag":
		t.tag = true
	case "inverted":
		t.index = newIndex(schema.Inverted)
	case "skipping":
		t.index = newIndex(schema.Skipping)
	case "fulltext":
		if t.typ != vector.StringType {
			return s.Invalid("Index `fulltext` only supports STRING columns, but got %s", WireName(t.typ))
		}
		t.index = newIndex(schema.Fulltext)
	default:
		return s.Invalid("Unsupported index type: %s", word)
	}
	if options == nil {
		return nil
	}
	if word != "fulltext" && word != "skipping" {
		return s.Invalid("Index type `%s` does not support options in pipeline config", word)
	}
	return t.readIndexOptions(word, options)
}

// indexDefaults are the options of indexes that name none, as SHOW CREATE TABLE prints them.
var indexDefaults = map[schema.IndexKind]map[string]string{
	schema.Skipping: {"false_positive_rate": "0.01", "granularity": "10240", "type": "BLOOM"},
	schema.Fulltext: {"analyzer": "English", "backend": "bloom", "case_sensitive": "false",
		"false_positive_rate": "0.01", "granularity": "10240"},
}

func newIndex(kind schema.IndexKind) *schema.Index {
	options := map[string]string{}
	maps.Copy(options, indexDefaults[kind])
	return &schema.Index{Kind: kind, Options: options}
}

// readIndexMap reads the map form: options is nil when there are none.
func readIndexMap(s *processor.Setting) (word string, options *processor.Settings, err error) {
	m, err := s.Map()
	if err != nil {
		return "", nil, err
	}
	given := false
	for _, x := range m.All() {
		switch x.Key {
		case "type":
			if word, err = x.String(); err != nil {
				return "", nil, err
			}
			given = true
		case "options":
			if x.Scalar() == nil {
				continue
			}
			o, err := x.Map()
			if err != nil {
				return "", nil, err
			}
			options = &o
		default:
			return "", nil, x.Invalid("Unsupported field in transform index config: %s", x.Key)
		}
	}
	if !given {
		return "", nil, s.Invalid("Transform index `type` must be set.")
	}
	return word, options, nil
}

// indexOptions are the options of each index with their forms.
var indexOptions = map[string]map[string]func(string) (string, error){
	"fulltext": {
		"analyzer": choice("English", "Chinese"), "case_sensitive": choice("true", "false"),
		"backend":     choice("bloom", "tantivy"),
		"granularity": granularity, "false_positive_rate": rate,
	},
	"skipping": {"type": choice("BLOOM"), "granularity": granularity, "false_positive_rate": rate},
}

func (t *transform) readIndexOptions(word string, options *processor.Settings) error {
	for _, x := range options.All() {
		form, known := indexOptions[word][x.Key]
		if !known {
			return x.Invalid("Unsupported option `%s` for `%s` index", x.Key, word)
		}
		text := ""
		switch v := x.Scalar().(type) {
		case string:
			text = v
		case bool, int64, float64:
			text = scalarText(v)
		default:
			return x.Invalid(
				"Transform index option `index.options.%s` must be a string, boolean, integer, or real scalar", x.Key)
		}
		normal, err := form(text)
		if err != nil {
			kind := map[string]string{"fulltext": "fulltext", "skipping": "skipping index"}[word]
			return x.Invalid("Invalid %s option: %s: %v", kind, x.Key, err)
		}
		t.index.Options[x.Key] = normal
	}
	return nil
}

// scalarText is a scalar of a document as text.
func scalarText(v any) string {
	if x, ok := v.(float64); ok {
		return string(processor.AppendDecimal(nil, x))
	}
	return fmt.Sprint(v)
}

func choice(choices ...string) func(string) (string, error) {
	return func(text string) (string, error) {
		for _, c := range choices {
			if strings.EqualFold(c, text) {
				return c, nil
			}
		}
		return "", fmt.Errorf("%q: expected one of %s", text, strings.Join(choices, ", "))
	}
}

func granularity(text string) (string, error) {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n == 0 {
		return "", fmt.Errorf("%q is not a positive integer", text)
	}
	return strconv.FormatUint(n, 10), nil
}

func rate(text string) (string, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x > 0 && x <= 1) {
		return "", fmt.Errorf("%q: expected a number above 0 and at most 1", text)
	}
	return strconv.FormatFloat(x, 'g', -1, 64), nil
}
