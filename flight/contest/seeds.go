package contest

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// The published list: DeriveSeeds(PublicSalt, PublicCount).
const (
	PublicSalt  = "rl-bootcamp-2026-public"
	PublicCount = 100
)

// DefaultHoldout is the share of the published seeds that the live board hides until the close.
const DefaultHoldout = 0.4

// MaxSeeds is the largest number of seeds a list, a trace or a solution may have.
const MaxSeeds = 100_000

// PublicSeeds returns the published seeds in their published order.
func PublicSeeds() []uint64 { return DeriveSeeds(PublicSalt, PublicCount) }

// DeriveSeeds returns the first count seeds of a salt: for i = 0, 1, … the first 8 bytes, big-endian, of
// the SHA-256 of "salt:i", modulo 2^31-1, repeats left out. count must be within 0..MaxSeeds.
func DeriveSeeds(salt string, count int) []uint64 {
	seeds := make([]uint64, 0, count)
	seen := make(map[uint64]bool, count)
	for i := 0; len(seeds) < count; i++ {
		sum := sha256.Sum256([]byte(salt + ":" + strconv.Itoa(i)))
		s := binary.BigEndian.Uint64(sum[:8]) % math.MaxInt32
		if !seen[s] {
			seen[s] = true
			seeds = append(seeds, s)
		}
	}
	return seeds
}

// Split sorts the seeds and parts them into the live half and the hidden one: hidden are the last
// round(holdout*count), a half rounded to even. holdout is within 0..1.
func Split(seeds []uint64, holdout float64) (live, hidden []uint64) {
	sorted := slices.Sorted(slices.Values(seeds))
	h := int(math.RoundToEven(holdout * float64(len(sorted))))
	return sorted[:len(sorted)-h], sorted[len(sorted)-h:]
}

// LineError is a fault of a text file, with the line it is on, counted from 1.
type LineError struct {
	Line int
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }
func (e *LineError) Unwrap() error { return e.Err }

var errByteOrderMark = errors.New("the file begins with a byte order mark; save it as plain UTF-8 without one")

var byteOrderMark = []byte("\ufeff")

// ReadSeeds reads a seed file: one integer a line, # begins a comment. A seed may not come twice, and there
// must be at least one. A fault of a line is a LineError.
func ReadSeeds(r io.Reader) ([]uint64, error) {
	var seeds []uint64
	lineOf := make(map[uint64]int)
	lines := bufio.NewScanner(r)
	n := 0
	for lines.Scan() {
		n++
		if n == 1 && bytes.HasPrefix(lines.Bytes(), byteOrderMark) {
			return nil, &LineError{n, errByteOrderMark}
		}
		text, _, _ := strings.Cut(lines.Text(), "#")
		text = strings.TrimSpace(text)
		if text == "" {
			continue
		}
		seed, err := ParseSeed(text)
		if err != nil {
			return nil, &LineError{n, err}
		}
		if first, ok := lineOf[seed]; ok {
			return nil, &LineError{n, fmt.Errorf("seed %d is already on line %d", seed, first)}
		}
		if len(seeds) == MaxSeeds {
			return nil, &LineError{n, fmt.Errorf("more than %d seeds", MaxSeeds)}
		}
		lineOf[seed] = n
		seeds = append(seeds, seed)
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, &LineError{n + 1, fmt.Errorf("longer than %d bytes; a line holds one seed", bufio.MaxScanTokenSize)}
	} else if err != nil {
		return nil, err
	}
	if len(seeds) == 0 {
		return nil, errors.New("no seed in it; a seed file has one integer a line")
	}
	return seeds, nil
}

// ParseSeed reads a seed: a whole number of 0 or more, in decimal digits, below 2^63 so that every tool
// can hold it.
func ParseSeed(text string) (uint64, error) {
	seed, err := strconv.ParseUint(text, 10, 63)
	if err == nil {
		return seed, nil
	}
	if v, ok := strings.CutPrefix(text, "-"); ok && onlyDigits(v) {
		return 0, fmt.Errorf("seed %s is negative", quote(text))
	}
	if errors.Is(err, strconv.ErrRange) {
		return 0, fmt.Errorf("seed %s is too large, the largest is %d", quote(text), int64(math.MaxInt64))
	}
	return 0, fmt.Errorf("%s is not a whole number", quote(text))
}

// quote shows foreign text in a message, cut to a readable length.
func quote(text string) string {
	const most = 40
	if r := []rune(text); len(r) > most {
		return strconv.Quote(string(r[:most])) + "…"
	}
	return strconv.Quote(text)
}

func onlyDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// WriteSeeds writes a seed file with comment lines on top.
func WriteSeeds(w io.Writer, seeds []uint64, comments ...string) error {
	b := bufio.NewWriter(w)
	for _, c := range comments {
		fmt.Fprintln(b, "#", c)
	}
	for _, s := range seeds {
		fmt.Fprintln(b, s)
	}
	return b.Flush()
}
