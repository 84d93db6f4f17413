package numpyrand_test

import (
	"fmt"
	"math/big"

	"skyrail/numpyrand"
)

// The same as in Python:
//
//	rng = numpy.random.default_rng(42)
//	print(rng.integers(2, 5), rng.uniform(0, 360), rng.choice([290, 302, 314]), rng.random())
func Example() {
	rng := numpyrand.NewGenerator(42)
	n := rng.Integers(2, 5)
	heading := rng.Uniform(0, 360)
	level := []int{290, 302, 314}[rng.Choice(3)]
	fmt.Println(n, heading, level, rng.Random())
	// Output: 2 157.99623831073885 314 0.8585979199113825
}

// A Generator is a value: the copy continues where the original was.
func ExampleGenerator() {
	rng := numpyrand.NewGenerator(7)
	rng.Random()
	clone := rng
	fmt.Println(clone == rng, clone.Choice(10) == rng.Choice(10))
	rng.Random()
	fmt.Println(clone == rng)
	// Output:
	// true true
	// false
}

// Seeds larger than 64 bits: numpy.random.Generator(PCG64(SeedSequence([0, 2**100]))).
func ExampleNewSeedSequence() {
	seq, err := numpyrand.NewSeedSequence(big.NewInt(0), new(big.Int).Lsh(big.NewInt(1), 100))
	if err != nil {
		fmt.Println(err)
		return
	}
	rng := numpyrand.New(seq)
	fmt.Println(rng.Random())
	// Output: 0.9512812107758845
}

// Five different items of a hundred: rng.choice(100, size=5, replace=False).
func ExampleGenerator_ChoiceDistinct() {
	rng := numpyrand.NewGenerator(42)
	picked := make([]int, 5)
	if err := rng.ChoiceDistinct(picked, 100, true); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(picked)
	// Output: [75 43 64 8 99]
}
