package numpyrand

import (
	"math/big"
	"math/bits"
)

// pcg64 is Melissa O'Neill's PCG XSL RR 128/64, which NumPy calls PCG64: a 128-bit linear congruential generator
// (state = state*pcgMultiplier + inc) whose output folds the state into 64 bits and rotates it.
type pcg64 struct {
	state, inc uint128 // inc is odd
}

var pcgMultiplier = uint128{0x2360ed051fc65da4, 0x4385df649fccf645}

// newPCG64 starts the stream numbered sequence (its top bit is lost) at the given place.
func newPCG64(place, sequence uint128) pcg64 {
	inc := uint128{sequence.hi<<1 | sequence.lo>>63, sequence.lo<<1 | 1}
	p := pcg64{state: inc.add(place), inc: inc}
	p.next()
	return p
}

// next steps and gives the output of the new state.
func (p *pcg64) next() uint64 {
	p.state = p.state.mul(pcgMultiplier).add(p.inc)
	return bits.RotateLeft64(p.state.hi^p.state.lo, -int(p.state.hi>>58))
}

// advance moves the state by delta steps in at most 128 squarings: a step is an affine map x*mult + plus, and so is
// any number of them.
func (p *pcg64) advance(delta uint128) {
	mult, plus := pcgMultiplier, p.inc // 1, 2, 4, … steps
	for ; delta != (uint128{}); delta = (uint128{delta.hi >> 1, delta.hi<<63 | delta.lo>>1}) {
		if delta.lo&1 == 1 {
			p.state = p.state.mul(mult).add(plus)
		}
		plus = plus.mul(mult).add(plus)
		mult = mult.mul(mult)
	}
}

// uint128 is an unsigned integer modulo 2^128.
type uint128 struct {
	hi, lo uint64
}

func (a uint128) add(b uint128) uint128 {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	hi, _ := bits.Add64(a.hi, b.hi, carry)
	return uint128{hi, lo}
}

func (a uint128) mul(b uint128) uint128 {
	hi, lo := bits.Mul64(a.lo, b.lo)
	return uint128{hi + a.hi*b.lo + a.lo*b.hi, lo}
}

func (a uint128) big() *big.Int {
	v := new(big.Int).SetUint64(a.hi)
	return v.Lsh(v, 64).Or(v, new(big.Int).SetUint64(a.lo))
}

// uint128Of takes v modulo 2^128; a negative v counts down from 2^128.
func uint128Of(v *big.Int) uint128 {
	mask := new(big.Int).SetUint64(^uint64(0))
	lo := new(big.Int).And(v, mask) // big.Int's And and Rsh treat a negative number as two's complement
	hi := new(big.Int).Rsh(v, 64)
	return uint128{hi.And(hi, mask).Uint64(), lo.Uint64()}
}
