// Package railfile reads and writes the files of the railway challenge.
//
// An [Environment] is an environment file of Flatland, of any age: a pickle, MessagePack or the JSON of a scene, told apart
// by the content and never executed. [ReadEnvironment] reads one, [Environment.Open] makes a [rail.Env] of it, and
// [SaveEnvironment] writes one that flatland-rl 4.2.5 loads. A [RailProduct], [LineProduct], [TimetableProduct] and
// [Stations] are what its generators keep beside it; [ReadProduct] reads any of them.
//
// A [TrajectoryDir] holds what happened in an episode: tables of actions, positions, rewards and results, and the
// environment before the first step. Tables are read as they are, nothing merged or sorted, so that a verifier sees every row; a
// [Recorder] writes them, byte for byte as flatland-rl does.
//
// A [Scene] is a drawing of a railway with its timetables, and [SceneOf] makes one of a scenario. [Metadata] says which
// scenarios are made of it, and a [Run] is a row of the metadata of the older benchmarks.
//
//	file, err := railfile.ReadEnvironment(data)
//	env, err := file.Open(nil, rail.ECML2026Rewards())
//
// Files come from strangers. What is read is bounded, and an error names the place: agents[3].speed_counter, or file, line
// and column. docs/rail-files.md describes the formats. The package does not judge what it reads; rail/contest does.
package railfile
