package client

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// Replace writes a small file whole or not at all, also where the machine stops meanwhile: it is that of before until
// it is all on the disk. One process at a time.
func Replace(name string, text []byte, mode os.FileMode) error {
	f, err := os.OpenFile(name+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return SyncDir(filepath.Dir(name))
}

// SyncDir makes names in a directory last.
func SyncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// HashFile is the size of a file and its SHA-256, in hexadecimal digits.
func HashFile(name string) (bytes int64, sum string, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, "", err
	}
	h := sha256.New()
	bytes, err = io.Copy(h, f)
	return bytes, hex.EncodeToString(h.Sum(nil)), errors.Join(err, f.Close())
}
