package bucket

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"varve/engine/vfs"
)

// What Options are without a setting.
const (
	DefaultTimeout  = 10 * time.Second
	DefaultAttempts = 8
	DefaultPause    = 100 * time.Millisecond
	// DefaultPartSize is the size of the parts of a large upload, in bytes: four of them are under way at a time, and
	// one that fails is sent again.
	DefaultPartSize = 16 << 20
	// minPartSize is the least that S3 takes for a part that is not the last.
	minPartSize = 5 << 20
	// maxParts is how many parts S3 lets an object have.
	maxParts = 10_000
)

// Options say where a bucket is and how it is asked.
type Options struct {
	// URL is s3://bucket or s3://bucket/prefix, or a directory: an absolute path or file:///path.
	URL string
	// Endpoint is the URL of the store, http or https; empty: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, else Amazon's.
	Endpoint string
	// Region is where the bucket is; empty: AWS_REGION, AWS_DEFAULT_REGION, else Amazon is asked and other stores get
	// us-east-1.
	Region string
	// PathStyle puts the bucket's name into the path of requests. Only Amazon's and Google's endpoints get it in the
	// name of the host without this.
	PathStyle bool

	// AccessKey and SecretKey, both or neither, with SessionToken where they are temporary. Without them: the variables
	// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, then the shared credentials file, then, if
	// InstanceRole is set, the role of the machine.
	AccessKey, SecretKey, SessionToken string
	// CredentialsFile is a shared credentials file; empty: AWS_SHARED_CREDENTIALS_FILE, else .aws/credentials in the
	// user's home. If it is named here, variables are not regarded.
	CredentialsFile string
	// Profile is the section of that file; empty: AWS_PROFILE, else default. If it is named here, variables are not
	// regarded.
	Profile string
	// InstanceRole lets the metadata service of the machine or of the container give credentials.
	InstanceRole bool

	// Timeout bounds one request, besides the time that its bytes take at 256 KiB a second; 0: DefaultTimeout.
	Timeout time.Duration
	// Attempts bounds the requests for one call, or for one part of an upload; 0: DefaultAttempts.
	Attempts int
	// Pause is the longest wait before the second request; each further one may wait twice as long, up to ten seconds.
	// 0: DefaultPause.
	Pause time.Duration
	// PartSize is the least size of the parts of a large upload, in bytes; 0: DefaultPartSize.
	PartSize int64
	// Counters count requests; nil: nobody counts.
	Counters *Counters
	// FS is the file system of a directory; nil: that of the operating system.
	FS vfs.FS
}

// Check says what is wrong with the place and the endpoint, without looking at either.
func (o Options) Check() error {
	p, err := parsePlace(o.URL)
	if err != nil || p.dir != "" {
		return err
	}
	if _, _, err = parseEndpoint(o.Endpoint); err != nil {
		return fmt.Errorf("%s: %w", p, err)
	}
	return nil
}

// Open is the bucket at a place. It asks nothing of a store, so that a bucket that is away can be opened, and a
// directory too: the first Put makes it.
func Open(ctx context.Context, o Options) (Bucket, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p, err := parsePlace(o.URL)
	if err != nil {
		return nil, err
	}
	if o.Timeout < 0 || o.Attempts < 0 || o.Pause < 0 || o.PartSize < 0 {
		return nil, fmt.Errorf("%s: time limit, attempts, pause and part size must not be negative", p)
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Attempts == 0 {
		o.Attempts = DefaultAttempts
	}
	if o.Pause == 0 {
		o.Pause = DefaultPause
	}
	if o.PartSize == 0 {
		o.PartSize = DefaultPartSize
	}
	if o.PartSize < minPartSize {
		return nil, fmt.Errorf("%s: parts of %d bytes: at least %d", p, o.PartSize, int64(minPartSize))
	}
	if o.Counters == nil {
		o.Counters = new(Counters)
	}
	if p.dir != "" {
		if o.FS == nil {
			o.FS = vfs.OS()
		}
		return openDir(p, o), nil
	}
	return openS3(p, o)
}

// place is where a bucket is: a directory, or a bucket of a store with a prefix.
type place struct {
	dir            string
	bucket, prefix string // the prefix is empty or ends in a slash
}

// String is the place as a URL.
func (p place) String() string {
	if p.dir != "" {
		return "file://" + p.dir
	}
	return "s3://" + strings.TrimSuffix(p.bucket+"/"+p.prefix, "/")
}

// parsePlace reads Options.URL. Its errors do not repeat a URL that may hold a password.
func parsePlace(text string) (place, error) {
	if text == "" {
		return place{}, errors.New("the URL of the bucket is empty")
	}
	if filepath.IsAbs(text) {
		return place{dir: filepath.Clean(text)}, nil
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "s3" && u.Scheme != "file" || u.Opaque != "":
		return place{}, errors.New("a bucket is s3://bucket/prefix, file:///directory, or the absolute path of one")
	case u.User != nil:
		return place{}, errors.New("the URL of a bucket holds no keys: set them by themselves")
	case u.RawQuery != "" || u.Fragment != "" || u.ForceQuery || u.RawPath != "":
		return place{}, errors.New("the URL of a bucket has no query, no fragment and no escapes")
	case u.Scheme == "file":
		if u.Host != "" || !filepath.IsAbs(u.Path) {
			return place{}, errors.New("a directory is file:///path, with three slashes")
		}
		return place{dir: filepath.Clean(u.Path)}, nil
	}
	if why := badBucket(u.Host); why != "" {
		return place{}, fmt.Errorf("bucket %q: %s", shorten(u.Host), why)
	}
	p := place{bucket: u.Host, prefix: strings.Trim(u.Path, "/")}
	if p.prefix != "" {
		if why := badName(p.prefix); why != "" {
			return place{}, fmt.Errorf("%s: the prefix %q: %s", u.Scheme+"://"+u.Host, shorten(p.prefix), why)
		}
		p.prefix += "/"
	}
	return p, nil
}

// badBucket says why no bucket can have a name; empty: it can.
func badBucket(name string) string {
	if len(name) < 3 || len(name) > 63 {
		return "the name of a bucket has 3 to 63 characters"
	}
	for i := range len(name) {
		c := name[i]
		alone := c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
		inner := (c == '-' || c == '.') && i > 0 && i < len(name)-1
		if !alone && !inner || c == '.' && name[i-1] == '.' {
			return "the name of a bucket has lower case letters, digits, and between them - and ."
		}
	}
	return ""
}

// parseEndpoint reads Options.Endpoint; an empty one is Amazon's.
func parseEndpoint(text string) (host string, secure bool, err error) {
	for _, name := range []string{"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"} {
		if text == "" {
			text = os.Getenv(name)
		}
	}
	if text == "" {
		return amazon, true, nil
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return "", false, errors.New("the endpoint of a store is http://host:port or https://host:port")
	case u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		return "", false, errors.New("the endpoint of a store has a host and a port only: no keys, path or query")
	}
	return u.Host, u.Scheme == "https", nil
}

// amazon is the endpoint of the store that needs none to be named.
const amazon = "s3.amazonaws.com"
