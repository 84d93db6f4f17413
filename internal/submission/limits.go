package submission

import "fmt"

// Limits bound what a submission may cost. All of them are inclusive.
type Limits struct {
	MaxZipBytes      int64 // size of the zip itself
	MaxFiles         int   // entries, folders and ignored ones included
	MaxBytes         int64 // sum of the unpacked sizes
	MaxFileBytes     int64 // unpacked size of one file
	MaxRatio         int64 // unpacked bytes for each packed byte; not applied up to 1 MiB unpacked
	MaxDepth         int   // components of a name
	MaxManifestBytes int64 // size of submission.yaml
}

// DefaultLimits leave room for large Stable-Baselines3 checkpoints: 200 MiB packed, 500 MiB unpacked.
func DefaultLimits() Limits {
	return Limits{
		MaxZipBytes:      200 << 20,
		MaxFiles:         2000,
		MaxBytes:         500 << 20,
		MaxFileBytes:     200 << 20,
		MaxRatio:         100,
		MaxDepth:         12,
		MaxManifestBytes: 64 << 10,
	}
}

// ratioFloor is the unpacked size up to which any ratio will do: a small file of zeros is honest and harmless.
const ratioFloor = 1 << 20

// bounds are what a limit can be at most. Four-byte offsets must reach everywhere in the zip, and the list of
// entries and the manifest are held in memory.
var bounds = Limits{
	MaxZipBytes:      1<<32 - 2,
	MaxFiles:         100_000,
	MaxBytes:         1 << 40,
	MaxFileBytes:     1 << 40,
	MaxRatio:         10_000,
	MaxDepth:         100,
	MaxManifestBytes: 1 << 20,
}

// Validate returns an error that names the first limit that makes no sense.
func (l Limits) Validate() error {
	for _, x := range []struct {
		name       string
		value, max int64
	}{
		{"MaxZipBytes", l.MaxZipBytes, bounds.MaxZipBytes},
		{"MaxFiles", int64(l.MaxFiles), int64(bounds.MaxFiles)},
		{"MaxBytes", l.MaxBytes, bounds.MaxBytes},
		{"MaxFileBytes", l.MaxFileBytes, bounds.MaxFileBytes},
		{"MaxRatio", l.MaxRatio, bounds.MaxRatio},
		{"MaxDepth", int64(l.MaxDepth), int64(bounds.MaxDepth)},
		{"MaxManifestBytes", l.MaxManifestBytes, bounds.MaxManifestBytes},
	} {
		if x.value < 1 || x.value > x.max {
			return fmt.Errorf("submission limits: %s is %d; choose a value in 1..%d", x.name, x.value, x.max)
		}
	}
	if l.MaxFileBytes > l.MaxBytes {
		return fmt.Errorf("submission limits: MaxFileBytes is %d, more than MaxBytes, %d; lower it", l.MaxFileBytes, l.MaxBytes)
	}
	return nil
}

// byteCount writes a size for people.
func byteCount(n int64) string {
	for _, u := range []struct {
		name string
		size int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= u.size {
			return fmt.Sprintf("%.4g %s", float64(n)/float64(u.size), u.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}
