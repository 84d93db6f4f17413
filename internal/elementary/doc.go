// Package elementary has the elementary functions of the simulators, of the
// networks of their agents and of the random streams: sine and cosine, the
// exponential and the logarithm, the hyperbolic tangent and its inverse, and the
// length of a vector, with the same bits on every platform Go supports.
//
// It hides how that is done. Go's math package promises neither accuracy nor
// sameness: some of its functions are assembly on some processors, and the
// compiler may fuse a product and a sum on arm64 and others. Here everything is
// made of single roundings (and, in the rare undecided case, of integers), in
// one order, with no product left to fuse.
//
//	sin, cos := elementary.SinCos(heading * 0.017453292519943295)
//
// # Accuracy
//
// An ulp is the distance of two neighbouring float64s at the result; 0.5 ulp is
// the best any function can promise, and correct rounding means always the
// nearest float64. The largest errors were found by comparing some hundred
// thousand random and chosen inputs with math/big at 320 bits; the tests repeat
// a part of that, and pin the bits of many results.
//
//	SinCos  correctly rounded for every finite argument, by construction: a
//	        result too near a midpoint for the error bound of the fast path is
//	        decided with as many bits as it takes
//	Hypot   correctly rounded, by construction: what the square of a result
//	        lacks of x^2 + y^2, in integers, decides; exact ties and subnormal
//	        results too
//	Log     correctly rounded for every argument, by construction, as SinCos is
//	Exp     within 0.52 ulp (largest found: 0.513)
//	Tanh    within 0.55 ulp (largest found: 0.527); x itself for |x| < 2^-28
//	Atanh   within 0.55 ulp (largest found: 0.521); x itself for |x| < 2^-28
//
// # What it does not do
//
// It has no other functions, no degrees, no float32 and no vectors of arguments,
// and raises no floating-point flags. Exp, Tanh and Atanh are not correctly
// rounded: up to one result in 400 is the second nearest float64. SinCos is slow
// (microseconds, with allocations) beyond |r| = 8, where no heading lies; so are
// the undecided cases of SinCos and Log, and Hypot right below powers of two and
// of numbers below 2^-1020.
package elementary
