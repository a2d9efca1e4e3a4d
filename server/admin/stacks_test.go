package admin

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
)

// taken is a profile of three stacks: main calls parse (2) and eval (5), eval calls itself once (3 more).
func taken() *profile.Profile {
	f := map[string]*profile.Location{}
	for i, name := range []string{"main.main", "varve/x.parse", "varve/x.eval<T>"} {
		f[name] = &profile.Location{ID: uint64(i + 1),
			Line: []profile.Line{{Function: &profile.Function{ID: uint64(i + 1), Name: name}}}}
	}
	stack := func(v int64, names ...string) *profile.Sample {
		s := &profile.Sample{Value: []int64{1, v * 1e9}}
		for _, n := range names { // innermost first
			s.Location = append(s.Location, f[n])
		}
		return s
	}
	return &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		Sample: []*profile.Sample{
			stack(2, "varve/x.parse", "main.main"), stack(5, "varve/x.eval<T>", "main.main"),
			stack(3, "varve/x.eval<T>", "varve/x.eval<T>", "main.main"),
		},
	}
}

func TestTable(t *testing.T) {
	want := "total 10.00s\n        flat   flat%          cum    cum%  function\n" +
		"       8.00s  80.00%        8.00s  80.00%  varve/x.eval<T>\n" +
		"       2.00s  20.00%        2.00s  20.00%  varve/x.parse\n" +
		"       0.00s   0.00%       10.00s 100.00%  main.main\n"
	if got := string(collect(taken(), "cpu").table()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestSVG(t *testing.T) {
	svg := string(collect(taken(), "cpu").svg())
	d := xml.NewDecoder(strings.NewReader(svg))
	boxes := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "g" {
			boxes++
		}
	}
	if boxes != 5 || !strings.Contains(svg, "<title>varve/x.eval&lt;T&gt;: 8.00s, 80.00%</title>") {
		t.Errorf("%d boxes in\n%s", boxes, svg)
	}
	empty := string(collect(&profile.Profile{}, "cpu").svg())
	if !strings.HasSuffix(empty, "</svg>\n") {
		t.Errorf("an empty profile gives %s", empty)
	}
}
