package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"varve/engine/nearest"
	"varve/engine/timefmt"
)

// Size is a number of bytes, written 64MiB.
type Size int64

// parseSize reads a number with a unit: B KB KiB MB MiB GB GiB TB TiB PB PiB, in any case; none means bytes.
func parseSize(text string) (Size, error) {
	text = strings.TrimSpace(text)
	end := 0
	for end < len(text) && (text[end] >= '0' && text[end] <= '9' || text[end] == '.') {
		end++
	}
	n, err := strconv.ParseFloat(text[:end], 64)
	if err != nil {
		return 0, fmt.Errorf("a size is a number and a unit, such as 64MiB")
	}
	unit, ok := sizeUnits[strings.ToLower(strings.TrimSpace(text[end:]))]
	if !ok {
		return 0, fmt.Errorf("the unit of a size is one of B KB KiB MB MiB GB GiB TB TiB PB PiB")
	}
	if n*unit >= 1<<62 {
		return 0, fmt.Errorf("the size is too large")
	}
	return Size(n * unit), nil
}

var sizeUnits = map[string]float64{
	"": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "pb": 1e15,
	"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40, "pib": 1 << 50,
}

// String is the size with the largest binary unit that leaves no fraction.
func (s Size) String() string {
	for i, unit := range [...]string{"PiB", "TiB", "GiB", "MiB", "KiB"} {
		if one := Size(1) << (50 - 10*i); s >= one && s%one == 0 {
			return strconv.FormatInt(int64(s/one), 10) + unit
		}
	}
	return strconv.FormatInt(int64(s), 10) + "B"
}

// configError is a configuration that stops the start.
type configError struct{ msg string }

func (e *configError) Error() string { return e.msg }

// loadConfig is readConfig, and looks at what one key alone does not tell.
func loadConfig(file string, environ []string, settings []setting) (*Config, error) {
	c, err := readConfig(file, environ, settings)
	if err != nil {
		return nil, err
	}
	return c, c.check()
}

// readConfig composes the configuration: defaults, then the file, then the environment, then key=value settings, each
// beating the ones before.
func readConfig(file string, environ []string, settings []setting) (*Config, error) {
	c := &Config{}
	keys := c.keys()
	for i := range keys {
		keys[i].reset()
	}
	if file != "" {
		if err := readFile(file, keys); err != nil {
			return nil, err
		}
	}
	var err error
	if c.warnings, err = readEnvironment(environ, keys); err != nil {
		return nil, err
	}
	c.takeSecrets(environ)
	for _, s := range settings {
		if err := assign(keys, s.from, s.key, s.value); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// setting is a key with a value and where it comes from, for messages: the flag.
type setting struct{ from, key, value string }

// assign sets a key; from says where the value stands.
func assign(keys []key, from, name string, value any) error {
	for i := range keys {
		if keys[i].name == name {
			if err := keys[i].set(value); err != nil {
				return &configError{fmt.Sprintf("%s: %s = %q: %v", from, name, keys[i].masked(fmt.Sprint(value)), err)}
			}
			return nil
		}
	}
	text := fmt.Sprintf("%s: unknown key %s", from, name)
	if near := nearestKey(name, keys); near != "" {
		text += "; the nearest key is " + near
	}
	return &configError{text}
}

// readFile reads a TOML file.
func readFile(file string, keys []key) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return &configError{fmt.Sprintf("configuration file: %v", err)}
	}
	var tree map[string]any
	if err := toml.Unmarshal(text, &tree); err != nil {
		var at *toml.DecodeError
		if errors.As(err, &at) {
			row, column := at.Position()
			return &configError{fmt.Sprintf("%s: line %d, column %d: %s", file, row, column,
				strings.TrimPrefix(at.Error(), "toml: "))}
		}
		return &configError{fmt.Sprintf("%s: %v", file, err)}
	}
	if list, ok := tree["kafka"]; ok {
		delete(tree, "kafka")
		if err := keys[0].config.readQueueTables(file, list); err != nil {
			return err
		}
	}
	return assignTree(keys, file, "", tree)
}

// assignTree sets the keys of a table, in order of their names.
func assignTree(keys []key, file, prefix string, tree map[string]any) error {
	names := make([]string, 0, len(tree))
	for name := range tree {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if table, ok := tree[name].(map[string]any); ok {
			if err := assignTree(keys, file, prefix+name+".", table); err != nil {
				return err
			}
			continue
		}
		if err := assign(keys, file, prefix+name, tree[name]); err != nil {
			return err
		}
	}
	return nil
}

// clientVariables belong to client commands, and VARVE_CONFIG to the command line.
var clientVariables = []string{"VARVE_URL", "VARVE_USER", "VARVE_PASSWORD", "VARVE_PASSWORD_FILE", "VARVE_DB",
	"VARVE_PROFILE",
	"VARVE_TIMEZONE", "VARVE_HISTORY", "VARVE_CONFIG"}

// isServiceVariable reports whether schedulers of containers set a variable for a service that is called varve, whose
// port may have a name.
func isServiceVariable(name string) bool {
	rest := strings.TrimPrefix(name, "VARVE_")
	return rest == "SERVICE_HOST" || rest == "SERVICE_PORT" || strings.HasPrefix(rest, "SERVICE_PORT_") ||
		rest == "PORT" || strings.HasPrefix(rest, "PORT_") && strings.ContainsAny(rest, "0123456789")
}

// readEnvironment takes VARVE_SECTION__KEY and VARVE_KEY. Variables that are no keys are warned of and never stop the
// start; of those that schedulers set nothing is said.
func readEnvironment(environ []string, keys []key) (warnings []string, err error) {
	names := make([]string, len(keys))
	for i := range keys {
		names[i] = keys[i].name
	}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		rest, ours := strings.CutPrefix(name, "VARVE_")
		if !ours || slices.Contains(clientVariables, name) || isServiceVariable(name) ||
			isSecretVariable(name) {
			continue
		}
		key := strings.ToLower(strings.ReplaceAll(rest, "__", "."))
		if !slices.Contains(names, key) {
			warnings = append(warnings, fmt.Sprintf("environment variable %s is ignored: there is no key %s.%s", name,
				key, nearest.Hint(key, names)))
			continue
		}
		if err := assign(keys, "environment variable "+name, key, value); err != nil {
			return nil, err
		}
	}
	return warnings, nil
}

// check looks at what one key alone does not tell.
func (c *Config) check() error {
	if err := checkAddr("http.addr", c.HTTP.Addr); err != nil {
		return err
	}
	if err := c.checkListeners(); err != nil {
		return err
	}
	if err := c.checkQueues(); err != nil {
		return err
	}
	if c.Logging.Dir == "" && !c.Logging.AppendStdout {
		return &configError{"logging.append_stdout = false needs logging.dir: the lines of the log would be nowhere"}
	}
	if c.Storage.MemtableLimit < c.Storage.FlushBytes {
		return &configError{fmt.Sprintf("storage.memtable_limit = %q is below storage.flush_bytes = %q",
			c.Storage.MemtableLimit, c.Storage.FlushBytes)}
	}
	if err := c.checkOpen(); err != nil {
		return err
	}
	if err := c.checkStandby(); err != nil {
		return err
	}
	return c.checkCold()
}

// checkAddr looks at an address to listen on.
func checkAddr(key, addr string) error {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return &configError{fmt.Sprintf("%s = %q: expected host:port: %v", key, addr, err)}
	}
	if !isPort(port) {
		return &configError{fmt.Sprintf("%s = %q: expected a port from 0 to 65535", key, addr)}
	}
	return nil
}

func isPort(text string) bool {
	_, err := strconv.ParseUint(text, 10, 16)
	return err == nil
}

// TOML prints the configuration as a file, top-level keys first, with secrets masked.
func (c *Config) TOML() string {
	var b strings.Builder
	printKeys(&b, c.keys(), func(k *key, name string) {
		if k.name != "user_provider" || c.UserProvider != "" {
			fmt.Fprintf(&b, "%s = %s\n", name, k.print())
		}
	})
	c.printQueues(&b)
	return b.String()
}

// printKeys prints keys below the names of their sections; print prints one, with its name there.
func printKeys(w io.Writer, keys []key, print func(k *key, name string)) {
	section := ""
	for i := range keys {
		table, name, dotted := strings.Cut(keys[i].name, ".")
		if !dotted {
			table, name = "", keys[i].name
		}
		if table != section {
			section = table
			fmt.Fprintf(w, "\n[%s]\n", table)
		}
		print(&keys[i], name)
	}
}

// running is the configuration as TOML with what changed since the start.
func (c *Config) running(l *logs) string {
	now := *c
	now.Logging.Level = l.filter.Load().text
	return now.TOML()
}

// nearestKey is the known key that resembles a name most; empty for a name of absurd length.
func nearestKey(name string, keys []key) string {
	f := nearest.Finder{To: name, Far: true}
	for _, k := range keys {
		f.Look(k.name, k.name)
	}
	for _, k := range keys { // a key without its section is a common slip
		if _, last, ok := strings.Cut(k.name, "."); ok {
			f.Look(last, k.name)
		}
	}
	return f.Found
}

// parseDuration reads 30s, 1m 30s.
func parseDuration(text string) (time.Duration, error) {
	ns, err := timefmt.ParseDuration(strings.TrimSpace(text))
	if err != nil || ns < 0 {
		return 0, fmt.Errorf("a duration is written 30s, 1m 30s, 1h")
	}
	return time.Duration(ns), nil
}

// printDuration is the opposite of parseDuration.
func printDuration(d time.Duration) string {
	if d == 0 {
		return "0s"
	}
	return timefmt.FormatDuration(int64(d))
}

// copyDir is the directory of COPY; empty: COPY is off.
func (c *Config) copyDir() string {
	switch c.Copy.Dir {
	case "":
		return filepath.Join(c.Storage.DataHome, "copy")
	case "off":
		return ""
	}
	return c.Copy.Dir
}
