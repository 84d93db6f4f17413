// Package python carries the Python side of Skyrail inside the binary: the worker that hosts a team's code, the contract
// suite, the modules that submissions import by name, and the starter folder.
//
//	starter, err := fs.Sub(python.Files, "skyrail/starter")
//
// It holds bytes and knows nothing of what they mean: writing them out and starting Python is for its callers.
package python

import "embed"

// Files has the folder skyrail as it is in the repository: modules at its top, rail (what flatland-rl looks for by name),
// stock (envs, agents, policies, competition: what goes on a team's import path behind the team's own folder) and starter
// (what a team begins with, beside a copy of stock). No byte code, no tests, and not flight, which needs libskyrail.
//
//go:embed skyrail/*.py skyrail/py.typed
//go:embed skyrail/rail/*.py
//go:embed skyrail/stock/*/*.py
//go:embed skyrail/starter/*.* skyrail/starter/*/*.py
var Files embed.FS
