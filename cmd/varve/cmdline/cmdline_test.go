package cmdline

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// tool is a command line with one of each.
type tool struct {
	Copy copyCommand `cmd:"" group:"Files:" help:"Copy files."`
	Show struct {
		All  struct{} `cmd:"" help:"Show all."`
		JSON struct {
			Name string `arg:"" optional:"" help:"Of this name."`
		} `cmd:"" help:"Show as JSON."`
	} `cmd:"" group:"Other:" help:"Show."`
	Secret struct{} `cmd:"" hidden:"" help:"Not told."`
}

type copyCommand struct {
	common
	From    string            `arg:"" help:"What to copy."`
	To      []string          `arg:"" help:"Where to."`
	MaxSize *int              `placeholder:"N" help:"The largest file."`
	Level   int               `default:"3" help:"The level."`
	How     string            `enum:"fast,safe" default:"safe" help:"How to copy."`
	Only    []string          `short:"o" placeholder:"NAME" help:"Only these."`
	Hint    []string          `sep:"none" placeholder:"K=V" help:"A hint."`
	With    map[string]string `help:"More."`
	Wait    time.Duration     `default:"1s" help:"How long to wait."`
	Config  string            `env:"TOOL_CONFIG" placeholder:"FILE" help:"The configuration."`
	Key     string            `required:"" placeholder:"K" help:"The key."`
	Since   string            `xor:"when" help:"Since."`
	Until   string            `xor:"when" help:"Until."`
}

type common struct {
	Quiet bool   `short:"q" group:"Talk:" help:"Say nothing."`
	Name  string `short:"n" group:"Talk:" help:"Who asks."`
}

func (copyCommand) Help() string { return "It copies.\n\nExamples:\n\n  tool copy a b" }

// copied is what a command line gives.
func (c *copyCommand) copied() string {
	size := "any"
	if c.MaxSize != nil {
		size = fmt.Sprint(*c.MaxSize)
	}
	return fmt.Sprintf("%s>%q size=%s level=%d how=%s only=%q hint=%q with=%v wait=%s config=%s key=%s since=%s quiet=%v name=%s",
		c.From, c.To, size, c.Level, c.How, c.Only, c.Hint, c.With, c.Wait, c.Config, c.Key, c.Since, c.Quiet, c.Name)
}

// TestParse: flags stand anywhere, in all their forms; the last of a flag that is no list counts.
func TestParse(t *testing.T) {
	const rest = `>["b"] size=any level=3 how=safe only=[] hint=[] with=map[] wait=1s config= key=k since= quiet=false name=`
	for line, want := range map[string]string{
		"copy a b --key k":                       "a" + rest,
		"copy --key=k a b":                       "a" + rest,
		"copy a --key k b c":                     strings.Replace("a"+rest, `["b"]`, `["b" "c"]`, 1),
		"copy --key k -- -a b":                   "-a" + rest,
		"copy --key k - b":                       "-" + rest,
		"copy a b --key x --key k":               "a" + rest,
		"copy a b --key k --config=":             "a" + rest,
		"copy a b --key k --max-size=-1":         strings.Replace("a"+rest, "any", "-1", 1),
		"copy a b --key k --level 4 --how fast":  strings.Replace("a"+rest, "3 how=safe", "4 how=fast", 1),
		"copy a b --key k -o x,y --only z":       strings.Replace("a"+rest, "only=[]", `only=["x" "y" "z"]`, 1),
		"copy a b --key k --hint x,y --hint=-z":  strings.Replace("a"+rest, "hint=[]", `hint=["x,y" "-z"]`, 1),
		"copy a b --key k --with n=v=w --with m": "--with: expected NAME=VALUE but got \"m\"",
		"copy a b --key k --with n=v=w":          strings.Replace("a"+rest, "map[]", "map[n:v=w]", 1),
		"copy a b --key k --wait 1m30s":          strings.Replace("a"+rest, "1s", "1m30s", 1),
		"copy a b --key k -q":                    strings.Replace("a"+rest, "false", "true", 1),
		"copy a b --key k -qn me":                strings.Replace("a"+rest, "false name=", "true name=me", 1),
		"copy a b --key k -qnme":                 strings.Replace("a"+rest, "false name=", "true name=me", 1),
		"copy a b --key k -n=me --quiet=no":      "a" + rest + "me",
		"copy a b --key k --since s":             strings.Replace("a"+rest, "since=", "since=s", 1),

		"copy a --key k":                       "tool copy wants <to> ...: see tool copy --help",
		"copy":                                 "tool copy wants <from> <to> ... --key=K: see tool copy --help",
		"copy a b":                             "tool copy wants --key=K: see tool copy --help",
		"copy a b --key":                       "--key wants a value",
		"copy a b --key --quiet":               "--key wants a value",
		"copy a b --key -q":                    "--key wants a value",
		"copy a b --key -x":                    `--key: expected a value but got "-x"; perhaps try --key="-x"?`,
		"copy a b -o":                          "--only wants a value",
		"copy a b --key k --since s --until u": "--since and --until can't be used together",
		"copy a b --key k --max-size -1":       `--max-size: expected a whole number but got "-1"; perhaps try --max-size="-1"?`,
		"copy a b --key k --max-size 1e3":      `--max-size: expected a whole number but got "1e3"`,
		"copy a b --key k --max-size 99999999999999999999": "--max-size: 99999999999999999999 is too large a number",
		"copy a b --key k --wait soon":                     `--wait: a duration such as 30s or 1m30s is wanted, not "soon"`,
		"copy a b --key k --wait -1s":                      `--wait: expected a duration but got "-1s"; perhaps try --wait="-1s"?`,
		"copy a b --key k --how slow":                      `--how must be one of "fast","safe" but got "slow"`,
		"copy a b --key k --quiet=perhaps":                 `--quiet: expected true or false but got "perhaps"`,
		"copy a b --key k --quite":                         "there is no flag --quite. Did you mean --quiet?",
		"copy a b --key k -qz":                             "there is no flag -z",
		"copy a b --key k -é":                              "there is no flag -é",
		"cpoy a b":                                         "there is no command cpoy. Did you mean tool copy?",
		"show al":                                          "there is no command show al. Did you mean tool show all?",
		"show":                                             "tool show wants one of all, json: see tool show --help",
		"":                                                 "tool wants one of copy, show: see tool --help",
		"show all x":                                       "x is one argument too many: see tool show all --help",
		"show json x y":                                    "y is one argument too many: see tool show json --help",
		"--quiet copy":                                     "there is no flag --quiet. Did you mean --help?",
	} {
		var line1 tool
		parsed, err := New(&line1, "tool", "A tool.").Parse(strings.Fields(line), nil)
		got := line1.Copy.copied()
		if err != nil {
			got = err.Error()
		} else if parsed.FullPath() != "tool copy" || parsed.WantsHelp {
			t.Errorf("%s: it is %s, help %v", line, parsed.FullPath(), parsed.WantsHelp)
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", line, got, want)
		}
	}
}

// TestEnviron: a variable is what a flag is that was not given; its value is checked alike.
func TestEnviron(t *testing.T) {
	for _, c := range []struct{ flags, variable, want string }{
		{"", "TOOL_CONFIG=x", "x"}, {"--config y", "TOOL_CONFIG=x", "y"}, {"", "TOOL_CONFIG=", ""}, {"", "TOOL_CONFIGS=x", ""},
	} {
		var line tool
		if _, err := New(&line, "tool", "").Parse(strings.Fields("copy a b --key k "+c.flags), []string{c.variable}); err != nil || line.Copy.Config != c.want {
			t.Errorf("%q with %s: got %q, %v", c.flags, c.variable, line.Copy.Config, err)
		}
	}
}

// TestHelpIsAsked: wherever it stands and whatever is missing, but not where something is wrong.
func TestHelpIsAsked(t *testing.T) {
	for line, want := range map[string]string{
		"--help": "tool", "-h": "tool", "copy --help": "tool copy", "copy a -qh": "tool copy", "show --help": "tool show", "show json -h x": "tool show json",
		"copy -- --help": "", "copy --no --help": "",
	} {
		parsed, err := New(&tool{}, "tool", "").Parse(strings.Fields(line), nil)
		if want == "" && err == nil || want != "" && (err != nil || !parsed.WantsHelp || parsed.FullPath() != want) {
			t.Errorf("%s: got %v, %v", line, parsed, err)
		}
	}
}

// TestWriteHelp: texts are as wide as they may be, terms that are too wide have a line of their own.
func TestWriteHelp(t *testing.T) {
	for _, c := range []struct {
		args  string
		width int
		want  string
	}{
		{"", 60, `Usage: tool <command>

A tool.

Flags:
  -h, --help    Show this help.

Files:
  copy    Copy files.

Other:
  show all     Show all.
  show json    Show as JSON.

Run "tool <command> --help" for more information on a command.
`},
		{"copy", 48, `Usage: tool copy --key=K <from> <to> ... [flags]

Copy files.

It copies.

Examples:

    tool copy a b

Arguments:
  <from>      What to copy.
  <to> ...    Where to.

Flags:
  -h, --help           Show this help.
      --max-size=N     The largest file.
      --level=3        The level.
      --how=safe       How to copy.
  -o, --only=NAME,...
                       Only these.
      --hint=K=V       A hint.
      --with=WITH      More.
      --wait=1s        How long to wait.
      --config=FILE    The configuration.
                       Environment: TOOL_CONFIG.
      --key=K          The key.
      --since=SINCE    Since.
      --until=UNTIL    Until.

Talk:
  -q, --quiet        Say nothing.
  -n, --name=NAME    Who asks.
`},
	} {
		parsed, err := New(&tool{}, "tool", "A tool.").Parse(strings.Fields(c.args+" --help"), nil)
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		if err := parsed.WriteHelp(&got, c.width); err != nil || got.String() != c.want {
			t.Errorf("%s: got %v\n%s\nwant\n%s", c.args, err, got.String(), c.want)
		}
	}
}
