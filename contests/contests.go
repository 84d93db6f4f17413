// Package contests carries the competitions as files.
package contests

import _ "embed"

// ECML2026 is ecml-2026.yaml, the railway competition. Package rail/contest reads it.
//
//go:embed ecml-2026.yaml
var ECML2026 []byte

// ECML2026Map is the public map of the railway competition, a gzipped JSON that generate.ReadMap reads: the grid,
// overpasses and stations of the published scene without its lines, and the regions of each station.
//
// The regions of the 25 cities are those of the starter kit's stations.pkl, whose cities are the stations with more than
// one platform cell, by their ids. A border belongs to the regions whose trains end there in the published scene.
// `go test ./rail/generate -run PublicMap -update-map` makes the file of these two.
//
//go:embed ecml-2026-map.json.gz
var ECML2026Map []byte
