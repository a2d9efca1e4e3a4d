package main

import (
	"fmt"
	"os"
	"strings"

	"varve/engine/bucket"
)

// maxSecretFile bounds the file with a secret key, in bytes.
const maxSecretFile = 64 << 10

// bucketKeys are the keys of the configuration that name a bucket and say how the server proves who it is there.
type bucketKeys struct {
	URL             string `key:"url"`
	Endpoint        string `key:"endpoint"`
	Region          string `key:"region"`
	PathStyle       bool   `key:"path_style" default:"false"`
	AccessKey       string `key:"access_key"`
	SecretKey       string `key:"secret_key" secret:"word"`
	SecretKeyFile   string `key:"secret_key_file"`
	CredentialsFile string `key:"credentials_file"`
	Profile         string `key:"profile"`
	InstanceRole    bool   `key:"instance_role" default:"false"`
}

// checkKeys looks at the credentials together. begin is what the names of the keys begin with, such as "open.".
func (k *bucketKeys) checkKeys(begin string) error {
	switch {
	case k.SecretKey != "" && k.SecretKeyFile != "":
		return &configError{fmt.Sprintf("%[1]ssecret_key and %[1]ssecret_key_file: only one of them may be set", begin)}
	case (k.AccessKey == "") != (k.SecretKey == "" && k.SecretKeyFile == ""):
		return &configError{fmt.Sprintf("%[1]saccess_key needs %[1]ssecret_key or %[1]ssecret_key_file, and they need it",
			begin)}
	}
	return nil
}

// checkPlace looks at the address, without opening anything.
func (k *bucketKeys) checkPlace(begin, url string) error {
	if err := (bucket.Options{URL: url, Endpoint: k.Endpoint}).Check(); err != nil {
		return &configError{fmt.Sprintf("%[1]surl, %[1]sendpoint: %[2]v", begin, err)}
	}
	return nil
}

// options are those of the bucket at an address. They read the file with the secret key.
func (k *bucketKeys) options(begin, url string) (bucket.Options, error) {
	secret := k.SecretKey
	if k.SecretKeyFile != "" {
		text, err := readSecret(k.SecretKeyFile)
		if err != nil {
			return bucket.Options{}, &configError{fmt.Sprintf("%ssecret_key_file: %v", begin, err)}
		}
		secret = text
	}
	return bucket.Options{URL: url, Endpoint: k.Endpoint, Region: k.Region, PathStyle: k.PathStyle,
		AccessKey: k.AccessKey, SecretKey: secret, CredentialsFile: k.CredentialsFile, Profile: k.Profile,
		InstanceRole: k.InstanceRole, Counters: new(bucket.Counters)}, nil
}

// readSecret reads a file of one line.
func readSecret(file string) (string, error) {
	info, err := os.Stat(file)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > maxSecretFile {
		return "", fmt.Errorf("%s is no file of at most %d bytes", file, maxSecretFile)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	text := strings.TrimSpace(string(b))
	if text == "" {
		return "", fmt.Errorf("%s is empty", file)
	}
	return text, nil
}
