package parts

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// The objects of a bucket, below its prefix:
//
//	parts/STORE/NUMBER-RANDOM.part    the whole of a cold part
//	manifests/STORE/EPOCH-EDIT        the manifest after an edit
//	epochs/EPOCH                      who uses the prefix since, see manifest.Epoch
//
// EPOCH and EDIT have as many digits as there can be, so that names are listed in the order of their numbers. No name
// is ever used twice.
const (
	// objectsPrefix begins the names of the parts of all stores.
	objectsPrefix   = DirName + "/"
	manifestsPrefix = "manifests/"
	// EpochPrefix begins the names of the epochs.
	EpochPrefix = "epochs/"
)

// ObjectPrefix begins the names of the objects of a store, which it alone removes. A store that was made of a backup
// reads those of another store as well.
func ObjectPrefix(store string) string { return objectsPrefix + store + "/" }

// NewObject is a name for the object of a part, which no object ever had: a manifest that was made anew, or is an old
// copy, may give out the number of a part again.
func NewObject(store string, file uint64) string {
	var b [6]byte
	rand.Read(b[:]) //nolint:errcheck // it never fails
	return fmt.Sprintf("%s%0*d-%s%s", ObjectPrefix(store), digits, file, hex.EncodeToString(b[:]), suffix)
}

// IsOwn reports whether an object is one of a store.
func IsOwn(store, object string) bool {
	return store != "" && strings.HasPrefix(object, ObjectPrefix(store))
}

// ManifestPrefix begins the names of the manifests of a store; of all stores if it is empty.
func ManifestPrefix(store string) string {
	if store == "" {
		return manifestsPrefix
	}
	return manifestsPrefix + store + "/"
}

// ManifestObject is the name of the manifest of a store after an edit that was made in an epoch.
func ManifestObject(store string, epoch, edit uint64) string {
	return fmt.Sprintf("%s%020d-%020d", ManifestPrefix(store), epoch, edit)
}

// StoreOfManifest is the store whose manifest an object is.
func StoreOfManifest(object string) (store string, ok bool) {
	rest, ok := strings.CutPrefix(object, manifestsPrefix)
	if !ok {
		return "", false
	}
	store, _, ok = strings.Cut(rest, "/")
	return store, ok && store != ""
}

// EpochObject is the name of an epoch.
func EpochObject(epoch uint64) string { return fmt.Sprintf("%s%020d", EpochPrefix, epoch) }

// EpochOf is the number of the epoch that an object is.
func EpochOf(object string) (epoch uint64, ok bool) {
	number, ok := strings.CutPrefix(object, EpochPrefix)
	if !ok {
		return 0, false
	}
	epoch, err := strconv.ParseUint(number, 10, 64)
	return epoch, err == nil && EpochObject(epoch) == object
}
