package schema

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestParseOptions(t *testing.T) {
	for _, c := range []struct{ name, given, want string }{
		{"nothing", "", ""},
		{"days", "ttl=7d", "ttl=7days"},
		{"one day", "ttl=1d", "ttl=1day"},
		{"words", "ttl=1hour 12min 5s", "ttl=1h 12m 5s"},
		{"for ever", "ttl=", "ttl=forever"},
		{"zero", "ttl=0s", "ttl=forever"},
		{"instant", "ttl=INSTANT", "ttl=instant"},
		{"sorted", "ttl=2h append_mode=TRUE compaction.type=twcs", "append_mode=true compaction.type=twcs ttl=2h"},
		{"append with last_row", "append_mode=true merge_mode=last_row", "append_mode=true merge_mode=last_row"},
		{"append with last_non_null", "append_mode=true merge_mode=last_non_null", "1004"},
		{"bad mode", "merge_mode=first", "1004"},
		{"bad boolean", "append_mode=yes", "1004"},
		{"bad ttl", "ttl=soon", "1004"},
		{"unknown", "foo=1", "1004"},
		{"bare prefix", "memtable.=1", "1004"},
		{"prefix", "memtable.x.y=1", "memtable.x.y=1"},
		{"size", "write_buffer_size=64MB", "write_buffer_size=64MB"},
		{"bad size", "write_buffer_size=many", "1004"},
		{"bad number", "compaction.twcs.trigger_file_num=-1", "1004"},
		{"interval", "compaction.twcs.time_window=60m", "compaction.twcs.time_window=1h"},
		{"longer than can be counted", "compaction.twcs.time_window=1000000 y", "compaction.twcs.time_window=1000000y"},
		{"no interval", "auto_flush_interval=0s", "1004"},
		{"some interval", "auto_flush_interval=60s", "auto_flush_interval=1m"},
		{"files", "storage=File", "storage=File"},
		{"no files", "storage=S3", "1004"},
		{"physical table", "physical_table=p", "on_physical_table=p"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, err := ParseOptions(optionMap(c.given))
			var got []string
			for _, p := range o.All {
				got = append(got, p.Key+"="+p.Value)
			}
			if s := strings.Join(got, " "); s != c.want && !(err != nil && c.want == "1004") {
				t.Errorf("ParseOptions(%s)\n got %s %v\nwant %s", c.given, s, err, c.want)
			}
		})
	}
	if o, err := ParseOptions(map[string]string{"ttl": "1day", "comment": "x"}); err != nil ||
		o.TTL != int64(24*time.Hour) || o.Comment != "x" {
		t.Errorf("typed members: %s", fmt.Sprint(o, err))
	}
}

// TestEmptyOption holds that an empty text is the default of every option.
func TestEmptyOption(t *testing.T) {
	keys := []string{"ttl", "append_mode", "merge_mode", "skip_wal", "memtable.x", "index.x", "service.semantic.x"}
	for k := range optionForms {
		if !strings.HasSuffix(k, ".") {
			keys = append(keys, k)
		}
	}
	for _, k := range keys {
		for _, empty := range []string{"", " "} {
			o, err := ParseOptions(map[string]string{k: empty})
			if err != nil || o.AppendMode || o.SkipWAL || o.MergeMode != LastRow || o.TTL != 0 {
				t.Errorf("%s = %q: got %+v %v", k, empty, o, err)
			}
		}
	}
}

func optionMap(s string) map[string]string {
	m := map[string]string{}
	key := ""
	for _, f := range strings.Split(s, " ") {
		if k, v, ok := strings.Cut(f, "="); ok {
			key = k
			m[k] = v
		} else if key != "" {
			m[key] += " " + f
		}
	}
	return m
}

// TestCheckOption: a key is known to CheckOption if ParseOptions takes it with an empty value.
func TestCheckOption(t *testing.T) {
	keys := []string{"ttl", "append_mode", "merge_mode", "skip_wal", "physical_table", "comment", "memtable.type",
		"memtable.x", "index.granularity", "storage", "memtable.", "nothing", "", "TTL", "index", "ttl.x"}
	known := 0
	for _, key := range keys {
		_, err := ParseOptions(map[string]string{key: ""})
		checked := CheckOption(key)
		if (err == nil) != (checked == nil) || err != nil && err.Error() != checked.Error() {
			t.Errorf("%q: ParseOptions says %v, CheckOption says %v", key, err, checked)
		}
		if checked == nil {
			known++
		}
	}
	if known != 10 {
		t.Errorf("%d of the keys are known, not 10", known)
	}
}
