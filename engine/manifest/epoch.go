package manifest

import (
	"encoding/json"
	"errors"
	"time"
)

// Epoch says who uses a prefix of a bucket. Each start of a server creates the next one, which no two can: the last one
// counts.
type Epoch struct {
	Number uint64    `json:"epoch"`
	ID     string    `json:"id"` // random; the data directory knows its own
	Store  string    `json:"store"`
	Host   string    `json:"host"`
	Dir    string    `json:"dir"` // the data directory
	Began  time.Time `json:"began"`
	// Standing is the epoch of the store among a server and its standbys: one that took the store over has a greater.
	Standing uint64 `json:"standing,omitempty"`
}

// Encode returns the bytes of the object.
func (e *Epoch) Encode() ([]byte, error) { return json.Marshal(e) }

// DecodeEpoch reads what Encode gave.
func DecodeEpoch(b []byte) (*Epoch, error) {
	e := new(Epoch)
	if err := json.Unmarshal(b, e); err != nil {
		return nil, err
	}
	if e.ID == "" || e.Number == 0 {
		return nil, errors.New("it is no epoch: it lacks a number or an id")
	}
	return e, nil
}

// OwnEpochs are the epochs of a data directory.
type OwnEpochs struct {
	Last uint64   `json:"last"` // number of the last one
	IDs  []string `json:"ids"`  // of the last ones; of those, any may have come to the bucket
}

// Encode returns the bytes of the file.
func (o *OwnEpochs) Encode() ([]byte, error) { return json.Marshal(o) }

// DecodeOwnEpochs reads what Encode gave.
func DecodeOwnEpochs(b []byte) (o OwnEpochs, err error) { return o, json.Unmarshal(b, &o) }
