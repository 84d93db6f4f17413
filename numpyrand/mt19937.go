package numpyrand

import "math"

// mt19937 is Makoto Matsumoto and Takuji Nishimura's Mersenne Twister (ACM TOMACS 8, 1998): a block of 624 words,
// each of which is tempered into one word of output; when all are used, a twist makes the next block out of it.
//
// The twist is put off until a word of the new block is asked for, as NumPy does. So are all twists for words that
// are passed over: at simply counts on beyond the block.
type mt19937 struct {
	block [blockWords]uint32
	at    uint64 // of the next word, counted from the start of block
	peek  peek
}

const (
	blockWords = 624
	farWord    = 397 // the distance of the third word that a twist reads

	// The seed that the array form starts from, where every bit has been touched before the array comes in.
	arraySeed = 19650218
)

// mtFromSeed is NumPy's and the 2002 reference's init_genrand.
func mtFromSeed(seed uint32) mt19937 {
	m := mt19937{at: blockWords}
	m.block[0] = seed
	for i := 1; i < blockWords; i++ {
		last := m.block[i-1]
		m.block[i] = 1812433253*(last^last>>30) + uint32(i)
	}
	return m
}

// mtFromArray is init_by_array: one round in which the keys are added, one without, over all words but the first,
// which takes part only as a copy of the last and ends as a fixed bit, so that the block is never all zero.
func mtFromArray(keys []uint32) mt19937 {
	m := mtFromSeed(arraySeed)
	i := 1
	stir := func(mult, plus uint32) {
		last := m.block[i-1]
		m.block[i] = (m.block[i] ^ (last^last>>30)*mult) + plus
		if i++; i == blockWords {
			m.block[0], i = m.block[blockWords-1], 1
		}
	}
	for n := range max(blockWords, len(keys)) {
		k := n % len(keys)
		stir(1664525, keys[k]+uint32(k))
	}
	for range blockWords - 1 {
		stir(1566083941, -uint32(i))
	}
	m.block[0] = 1 << 31
	return m
}

// next is the next word of output.
func (m *mt19937) next() uint32 {
	var w uint32
	if m.at >= blockWords {
		w = m.beyond()
	} else {
		w = m.block[m.at]
	}
	m.at++
	w ^= w >> 11
	w ^= w << 7 & 0x9d2c5680
	w ^= w << 15 & 0xefc60000
	return w ^ w>>18
}

// beyond is the word at at, which is beyond the block: looked up ahead, or else of the block that is then worked out.
func (m *mt19937) beyond() uint32 {
	if w, ok := m.lookAhead(); ok {
		return w
	}
	m.pass(m.at / blockWords)
	m.at %= blockWords
	return m.block[m.at]
}

// next64 is two words, the first one high.
func (m *mt19937) next64() uint64 {
	high := m.next()
	return uint64(high)<<32 | uint64(m.next())
}

// skip passes over n words.
func (m *mt19937) skip(n uint64) {
	if n > math.MaxUint64-m.at { // more than can be counted: a part of it has to be worked out now
		m.settle()
		m.twist(1)
		n -= blockWords
	}
	m.at += n
}

// settle works out what has been passed over, up to where NumPy would be: a used block stays until the next draw.
func (m *mt19937) settle() {
	if m.at > blockWords {
		blocks := (m.at - 1) / blockWords
		m.pass(blocks)
		m.at -= blocks * blockWords
	}
	m.peek = peek{}
}

// pass goes on by n blocks.
func (m *mt19937) pass(n uint64) {
	m.peek = peek{}
	if n > jumpBlocks {
		m.twist(1) // leap starts from a block of a twist
		for n--; n >= jumpBlocks; n -= jumpBlocks {
			m.leap()
		}
	}
	m.twist(n)
}

// twist makes the next block, n times.
func (m *mt19937) twist(n uint64) {
	b := &m.block
	for ; n > 0; n-- {
		word := b[0]
		for i := range blockWords - farWord {
			next := b[i+1]
			b[i] = b[i+farWord] ^ twisted(word, next)
			word = next
		}
		for i := blockWords - farWord; i < blockWords-1; i++ {
			next := b[i+1]
			b[i] = b[i-(blockWords-farWord)] ^ twisted(word, next)
			word = next
		}
		b[blockWords-1] = b[farWord-1] ^ twisted(word, b[0])
	}
}

// twisted is the top bit of one word and the rest of the next, times the twist matrix.
func twisted(word, next uint32) uint32 {
	return (word&(1<<31)|next&(1<<31-1))>>1 ^ -(next&1)&0x9908b0df
}
