package bucket

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// roleTimeout bounds the wait for the metadata service, which answers in a few milliseconds where there is one.
const roleTimeout = 2 * time.Second

// errKeys is wrapped by errors for credentials that cannot be had. They are not asked for again in the same call.
var errKeys = errors.New("no credentials")

// keysOf finds whose requests the requests are; from says where that was found, for messages and the log. Files are
// read here, so that a server does not start with one that is missing; a role is asked for with the first request.
func keysOf(o Options) (keys *credentials.Credentials, from string, err error) {
	if (o.AccessKey == "") != (o.SecretKey == "") {
		return nil, "", errors.New("of access key and secret key there must be both or neither")
	}
	named := o.CredentialsFile != "" || o.Profile != ""
	switch {
	case o.AccessKey != "":
		return credentials.NewStaticV4(o.AccessKey, o.SecretKey, o.SessionToken), "the configuration", nil
	case !named && os.Getenv("AWS_ACCESS_KEY_ID") != "" && os.Getenv("AWS_SECRET_ACCESS_KEY") != "":
		return credentials.New(&told{Provider: &credentials.EnvAWS{}}), "the environment", nil
	}
	file := credentialsFile(o)
	if _, err := os.Stat(file); named || err == nil {
		return fileKeys(file, o.Profile)
	}
	if o.InstanceRole {
		r := &role{credentials.IAM{Endpoint: os.Getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT")}}
		return credentials.New(&told{Provider: r}), "the instance role", nil
	}
	return nil, "", fmt.Errorf("%w: set keys, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a shared credentials file, "+
		"or let the instance role be used", errKeys)
}

// credentialsFile is the shared credentials file that options and variables mean; empty: there is no home either.
func credentialsFile(o Options) string {
	if o.CredentialsFile != "" {
		return o.CredentialsFile
	}
	if file := os.Getenv("AWS_SHARED_CREDENTIALS_FILE"); file != "" {
		return file
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "" // without a home there is no file in it, as if it were missing
	}
	return filepath.Join(home, ".aws", "credentials")
}

// fileKeys are those of a profile. They are read anew after the store has refused them.
func fileKeys(file, profile string) (*credentials.Credentials, string, error) {
	if info, err := os.Stat(file); err != nil {
		return nil, "", fmt.Errorf("credentials: %w", err)
	} else if !info.Mode().IsRegular() || info.Size() > 1<<20 {
		return nil, "", fmt.Errorf("credentials: %s is no file of at most 1 MiB", file)
	}
	keys := credentials.New(&told{Provider: &credentials.FileAWSCredentials{Filename: file, Profile: profile}})
	if _, err := keys.GetWithContext(nil); err != nil {
		return nil, "", fmt.Errorf("credentials file %s: %w", file, err)
	}
	return keys, "the file " + file, nil
}

// told is a provider whose failures, and whose empty keys, are errors that say so. Requests without keys would be sent
// as anybody's.
type told struct{ credentials.Provider }

// RetrieveWithCredContext asks the provider.
func (t *told) RetrieveWithCredContext(cc *credentials.CredContext) (credentials.Value, error) {
	if cc == nil {
		cc = &credentials.CredContext{}
	}
	v, err := t.Provider.RetrieveWithCredContext(cc)
	if err != nil {
		return credentials.Value{}, fmt.Errorf("%w: %w", errKeys, err)
	}
	if v.AccessKeyID == "" || v.SecretAccessKey == "" {
		return credentials.Value{}, errKeys
	}
	return v, nil
}

// Retrieve asks the provider, without a client of its caller.
func (t *told) Retrieve() (credentials.Value, error) { return t.RetrieveWithCredContext(nil) }

// role asks the metadata service of the machine or of the container, in a bounded time.
type role struct{ credentials.IAM }

// RetrieveWithCredContext asks the service.
func (r *role) RetrieveWithCredContext(cc *credentials.CredContext) (credentials.Value, error) {
	transport := &http.Transport{DisableKeepAlives: true, ResponseHeaderTimeout: roleTimeout, Proxy: proxyOf}
	ctx := cc.Context
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, 2*roleTimeout) // a token, the role's name, its keys
	defer cancel()
	return r.IAM.RetrieveWithCredContext(&credentials.CredContext{
		Client: &http.Client{Transport: transport, Timeout: roleTimeout}, Context: ctx,
	})
}

// proxyOf is that of the environment, but for addresses that mean this machine only, as those of metadata services.
func proxyOf(r *http.Request) (*url.URL, error) {
	if ip, err := netip.ParseAddr(r.URL.Hostname()); err == nil && (ip.IsLinkLocalUnicast() || ip.IsLoopback()) {
		return nil, nil
	}
	return http.ProxyFromEnvironment(r)
}

// Retrieve asks the service.
func (r *role) Retrieve() (credentials.Value, error) {
	return r.RetrieveWithCredContext(&credentials.CredContext{})
}
