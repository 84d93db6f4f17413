// Package contests carries the competitions as files.
package contests

import _ "embed"

// ECML2026 is ecml-2026.yaml, the railway competition. Package rail/contest reads it.
//
//go:embed ecml-2026.yaml
var ECML2026 []byte
