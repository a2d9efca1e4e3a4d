package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"varve/bench/client"
	"varve/bench/fleet"
	"varve/bench/process"
)

// The set churn: -rows active series of six labels besides the name, with a sample every minute (or -duration) for an
// hour, a tenth of which are replaced every ten minutes. It tells what they take of memory and how long a query over
// one of them takes.
const (
	churnSet     = "churn"
	churnMinutes = 60
	churnEvery   = 10 // minutes
	churnShare   = 10 // a tenth
	churnAsks    = 9
)

// churn is the series at one time.
type churn struct {
	labels [][]byte // of each series, as messages have them
	made   int      // series ever
}

// podsOf is the number of series of a pod.
const podsOf = 50

func (c *churn) label(i int) []byte {
	pod := i / podsOf
	return fleet.Labels("__name__", "pod_metric_"+strconv.Itoa(i%podsOf), "pod", "pod-"+strconv.Itoa(pod), "instance",
		"10."+strconv.Itoa(pod>>8&255)+"."+strconv.Itoa(pod&255)+".7:8080",
		"job", "job-"+strconv.Itoa(pod%40), "namespace", "ns-"+strconv.Itoa(pod%97), "node",
		"node-"+strconv.Itoa(pod%500), "container", "main")
}

// replace replaces some series, whole pods at a time, by new ones.
func (c *churn) replace(from, to int) {
	for i := from; i < to; i++ {
		c.labels[i] = c.label(c.made)
		c.made++
	}
}

// runChurn writes the set and prints what it cost, minute by minute.
func runChurn(ctx context.Context, o *options) error {
	t, err := target(ctx, o, strings.Split(o.sync, ",")[0])
	if err != nil {
		return err
	}
	err = t.churn(ctx, o)
	return errors.Join(err, t.close())
}

func (t *measured) churn(ctx context.Context, o *options) error {
	active := int(o.rows)
	c := &churn{labels: make([][]byte, active)}
	c.replace(0, active)
	end := time.Now().Truncate(time.Minute)
	last := end // sample
	fmt.Printf(
		"\n%s, commit %s, churn of %d series\n\n| minute | series ever | samples/s | server CPU us a sample | "+
			"anonymous memory MB | with files MB | one series ms: first, then |\n|---|---|---|---|---|---|---|\n",
		time.Now().UTC().Format(time.DateOnly), commit(), active)
	step := max(1, int(o.duration/time.Minute))
	for minute := 0; minute < churnMinutes; minute += step {
		if minute > 0 && minute%churnEvery == 0 {
			from := (minute/churnEvery - 1) % churnShare * active / churnShare
			c.replace(from, from+active/churnShare)
		}
		start, cpu := time.Now(), t.cpu()
		at := end.Add(time.Duration(minute-churnMinutes+1) * time.Minute)
		last = at
		if err := c.send(ctx, t.url, o.connections, at.UnixMilli()); err != nil {
			return err
		}
		took, used := time.Since(start), t.cpu()-cpu
		if minute%churnEvery != 0 {
			continue
		}
		first, then, err := t.oneSeries(ctx, c, at)
		if err != nil {
			return err
		}
		anon, err := process.AnonRSS(t.pid)
		if err != nil {
			return err
		}
		rss, err := process.RSS(t.pid)
		if err != nil {
			return err
		}
		fmt.Printf("| %d | %d | %.0f | %.2f | %.0f | %.0f | %s, %s |\n", minute, c.made, float64(active)/took.Seconds(),
			used.Seconds()*1e6/float64(active),
			float64(anon)/1e6, float64(rss)/1e6, millis(first), millis(then))
	}
	for _, admin := range []string{"flush_table", "compact_table"} {
		if _, err := client.SQL(ctx, t.url, "public", "ADMIN "+admin+"('service_physical_table')"); err != nil {
			return err
		}
		first, then, err := t.oneSeries(ctx, c, last)
		if err != nil {
			return err
		}
		fmt.Printf("\nAfter %s: one series %s ms, then %s.\n", admin, millis(first), millis(then))
	}
	return t.afterStart(ctx, c, last)
}

// afterStart stops and starts a server of our own and asks at once.
func (t *measured) afterStart(ctx context.Context, c *churn, last time.Time) error {
	if t.started == nil {
		return nil
	}
	if err := t.started.Stop(stopLimit); err != nil {
		return err
	}
	begun := time.Now()
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	s, err := process.Start(ctx,
		process.Options{Binary: t.binary, Dir: t.dir, Args: []string{"--set", "init_regions_in_background=false"}})
	if err != nil {
		return err
	}
	t.started, t.url, t.pid = s, s.URL, s.PID()
	started := time.Since(begun)
	first, then, err := t.oneSeries(ctx, c, last)
	if err != nil {
		return err
	}
	rss, err := process.AnonRSS(t.pid)
	fmt.Printf("\nAfter a start of %s ms: one series %s ms, then %s; anonymous memory %.0f MB.\n", millis(started),
		millis(first), millis(then), float64(rss)/1e6)
	return err
}

// send writes a sample to each series.
func (c *churn) send(ctx context.Context, base string, connections int, ms int64) error {
	var wg sync.WaitGroup
	errs := make([]error, connections)
	for k := range connections {
		wg.Go(func() {
			errs[k] = c.sendPart(ctx, base, k*len(c.labels)/connections, (k+1)*len(c.labels)/connections, ms)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (c *churn) sendPart(ctx context.Context, base string, from, to int, ms int64) error {
	conn, err := client.Dial(base)
	if err != nil {
		return err
	}
	var message, body []byte
	for i := from; i < to; i += fleetSeries {
		message = message[:0]
		for k := i; k < min(to, i+fleetSeries); k++ {
			message = fleet.AppendSeries(message, c.labels[k], float64(ms%1000+int64(k%7)), ms)
		}
		body = fleet.Compress(body[:cap(body)], message)
		for {
			status, answer, err := conn.Post("/v1/metricsapi/write", "application/x-protobuf",
				"Content-Encoding: snappy\r\n", body, time.Now().Add(startLimit))
			if err != nil || ctx.Err() != nil {
				return errors.Join(err, ctx.Err())
			}
			if status == 503 { // no room for a moment
				fmt.Fprintf(os.Stderr, "sent again: %.200s\n", answer)
				continue
			}
			if status != 204 {
				return fmt.Errorf("remote write: HTTP %d: %.300s", status, answer)
			}
			break
		}
	}
	return nil
}

// oneSeries asks for one series by its metric and pod some times: how long the first took, and the median of the
// others.
func (t *measured) oneSeries(ctx context.Context, c *churn, at time.Time) (first, then time.Duration, err error) {
	var took []time.Duration
	for i := range churnAsks {
		pod := (c.made - 1 - i) / podsOf
		expr := fmt.Sprintf(`pod_metric_7{pod="pod-%d"}`, pod)
		start := time.Now()
		body, err := fetch(ctx, t.url+"/v1/metricsapi/api/v1/query?"+
			url.Values{"query": {expr}, "time": {strconv.FormatInt(at.Unix(), 10)}}.Encode())
		if err != nil {
			return 0, 0, err
		}
		took = append(took, time.Since(start))
		if n, err := rowsOf(body); err != nil || n != 1 {
			return 0, 0, fmt.Errorf("%s: %d series, want 1: %w", expr, n, err)
		}
	}
	first = took[0]
	slices.Sort(took[1:])
	return first, took[len(took)/2], nil
}
