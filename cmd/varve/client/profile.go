package client

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"varve/engine/nearest"
)

// Profile is a server with how to sign in there, as client.toml describes it. Without a profile all fields are empty.
// What proves to be its user is told to URL alone, whatever address the flags and the environment name.
type Profile struct {
	Name string
	URL  string
	User string
	// Production says that work there is to be careful: commands ask before they destroy something.
	Production bool
	CAFile     string
	DB         string
	Timezone   string

	word, passwordFile, passwordCommand string
}

// profileFile is where profiles are; empty: there is no such place.
func profileFile(environ []string) string {
	dir := Getenv(environ, "XDG_CONFIG_HOME")
	if dir == "" {
		home := Getenv(environ, "HOME")
		if home == "" {
			return ""
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "varve", "client.toml")
}

// profile finds the profile that holds.
func (f *Flags) profile(environ []string) (Profile, error) {
	name := cmp.Or(f.Profile, Getenv(environ, "VARVE_PROFILE"))
	file := profileFile(environ)
	list, standard, err := readProfiles(file)
	if errors.Is(err, fs.ErrNotExist) && name == "" {
		return Profile{}, nil
	}
	if err != nil {
		return Profile{}, err
	}
	if name = cmp.Or(name, standard); name == "" {
		return Profile{}, nil
	}
	if p, ok := list[name]; ok {
		return p, nil
	}
	return Profile{},
		&UsageError{fmt.Errorf("%s has no profile %s.%s", file, name, nearest.Hint(name, profileNames(list)))}
}

// Profiles are the names of the profiles, in order; none where they cannot be read.
func Profiles(environ []string) []string {
	list, _, _ := readProfiles(profileFile(environ))
	return profileNames(list)
}

func profileNames(list map[string]Profile) (names []string) {
	for name := range list {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// readProfiles reads all profiles and the name of the one that holds when none is named.
func readProfiles(file string) (list map[string]Profile, standard string, err error) {
	if file == "" {
		return nil, "",
			&UsageError{fmt.Errorf("there is no place for profiles: neither XDG_CONFIG_HOME nor HOME is set: %w",
				fs.ErrNotExist)}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, "", &UsageError{fmt.Errorf("profiles: %w", err)}
	}
	var tree map[string]any
	if err := toml.Unmarshal(text, &tree); err != nil {
		if at := (*toml.DecodeError)(nil); errors.As(err, &at) {
			row, column := at.Position()
			return nil, "", &UsageError{fmt.Errorf("%s: line %d, column %d: %s", file, row, column,
				strings.TrimPrefix(at.Error(), "toml: "))}
		}
		return nil, "", &UsageError{fmt.Errorf("%s: %w", file, err)}
	}
	list = map[string]Profile{}
	for name, value := range tree {
		switch v := value.(type) {
		case string:
			if name != "default" {
				return nil, "", &UsageError{fmt.Errorf("%s: unknown key %s: outside of profiles there is only default",
					file, name)}
			}
			standard = v
		case map[string]any:
			p := Profile{Name: name, URL: defaultURL}
			if err := p.set(v); err != nil {
				return nil, "", &UsageError{fmt.Errorf("%s: [%s]: %w", file, name, err)}
			}
			list[name] = p
		default:
			return nil, "", &UsageError{fmt.Errorf("%s: %s: expected a profile or default = \"name\"", file, name)}
		}
	}
	return list, standard, keepSecret(file, list)
}

// set takes the keys of a profile.
func (p *Profile) set(tree map[string]any) error {
	texts := map[string]*string{
		"url": &p.URL, "user": &p.User, "password": &p.word, "password_file": &p.passwordFile,
		"password_command": &p.passwordCommand,
		"ca_file":          &p.CAFile, "db": &p.DB, "timezone": &p.Timezone,
	}
	for key, value := range tree {
		if key == "production" {
			b, ok := value.(bool)
			if !ok {
				return fmt.Errorf("production = %v: expected true or false", value)
			}
			p.Production = b
			continue
		}
		into, known := texts[key]
		if !known {
			names := []string{"production"}
			for name := range texts {
				names = append(names, name)
			}
			slices.Sort(names)
			return fmt.Errorf("unknown key %s.%s", key, nearest.Hint(key, names))
		}
		text, ok := value.(string)
		if !ok {
			return fmt.Errorf("%s: expected text in quotes", key)
		}
		*into = text
	}
	return nil
}

// keepSecret refuses passwords that other users of the machine can read.
func keepSecret(file string, list map[string]Profile) error {
	for _, name := range profileNames(list) {
		if list[name].word == "" {
			continue
		}
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			return &UsageError{fmt.Errorf(
				"%s holds the password of the profile %s and others can read it (mode %04o): chmod 600 %[1]s, or use "+
					"password_command", file, name, info.Mode().Perm())}
		}
	}
	return nil
}

// password is the one of the profile; empty: it has none.
func (p *Profile) password(environ []string, notes io.Writer) (string, error) {
	switch {
	case p.word != "":
		return p.word, nil
	case p.passwordFile != "":
		return readPassword(p.passwordFile)
	case p.passwordCommand == "":
		return "", nil
	}
	command := exec.Command("sh", "-c", p.passwordCommand)
	command.Env, command.Stderr = environ, notes
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("the password_command of the profile %s: %w", p.Name, err)
	}
	word, _, _ := strings.Cut(string(out), "\n")
	if word = strings.TrimRight(word, "\r"); word == "" {
		return "", fmt.Errorf("the password_command of the profile %s printed nothing", p.Name)
	}
	return word, nil
}
