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
	"sync"

	"golang.org/x/sync/errgroup"

	"skyrail/flight"
	"skyrail/flight/contest"
)

// Record is a line of a results file: a result, and what it is the result of. With the same key it need not be
// found again.
type Record struct {
	Key    string        `json:"key"` // hash of the zip, the seeds, the scenario and what the organiser chose
	Result Result        `json:"result"`
	Total  contest.Score `json:"total"`
}

// maxRecord bounds a line of a results file.
const maxRecord = 1 << 20

// ReadRecords reads a results file, by key. A last line without an end is that of a run that was cut off, and is left
// out.
func ReadRecords(r io.Reader) (map[string]Record, error) {
	records := make(map[string]Record)
	lines := bufio.NewReaderSize(r, maxRecord)
	for n := 1; ; n++ {
		line, err := lines.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF):
			return records, nil
		case errors.Is(err, bufio.ErrBufferFull):
			return nil, fmt.Errorf("line %d is longer than %d bytes; it is no results file", n, maxRecord)
		case err != nil:
			return nil, err
		}
		var rec Record
		if err := json.Unmarshal(line, &rec); err != nil {
			return nil, fmt.Errorf("line %d: %w; it is no results file", n, err)
		}
		if rec.Key == "" {
			return nil, fmt.Errorf("line %d has no key; it is no results file", n)
		}
		rec.Result.Total = rec.Total
		records[rec.Key] = rec
	}
}

// WriteRecord writes a line of a results file.
func WriteRecord(w io.Writer, r Record) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// ScoreAll scores zips, up to jobs at once, each in a cage of its own, and returns the records in the order of the
// zips. What known has is not found again. save, if not nil, is called with each record once it is there, by one
// goroutine at a time. flown is called after each episode.
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
			if err != nil {
				return err
			}
			if rec, ok := known[key]; ok {
				rec.Result.Zip = zip
				records[i] = rec
				return nil
			}
			result, err := h.Score(ctx, zip, cfg, seeds, flown)
			if err != nil {
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

// key is the same for what would give the same result.
func (h *Harness) key(zip string, cfg flight.Config, seeds []uint64) (string, error) {
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
	choices, err := json.Marshal([]any{contest.ScoreVersion, cfg, seeds, s.Contract, s.OnFailure, s.Isolation, s.Zip, s.Run})
	if err != nil {
		return "", err
	}
	sum.Write(choices)
	return hex.EncodeToString(sum.Sum(nil)), nil
}
