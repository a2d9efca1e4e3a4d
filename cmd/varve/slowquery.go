package main

import (
	"varve/engine"
	"varve/server/read/slowquery"
	"varve/sqlexec"
)

// slowQueries is what keeps slow statements; nil: nothing does.
func (c *Config) slowQueries(store *engine.Engine, logs *logs) *slowquery.Recorder {
	q := &c.SlowQuery
	if !q.Enable {
		return nil
	}
	if q.RecordType == "log" {
		store = nil
	}
	return slowquery.New(slowquery.Options{Store: store, TTL: q.TTL, Threshold: q.Threshold, Ratio: q.SampleRatio,
		Logger: logs.logger("server/slowquery")})
}

// ended is who is told of statements that are over; nil: nobody is.
func ended(r *slowquery.Recorder) func(sqlexec.Ended) {
	if r == nil {
		return nil
	}
	return r.Ended
}
