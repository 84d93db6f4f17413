package contest

import (
	"context"
	"testing"

	"skyrail/flight"
	"skyrail/flight/agent"
)

// BenchmarkCompare100 is the published board: three agents over the 100 published seeds, one episode after the
// other.
func BenchmarkCompare100(b *testing.B) {
	seeds := PublicSeeds()
	b.ReportAllocs()
	for b.Loop() {
		for _, name := range agent.Names() {
			if _, err := Run(context.Background(), flight.DefaultConfig(), seeds, 1, fresh(name), nil); err != nil {
				b.Fatal(err)
			}
		}
	}
}
