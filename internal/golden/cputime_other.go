//go:build !unix

package golden

import "time"

var processStart = time.Now()

// CPUTime is the time since the start, as processor time cannot be asked for.
func CPUTime() time.Duration { return time.Since(processStart) }
