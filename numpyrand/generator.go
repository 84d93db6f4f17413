package numpyrand

import (
	"errors"
	"fmt"
	"math"
	"math/big"
)

// Generator is NumPy's Generator over PCG64. Every method that draws says how much it takes from the stream, in
// 64-bit outputs or in words.
//
// A word is half an output. The first word drawn is the low half of a fresh output, the second is the high half,
// which waits until then: a 64-bit draw in between takes a fresh output and leaves the waiting half alone.
type Generator struct {
	pcg64 pcg64
	half  uint32 // NumPy's uinteger: the high half last put aside, also after it has been used
	kept  bool   // NumPy's has_uint32: half is waiting
}

// New is numpy.random.Generator(PCG64(seq)).
func New(seq *SeedSequence) Generator {
	var w [4]uint64
	seq.GenerateState64(w[:])
	return Generator{pcg64: newPCG64(uint128{w[0], w[1]}, uint128{w[2], w[3]})}
}

// NewGenerator is numpy.random.default_rng(seed).
func NewGenerator(seed uint64) Generator {
	seq := SeedSequenceOf(seed)
	return New(&seq)
}

// Uint64 takes one output and returns it: bit_generator.random_raw().
func (g *Generator) Uint64() uint64 { return g.pcg64.next() }

// Uint32 takes one word and returns it: NumPy's next_uint32, seen from Python as integers(0, 2**32, dtype=uint32).
func (g *Generator) Uint32() uint32 {
	if g.kept {
		g.kept = false
		return g.half
	}
	u := g.pcg64.next()
	g.half, g.kept = uint32(u>>32), true
	return uint32(u)
}

// Random is random(): one output, its top 53 bits as a fraction in [0, 1).
func (g *Generator) Random() float64 {
	return float64(g.pcg64.next()>>11) * (1.0 / (1 << 53)) // exact, so it may be fused with what the caller does
}

// Float32 is random(dtype=float32): one word, its top 24 bits as a fraction in [0, 1).
func (g *Generator) Float32() float32 {
	return float32(g.Uint32()>>8) * (1.0 / (1 << 24))
}

// Uniform is uniform(low, high): one output, also if low == high. The sum is rounded, so high itself can come out.
//
// It panics where NumPy raises: if high - low is negative (or -0), infinite or not a number.
func (g *Generator) Uniform(low, high float64) float64 {
	width := high - low
	if math.Signbit(width) || !(width <= math.MaxFloat64) {
		panic(fmt.Sprintf("numpyrand: Uniform(%v, %v): high - low must be a finite number, not negative", low, high))
	}
	return low + float64(width*g.Random())
}

// PCG64State is what NumPy keeps in bit_generator.state, under the same names.
type PCG64State struct {
	State, Inc *big.Int // of 128 bits
	HasUint32  bool     // whether Uinteger waits to be the next word
	Uinteger   uint32   // NumPy leaves the old value here once it is used, and so does Generator
}

// State returns a copy of the state. SetState of it, here or in NumPy, continues the stream from here.
func (g *Generator) State() PCG64State {
	return PCG64State{g.pcg64.state.big(), g.pcg64.inc.big(), g.kept, g.half}
}

// SetState replaces the state. It is an error, and changes nothing, if State or Inc is nil, negative or longer than
// 128 bits, or if Inc is even, which no seed leads to.
func (g *Generator) SetState(s PCG64State) error {
	for _, v := range []struct {
		name string
		v    *big.Int
	}{{"state", s.State}, {"inc", s.Inc}} {
		if v.v == nil || v.v.Sign() < 0 || v.v.BitLen() > 128 {
			return fmt.Errorf("pcg64 %s is %v, not an unsigned integer of 128 bits", v.name, v.v)
		}
	}
	if s.Inc.Bit(0) == 0 {
		return errors.New("pcg64 inc is even: only odd increments make a full stream")
	}
	*g = Generator{pcg64{uint128Of(s.State), uint128Of(s.Inc)}, s.Uinteger, s.HasUint32}
	return nil
}

// Advance is bit_generator.advance(delta): as if delta outputs had been taken, backwards if delta is negative
// (modulo the period of 2^128). A waiting half is dropped, also if delta is 0.
func (g *Generator) Advance(delta *big.Int) {
	g.pcg64.advance(uint128Of(delta))
	g.half, g.kept = 0, false
}
