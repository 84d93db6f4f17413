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
// Programs older than Generator, and those that kept to its stream, draw from [RandomState], NumPy's legacy stream over
// MT19937:
//
//	rng := numpyrand.NewRandomState(42)    // numpy.random.RandomState(42)
//	delay := rng.Randint(20, 51)           // rng.randint(20, 51)
//	cities := make([]int, 3)
//	err := rng.ChoiceDistinct(cities, 10)  // rng.choice(10, 3, replace=False)
//
// It is a value as well, of 2.5 KB, and made for simulations that save and load their stream (State, SetState) and
// that pass over far more numbers than they look at (Skip). What follows holds for both.
//
// NumPy's array draws are its scalar draws in a row: rng.random(3) is three calls of Random, and likewise for
// integers of 32 or 64 bits, uniform, float32, normal and Poisson numbers. Smaller integers are not (see FillRandint).
// Choosing several items is different, and has its own methods (ChoiceN, ChoiceDistinct and their weighted forms).
//
// # What goes wrong
//
// The scalar draws have no error to return. Arguments that describe no number at all, such as Integers(5, 5), are a
// mistake in the calling program and panic, as in math/rand; check numbers that come from outside before drawing.
// Choices that take a slice, NewSeedSequence, NewRandomStateFrom and SetState return an error, and then nothing was
// drawn or changed.
//
// # Which bits
//
// All are NumPy's, except for the normal and Poisson numbers of RandomState, where NumPy depends on the C library: see
// Gauss and Poisson. Those take their logarithm and exponential from internal/elementary, with the same bits on every
// platform.
//
// # What it does not do
//
// No distributions beyond uniform ones for Generator, normal and Poisson ones for RandomState; of permutations, shuffles
// and integers of 8 and 16 bits (which NumPy cuts out of words in its own way) only RandomState's; no spawning of child
// sequences; no bit generator but these two, and none but its own for each. Not for secrets.
package numpyrand
