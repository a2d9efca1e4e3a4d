package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"testing"
)

// TestVersionsAgree: a server's status names the version and the commit that varve version names, and the version is a
// semantic one.
func TestVersionsAgree(t *testing.T) {
	s := serve(t, nil)
	answer, err := http.Get(s.url + "/status")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var status, own struct{ Version, Commit, Branch string }
	if err := json.NewDecoder(answer.Body).Decode(&status); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := (&versionCommand{JSON: true}).Run(streams{out: &out}); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out.Bytes(), &own); err != nil {
		t.Fatal(err)
	}
	if status != own {
		t.Errorf("the server says %+v, the command %+v", status, own)
	}
	if !regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`).MatchString(own.Version) {
		t.Errorf("version %q", own.Version)
	}
}
