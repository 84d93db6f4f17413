package numpyrand

import "math/bits"

// jumpBlocks is how many blocks leap passes over: almost all of the 2 000 000 words that a flatland-rl environment
// draws before its first malfunction, which are seldom looked at.
const jumpBlocks = 3204

// The words of the twister are a linear recurrence over GF(2) of degree 19937 (ACM TOMACS 8, 1998), so the word n steps
// ahead is a sum of the next 19937 words: those whose bits are set in x^n modulo the characteristic polynomial
// (Haramoto et al., Efficient Jump Ahead for F2-Linear Random Number Generators, 2008). leap adds up these sums for all
// words of a block at once.
//
// The recurrence holds for words that a twist made, not for the low bits of the first word of a seed: the block must be
// one of a twist.
func (m *mt19937) leap() {
	const (
		window = 4                    // bits of the polynomial taken together: even, as words pair up, and few, for the stack
		pairs  = (blockWords + 8) / 2 // of a sum, with room for the offsets in a window; a multiple of 4
		ahead  = 33                   // blocks: 624 + 19937 words
	)
	var seq [ahead * blockWords / 2]uint64 // the words to come, in pairs
	for b := range ahead {
		for i := 0; i < blockWords; i += 2 {
			seq[(b*blockWords+i)/2] = uint64(m.block[i]) | uint64(m.block[i+1])<<32
		}
		m.twist(1)
	}

	// Windows of the same bits share their work: first those are added up that begin a window of the same bits …
	var sums [1 << window][pairs]uint64
	for at := 0; at < degree; at += window {
		v := jumpPolynomial[at/64] >> (at % 64)
		if at%64 > 64-window && at/64+1 < len(jumpPolynomial) {
			v |= jumpPolynomial[at/64+1] << (64 - at%64)
		}
		if v &= 1<<window - 1; v == 0 {
			continue
		}
		sum := &sums[v]
		from := (*[pairs]uint64)(seq[at/2:])
		for k := 0; k < pairs; k += 4 {
			sum[k] ^= from[k]
			sum[k+1] ^= from[k+1]
			sum[k+2] ^= from[k+2]
			sum[k+3] ^= from[k+3]
		}
	}
	// … then each sum counts at every offset whose bit is set.
	var words [2 * pairs]uint32
	for bit := range window {
		var total [pairs]uint64
		for v := range sums {
			if v>>bit&1 != 0 {
				for k := range total {
					total[k] ^= sums[v][k]
				}
			}
		}
		for i := range blockWords {
			words[i] ^= uint32(total[(i+bit)/2] >> (32 * ((i + bit) % 2)))
		}
	}
	copy(m.block[:], words[:])
}

// peekWords are looked up together, eight at a time.
const peekWords = 16

// peek holds words far ahead that were looked up one by one, because often no more than a few are asked for.
type peek struct {
	from  uint64 // where the first of them is, counted from the start of the block; 0: there are none
	words [peekWords]uint32
}

// lookAhead is the word at at, if it is one of a few after a leap that is still to be done. It does not do the leap, which
// costs as much as a few hundred such words.
func (m *mt19937) lookAhead() (w uint32, ok bool) {
	const (
		first = blockWords * (jumpBlocks + 1)
		last  = first + 3*blockWords
	)
	if m.peek.from == 0 && first <= m.at && m.at < last {
		m.lookUp(int(m.at - first))
	}
	if k := m.at - m.peek.from; m.peek.from != 0 && k < peekWords {
		return m.peek.words[k], true
	}
	return 0, false
}

// lookUp works out the words from at on, which is offset words after the block of a leap from the next block: each is the
// sum of leap for one word only.
func (m *mt19937) lookUp(offset int) {
	const blocks = 37 // 19937 words, the offset, and the words that are looked up
	var seq [blocks * blockWords]uint32
	next := mt19937{block: m.block}
	for b := range blocks {
		next.twist(1)
		copy(seq[b*blockWords:], next.block[:])
	}
	m.peek.from = m.at
	for k := 0; k < peekWords; k += 8 {
		var w0, w1, w2, w3, w4, w5, w6, w7 uint32 // one by one, so that they stay in registers
		for i, terms := range jumpPolynomial {
			for ; terms != 0; terms &= terms - 1 {
				from := (*[8]uint32)(seq[64*i+bits.TrailingZeros64(terms)+offset+k:])
				w0 ^= from[0]
				w1 ^= from[1]
				w2 ^= from[2]
				w3 ^= from[3]
				w4 ^= from[4]
				w5 ^= from[5]
				w6 ^= from[6]
				w7 ^= from[7]
			}
		}
		*(*[8]uint32)(m.peek.words[k:]) = [8]uint32{w0, w1, w2, w3, w4, w5, w6, w7}
	}
}

// degree of the recurrence.
const degree = 19937

// jumpPolynomial is x^(624*jumpBlocks) modulo the characteristic polynomial of the twister, the constant term first.
var jumpPolynomial = [...]uint64{
	0x2343984730b68fa2, 0x8e5a62b18f644ea1, 0x5e7149c841f93be1, 0x454f997fb92d104d, 0xd9cd382ef655c155, 0x7c6911a10c3404a3,
	0xe5e59ee08d1bef6e, 0xda39b7cacbdf8e10, 0x9b1bafaaef152fca, 0x70a832d6d8705d3c, 0xf1f40d81796f31a8, 0x9bfd7fd8d3886e0c,
	0x6073d57c63206fcd, 0x9778874200c60513, 0x9712ce66a4e0ad9e, 0x3bc01a1e410bb476, 0x18b4e58f8a31e0f6, 0x9bac4f59ecc0d42c,
	0xcd7a0af17233b843, 0xc663e981fbcda1ed, 0x48ec995dae4cd995, 0xd10024fe940ecf44, 0x1b1275eb9da5dc07, 0xf0de3b8284d1049b,
	0x11f6019b034b7044, 0x9155ed5b74ad2e89, 0x2f5af68fda93f00d, 0x83f4e50c17eb4e9a, 0x4b24b584546f8f14, 0x25184bf155d8aade,
	0x0e2252da194874d4, 0xb802198ef18564bc, 0x22483ee004c77419, 0x2deedb5a5a96148c, 0xa3da2ebed3265d51, 0xeb5d49384d92c939,
	0xd5c1c406cf25122e, 0x7f1707c352720494, 0x4aa4b22786228c47, 0xe51ef0a4f95a5d9e, 0x2fdafa18ff9eb123, 0x9a172716e38c7c14,
	0x9172b21ca6265889, 0xd48dd4f64389a042, 0x8d25c69597bd2e5b, 0xb04bcd92f741e441, 0x3e71fcccc99d83e9, 0xad66b616f846e383,
	0x57d765685d77cc66, 0x650020a05076c3fc, 0x0e3b484988938cd0, 0x21852ea5d814e8b4, 0xbb82805b40499573, 0x8925c11a7a2564ec,
	0x8c20c93e98bba8cd, 0x2509d8f85555efd1, 0x8786a855b748b2bb, 0x1c1a88fc0441d79f, 0xec421a17e054d7af, 0xbf387fbfc380120d,
	0x68617fb72e0c7699, 0x00c3fab890d9cdcd, 0xf47dd428e362440a, 0x6e04f6c9dfbfa076, 0xa7a6d36c62a20d00, 0xc852ff1d51378267,
	0x1178e82f07c5a135, 0x07f4211001aee3e9, 0x12d197b99cc31555, 0xb52dcfed68101fbc, 0xc7e144d5b9a0f148, 0x843ee526e8e4029e,
	0xbfd89413872d7920, 0x73469cc791831e53, 0xa3709131409c2509, 0xa75cf0f6a2f47718, 0x26082da5c12ff9f4, 0x8ae9d65f6c84f404,
	0xf33e1931aab61d32, 0xfc8f55235718f738, 0xb2dd18fb15830e1b, 0x0ae4cdeccb1bf1ec, 0xccc78d7d040d25b1, 0x35c9ac6cf849c41f,
	0x87be0c2de2f80d0f, 0x4e86587fb7f44fc4, 0x0fd509b67090b1f8, 0xe3824ff807553afd, 0xd572461272fc7448, 0x27eb041930f5ba55,
	0x339fe2a61ba3ac86, 0xe7d5786e9c9b5da4, 0x8248997609ae23b6, 0x6fc616cf2a6fc772, 0xe5f46f607671568a, 0x6153416756b62e62,
	0x019042b3862830a4, 0xcd56d41ac0fee4b1, 0x484015fefa64c1bd, 0xe1f3522928d5db9c, 0x457ce4466c852b4f, 0x525ddfbb0f693676,
	0x0fc72173f1b5bdd4, 0x3bd0a7d47bb53c71, 0x0c0097f9393a4a56, 0x9081b814acc53183, 0x28a0e1aa0558e08f, 0x124e841e90146706,
	0xc2bf9e3134294a1b, 0x6060bf0c8ed27a56, 0x231e5e4ed3b5e89e, 0x0604559296dce2ae, 0x513d756fdfcf5fe6, 0xae99d47951c4cc8e,
	0xe9be7fc54cf95b96, 0xc1f7b01659f9c8f2, 0x9470da254d209fdb, 0x67ac881ad2c2efe3, 0xa8acc46858899da9, 0x0acab0ddb8eff955,
	0xe3d4e25d620f200d, 0x8a121d852a79ad34, 0x1245fc73dedb58ee, 0x4cea78ae6bd591f7, 0x3d5558e1af064bb8, 0x137ebd31a3de92d5,
	0x74bfd0c03c8c04b4, 0x3426671cf1d64315, 0x903aed2491fea2d4, 0xed3060ff53d813a3, 0x02de21333882d512, 0x91023617740692ad,
	0x3348636b799c0f8c, 0x222f3932706b89c8, 0xf712d92b8f1250f2, 0xefa284d20d8c139c, 0xc10428d47351445c, 0x35dc9a12a64b3390,
	0xda8e4d920649dc98, 0x19c62d6cf2e2092c, 0xff2aad213ef80ade, 0xb69e684ccaefb26c, 0x267ca6eb6950bc28, 0x393a1a0c405c6d73,
	0x9d8731dbe1696038, 0xfb590140a2514067, 0x3f530d3174689caf, 0x76a19d959f15fe1e, 0x907e8d8297b40ac2, 0xe4f7eeb42603bfaa,
	0xcdfc7f3afe3efc2f, 0xb8ffafcc104896f8, 0xb91a543a21e2d717, 0xdadbd6d25b15da37, 0x4186ab1ec37ea181, 0xfc0bc193e3d3fb2a,
	0xe8d368bdee011188, 0x672ca3a6323eb29e, 0x27a6b782b6cf1817, 0xef01c99e2204ea3e, 0x62527dad082656ea, 0x1be5d54b594da8d3,
	0x5f1e5a18ddec035a, 0x3dab6f9a25ab7a6f, 0x72097e925f83afe6, 0xe7fef986faf38ca8, 0x73e463a280fd9b65, 0xff5679e0db732e0c,
	0x98e0a86e31860174, 0x631e73d55eedd7f4, 0x4f8fa173f5c4c496, 0xaaf16aaea341fab9, 0xb48260f23984b009, 0xcb0440a54b6d377a,
	0xbd51d884cc9dd53c, 0xa7627315ce5853c4, 0xf35bb34a89246827, 0xc4afb9b2cd5fa118, 0xaf5587c2e660ab41, 0x1ec4ddf8a8ccc82a,
	0x70e8490146a7f7da, 0x9f2dbe4cf75668a5, 0x05ec529b0049dbf3, 0x148192fb04826d4e, 0x69c14d45872f7022, 0xb9d00540ffefdad3,
	0xe34078562833525b, 0x98115b786865053e, 0xffa962c809bb3b38, 0xdd972ee567ac7d19, 0xaca92cdb26af0b2a, 0x6b809a4a52f23431,
	0x23176cf9b06c9e34, 0x455c67acf7438112, 0x7cd926948f9f64c7, 0x635a3fc291b6979e, 0x15398bb43975c8d1, 0xc437efe5d21076ed,
	0x0bb3e972c80a976e, 0xd3d6485f76e925f9, 0xb1ca7eadfbb28309, 0xedb2a540966d17a4, 0x951b15c151ca6597, 0x0f572e3bb5edd416,
	0x842a85a0e577e44e, 0x655917c5dd9e7f31, 0xfb3dc7fb06bb5adc, 0xac3930b09491453b, 0xbc2cdff895b94b71, 0x864a5797b7f1e9aa,
	0xa7af38853e277cc4, 0xf045f73c125f91af, 0x3d9abfe387631fdc, 0x8da38ab8e0908e3b, 0x759b25086e5d887f, 0x451400d4f6db091b,
	0x9c94c2869f2058cd, 0xcee5dbfd3970028b, 0xddfc4c38106b419b, 0x458f1e9c621adb59, 0xd17eea0093e4087a, 0xceb5d89acf0d4cce,
	0x38c1c20faa540921, 0x764adb6c7b247bf2, 0x05e5b503428fa18e, 0x6e916f354256bc67, 0x5269d433652d0e16, 0x590b013240d81699,
	0x9536b3656dc20a2c, 0x5a61405f45f7e22f, 0xb4064fc01e7d79de, 0x6d30e85191467117, 0x5cd6cb7f1a805db3, 0x442576d8018e64cc,
	0x38bcc4c5b737e712, 0xbc4a666010b48d1c, 0x3622b45ec5ace7f9, 0xc0764387a47eff32, 0xe3c494c5e247c9a8, 0x7f09ac33bc7fcb85,
	0x31079eaf4484b43b, 0xdefac5b0c0d3506f, 0xcd7dc3530ed474a7, 0x59485c74f3753595, 0x897eb2659a3212c4, 0x77fb62727ff2c036,
	0x643d8a659ef73c75, 0xa2241a6e5727ef78, 0x59b43a548592eb37, 0xd5e110e6293b3ac5, 0xd9d02d9d020e3e89, 0x50bb8e226585431f,
	0xb321da955e887fc3, 0xdb6218e87fc0c895, 0xee011bd7d51821a4, 0xb55629883e6844cc, 0x3f0def04c87be530, 0x93a9885fc0c78443,
	0x7f086af59e809150, 0xc38e1ecb479720d8, 0xf0d942a3070e6160, 0xe2d7612ef88675c8, 0x3b5ee0a49fabdd76, 0x78c99ac3f35f830c,
	0xd9cafcc813c75f54, 0xb1f480156d3b4464, 0x540d1c14ca412565, 0xea6c6515d4831adc, 0xf8dd36ac08246b1f, 0x3f51a0e955d1ac48,
	0x270cc05f73fdc664, 0xc34a335fa30ad3fa, 0x78297101f7da4f2c, 0xf773f10638dadbfb, 0x45cae4df64c1dbbd, 0x95c270921ef691ce,
	0xba64a8ac7af8884d, 0xca2abfd33d311352, 0xee69730a5a7e2043, 0x90c4cd752c0b711b, 0x299b7a1e8496cc69, 0x8a66a5c59e823a5e,
	0x205bf556f36fd922, 0x91535165f32a7f13, 0x383d724be88180b1, 0xcbeb03cb33c33153, 0xe67aad1bb5a8f4c3, 0xce358d1574a5753e,
	0x06239934c535c386, 0x6716612d8b3cd8bc, 0x5ae73ad13dae1c1f, 0x003b6c7fbe5923da, 0x99d27158bba43ded, 0xeee07935c4bc62b5,
	0xae60656efb8fa908, 0x9143ab209edeeafe, 0xa9ac95eef697d5bf, 0x4460b0f5fa01dc78, 0xa90a8fcfc03a7726, 0xb1ffde2ba3892d80,
	0x224f7072ff2e5a74, 0x1b11a5e5060ad0af, 0x609d2ebc92e0efe7, 0xf1659811fd5d3bca, 0x8ec2eeef58dbc0ec, 0xf1d9dc9ba92e0aef,
	0x9d2b7188334d0fe4, 0xa395d57f32179f99, 0xeb105c7883850a80, 0xeba2883212e26137, 0x18fef88904872155, 0x000000001087435b,
}
