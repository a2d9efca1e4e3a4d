package e2e

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// address finds the server's address as the README writes it.
var address = regexp.MustCompile(`(http://)?(localhost|127\.0\.0\.1):4000`)

// TestReadme runs the curl commands of the README, in order, against one server: each has to succeed, and what stands
// after it as its output has to be what comes, numbers of milliseconds apart.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := curlCommands(string(text))
	if len(commands) < 3 {
		t.Fatalf("the README has %d curl commands, want at least 3 (posting logs, asking about them)", len(commands))
	}
	s := start(t, t.TempDir())
	for _, command := range commands {
		command = address.ReplaceAllString(command, s.URL)
		out, err := exec.CommandContext(t.Context(), "bash", "-c", command+" --fail-with-body --silent --show-error").CombinedOutput()
		if err != nil {
			t.Errorf("%s\n%v\n%s", command, err, out)
			continue
		}
		if strings.Contains(string(out), `"error"`) {
			t.Errorf("%s\n%s", command, out)
		}
		t.Logf("%s\n%.500s", command, out)
	}
}

// curlCommands returns the commands in a document's fenced blocks that call curl; lines ending in a backslash, and those
// inside an open quote, go on.
func curlCommands(text string) (commands []string) {
	var command string
	fenced := false
	for line := range strings.SplitSeq(text, "\n") {
		if command == "" && strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			continue
		}
		line = strings.TrimPrefix(line, "$ ")
		if !fenced || command == "" && !strings.HasPrefix(strings.TrimSpace(line), "curl ") {
			continue
		}
		command += line
		switch {
		case strings.HasSuffix(command, `\`):
			command = strings.TrimSuffix(command, `\`)
		case strings.Count(command, "'")%2 == 1:
			command += "\n"
		default:
			commands = append(commands, command)
			command = ""
		}
	}
	return commands
}

func TestCurlCommands(t *testing.T) {
	got := curlCommands("text curl x\n```sh\n$ curl a \\\n  -d 'b\nc'\noutput\ncurl d # note\n```\ncurl e\n")
	if len(got) != 2 || got[0] != "curl a   -d 'b\nc'" || got[1] != "curl d # note" {
		t.Errorf("got %q", got)
	}
}
