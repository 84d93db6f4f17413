package ingest

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"skyrail/flight"
	"skyrail/flight/contest"
	"skyrail/internal/pyworker"
	"skyrail/internal/submission"
)

// Record is a line of a results file: a result, and what it is the result of. With the same key it need not be
// found again.
type Record struct {
	Key    string        `json:"key"` // hash of the zip, its name, the seeds, the scenario and what the organiser chose
	Result Result        `json:"result"`
	Total  contest.Score `json:"total"`
}

// maxRecord bounds a line of a results file. A result is some kilobytes long, and has a line for each failed episode.
const maxRecord = 16 << 20

// recordBegins is how every line of a results file begins.
const recordBegins = `{"key":"`

// ReadRecords reads a results file, by key, and returns how much of it is whole records, the last of which may lack the
// end of its line. What comes after is a record that a run was cut off in; if it cannot be that, the file is something
// else, which is an error.
func ReadRecords(r io.Reader) (records map[string]Record, whole int64, err error) {
	records = make(map[string]Record)
	lines := bufio.NewReaderSize(r, maxRecord)
	for n := 1; ; n++ {
		line, err := lines.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF):
			var rec Record
			if json.Unmarshal(line, &rec) == nil && rec.Key != "" { // whole, but for its end
				rec.Result.Total = rec.Total
				records[rec.Key] = rec
				return records, whole + int64(len(line)), nil
			}
			if begins := min(len(line), len(recordBegins)); string(line[:begins]) != recordBegins[:begins] {
				return nil, 0, fmt.Errorf("line %d is none of a results file", n)
			}
			return records, whole, nil
		case errors.Is(err, bufio.ErrBufferFull):
			return nil, 0, fmt.Errorf("line %d is longer than %d bytes; it is no results file", n, maxRecord)
		case err != nil:
			return nil, 0, err
		}
		var rec Record
		if err := json.Unmarshal(line, &rec); err != nil {
			return nil, 0, fmt.Errorf("line %d: %w; it is no results file", n, err)
		}
		if rec.Key == "" {
			return nil, 0, fmt.Errorf("line %d has no key; it is no results file", n)
		}
		rec.Result.Total = rec.Total
		records[rec.Key] = rec // a later line is of a later run
		whole += int64(len(line))
	}
}

// WriteRecord writes a line of a results file.
func WriteRecord(w io.Writer, r Record) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if len(line) >= maxRecord {
		return fmt.Errorf("the result of %s has %d bytes, more than a results file takes", r.Result.Zip, len(line))
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// ScoreAll scores zips, up to jobs at once, each in a cage of its own, and returns the records in the order of the
// zips. What known has is not found again, unless it depends on the machine. save, if not nil, is called with each
// record once it is there, by one goroutine at a time. flown is called after each episode.
func (h *Harness) ScoreAll(ctx context.Context, zips []string, cfg flight.Config, seeds []uint64, jobs int, known map[string]Record, save func(Record) error, flown func()) ([]Record, error) {
	records := make([]Record, len(zips))
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(jobs, 1))
	for i, zip := range zips {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			key, err := h.key(zip, cfg, seeds)
			if err != nil { // not a file, or not for us to read: there is nothing to remember
				records[i] = unreadable(zip, err)
				return nil
			}
			if rec, ok := known[key]; ok && !dependsOnMachine(rec.Result) {
				rec.Result.Zip = zip
				records[i] = rec
				return nil
			}
			result, err := h.Score(ctx, zip, cfg, seeds, flown)
			if err != nil {
				if _, gone := os.Stat(zip); gone != nil { // since it was looked at
					records[i] = unreadable(zip, gone)
					return nil
				}
				return fmt.Errorf("%s: %w", zip, err)
			}
			records[i] = Record{key, result, result.Total}
			if save == nil {
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			return save(records[i])
		})
	}
	return records, group.Wait()
}

// unreadable is the record of what is called a zip and cannot be read.
func unreadable(zip string, err error) Record {
	return Record{Result: Result{
		Zip: zip, Warnings: []string{}, Code: string(submission.ZipUnreadable), Error: err.Error(),
		Hint: "look at the file",
	}}
}

// dependsOnMachine reports whether a result can be another in the next run: with another Python, or on a day with less to
// do.
func dependsOnMachine(r Result) bool {
	codes := []string{r.Code}
	for _, f := range r.Failures {
		codes = append(codes, f.Code)
	}
	return slices.ContainsFunc(codes, func(code string) bool {
		switch pyworker.Code(code) {
		case pyworker.MissingPackage, pyworker.StartTime, pyworker.DecisionTime, pyworker.EpisodeTime, pyworker.SubmissionTime, pyworker.CPU:
			return true
		}
		return false
	})
}

// key is the same for what would give the same result.
func (h *Harness) key(zip string, cfg flight.Config, seeds []uint64) (string, error) {
	info, err := os.Stat(zip)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait for a writer
		return "", fmt.Errorf("%s is not a file", zip)
	}
	sum := sha256.New()
	f, err := os.Open(zip)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if _, err := io.Copy(sum, f); err != nil {
		return "", fmt.Errorf("read %s: %w", zip, err)
	}
	s := h.settings
	choices, err := json.Marshal([]any{filepath.Base(zip), contest.ScoreVersion, cfg, seeds, s.Contract, s.OnFailure, s.Isolation, s.Zip, s.Run})
	if err != nil {
		return "", err
	}
	sum.Write(choices)
	return hex.EncodeToString(sum.Sum(nil)), nil
}
