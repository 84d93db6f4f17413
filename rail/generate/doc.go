// Package generate makes railways, lines, timetables and whole competitions from a seed.
//
// [Environment] is flatland-rl's env_generator: the same parameters and the same seed give the same railway, trains,
// timetable and random stream, and [Regenerate] is the reset of such an environment. What it puts together can be had by
// itself: [SparseRail] lays tracks between cities, [SparseLine] sends trains from city to city, [Timetable] says when.
// [Levels] is the generator of the Flatland competition, which derives scenarios from a drawn scene, and [Sampling] that
// of its starter kit.
//
//	p := generate.DefaultParameters()
//	p.Seed = 42
//	env, err := generate.Environment(p)
//
// Everything is that of flatland-rl 4.2.5, down to the order in which random numbers are drawn and in which equal things
// are taken; where the code keeps an oddity of it on purpose, the comment says quirk. What the competition's organisers
// did not publish is ours, and says so: [SuiteScene], [SuiteMetadata] and [Closures].
//
// The package does not run episodes, and of files it reads none but a suite's map ([ReadMap]); for the others there is
// rail/railfile.
package generate
