// Package numpyrand draws the random numbers NumPy draws: same seed, same calls, same bits.
//
// It hides how a seed becomes a state (SeedSequence), how the state becomes words (PCG64) and, where most
// re-implementations part ways with NumPy, how words become numbers: which draws use a whole 64-bit output and
// which use half of one and keep the other half, when a range is rejected and redrawn, when nothing is drawn.
//
// Start with [Generator], NumPy's numpy.random.Generator over PCG64:
//
//	rng := numpyrand.NewGenerator(42)      // numpy.random.default_rng(42)
//	heading := rng.Uniform(0, 360)         // rng.uniform(0, 360)
//	level := levels[rng.Choice(10)]        // rng.choice(levels)
//
// A Generator is a plain value. Assignment copies the stream with its position, and == compares two of them, so a
// simulation that keeps its Generator in its state struct can be cloned and compared like any other state. Scalar
// draws and seeding from uint64 values do not allocate. A Generator is not safe for concurrent use; the zero value
// is not seeded and must not be drawn from.
//
// NumPy's array draws are its scalar draws in a row: rng.random(3) is three calls of Random, and likewise for
// integers of 32 or 64 bits, uniform and float32. Choosing several items is different, and has its own methods
// (ChoiceN, ChoiceDistinct and their weighted forms).
//
// # What goes wrong
//
// The scalar draws have no error to return. Arguments that describe no number at all, such as Integers(5, 5), are a
// mistake in the calling program and panic, as in math/rand; check numbers that come from outside before drawing.
// Choices that take a slice, NewSeedSequence and SetState return an error, and then nothing was drawn or changed.
//
// # What it does not do
//
// No distributions beyond uniform ones, no permutation or shuffle, no 8- and 16-bit integers (NumPy cuts those out
// of 32-bit words in its own way), no spawning of child sequences, no bit generator but PCG64. Not for secrets.
package numpyrand
