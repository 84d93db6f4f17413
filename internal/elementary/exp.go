package elementary

import "math"

// Exp returns e^x within 0.52 units in the last place (ulp), subnormal results
// included. Exp(0) is exactly 1; above about 709.78 the result is +Inf, below
// about -745.13 it is 0; Exp(NaN) is NaN.
func Exp(x float64) float64 {
	if !(-708 < x && x < 709) {
		return expAtTheEnds(x)
	}
	y, n := expScaled(x)
	return float64((y.hi + y.lo) * powerOfTwo(n))
}

// expAtTheEnds is Exp where 2^n or the result may not be a normal float64.
func expAtTheEnds(x float64) float64 {
	switch {
	case x != x:
		return math.NaN()
	case x > 710:
		return math.Inf(1)
	case x < -746:
		return 0
	}
	y, n := expScaled(x)
	if x > 0 {
		return float64(float64((y.hi+y.lo)*powerOfTwo(n-1)) * 2)
	}

	// Round once: to a whole number of smallest subnormals, 2^-1074, below 2^53
	// here, and such a number is its own bit pattern.
	y = quickSum(y.hi, y.lo)
	unit := powerOfTwo(n + 1074)
	hi, lo := float64(y.hi*unit), float64(y.lo*unit) // exact
	whole := math.RoundToEven(hi)
	switch rest := (hi - whole) + lo; {
	case rest > 0.5:
		whole++
	case rest < -0.5:
		whole--
	}
	return math.Float64frombits(uint64(whole))
}

// ln(2)/64 in two parts; Log adds a third. The first has 36 bits, so that its
// product with the at most 17 bits of k is exact.
const (
	ln2Step1       = 0x1.62e42fefap-7
	ln2Step2       = 0x1.cf79abc9e3b3ap-46
	ln2StepInverse = 0x1.71547652b82fep+6 // 64/ln(2)
)

// expScaled returns y and n with e^x = (y.hi + y.lo) * 2^n, for |x| <= 746;
// 0.99 < y.hi + y.lo < 2 and |y.lo| < y.hi/128, not normalised.
//
// With k the integer nearest to x*64/ln(2) and t = x - k*ln(2)/64, |t| < 2^-7.5,
// e^x = 2^(k/64) * e^t. The roundings of t, of p, of the product with y.hi and of
// the sum y.lo cost 2^-8 ulp of the result each, so before its last rounding it
// is good to 2^-6 ulp.
func expScaled(x float64) (y double, n int) {
	const toInteger = 0x1.8p52 // adding and subtracting it rounds to an integer
	kf := (float64(x*ln2StepInverse) + toInteger) - toInteger
	k := int(kf)
	t := (x - float64(kf*ln2Step1)) - float64(kf*ln2Step2)

	// p = e^t - 1 = t + t^2 * (1/2 + t/6 + ... + t^4/720)
	const (
		c2 = 1.0 / 2
		c3 = 1.0 / 6
		c4 = 1.0 / 24
		c5 = 1.0 / 120
		c6 = 1.0 / 720
	)
	t2 := float64(t * t)
	q := (c2 + float64(t*c3)) + float64(t2*((c4+float64(t*c5))+float64(t2*c6)))
	p := t + float64(t2*q)

	root := &roots[k&63]
	return double{root.hi, root.lo + float64(root.hi*p)}, k >> 6
}

// roots holds 2^(k/64) for k = 0..63 as doubles; TestRoots recomputes it.
var roots = [64]double{
	{0x1p+0, 0x0p+0}, // 0
	{0x1.02c9a3e778061p+0, -0x1.19083535b085dp-56}, // 1
	{0x1.059b0d3158574p+0, 0x1.d73e2a475b465p-55},  // 2
	{0x1.0874518759bc8p+0, 0x1.186be4bb284ffp-57},  // 3
	{0x1.0b5586cf9890fp+0, 0x1.8a62e4adc610bp-54},  // 4
	{0x1.0e3ec32d3d1a2p+0, 0x1.03a1727c57b53p-59},  // 5
	{0x1.11301d0125b51p+0, -0x1.6c51039449b3ap-54}, // 6
	{0x1.1429aaea92dep+0, -0x1.32fbf9af1369ep-54},  // 7
	{0x1.172b83c7d517bp+0, -0x1.19041b9d78a76p-55}, // 8
	{0x1.1a35beb6fcb75p+0, 0x1.e5b4c7b4968e4p-55},  // 9
	{0x1.1d4873168b9aap+0, 0x1.e016e00a2643cp-54},  // 10
	{0x1.2063b88628cd6p+0, 0x1.dc775814a8495p-55},  // 11
	{0x1.2387a6e756238p+0, 0x1.9b07eb6c70573p-54},  // 12
	{0x1.26b4565e27cddp+0, 0x1.2bd339940e9d9p-55},  // 13
	{0x1.29e9df51fdee1p+0, 0x1.612e8afad1255p-55},  // 14
	{0x1.2d285a6e4030bp+0, 0x1.0024754db41d5p-54},  // 15
	{0x1.306fe0a31b715p+0, 0x1.6f46ad23182e4p-55},  // 16
	{0x1.33c08b26416ffp+0, 0x1.32721843659a6p-54},  // 17
	{0x1.371a7373aa9cbp+0, -0x1.63aeabf42eae2p-54}, // 18
	{0x1.3a7db34e59ff7p+0, -0x1.5e436d661f5e3p-56}, // 19
	{0x1.3dea64c123422p+0, 0x1.ada0911f09ebcp-55},  // 20
	{0x1.4160a21f72e2ap+0, -0x1.ef3691c309278p-58}, // 21
	{0x1.44e086061892dp+0, 0x1.89b7a04ef80dp-59},   // 22
	{0x1.486a2b5c13cdp+0, 0x1.3c1a3b69062fp-56},    // 23
	{0x1.4bfdad5362a27p+0, 0x1.d4397afec42e2p-56},  // 24
	{0x1.4f9b2769d2ca7p+0, -0x1.4b309d25957e3p-54}, // 25
	{0x1.5342b569d4f82p+0, -0x1.07abe1db13cadp-55}, // 26
	{0x1.56f4736b527dap+0, 0x1.9bb2c011d93adp-54},  // 27
	{0x1.5ab07dd485429p+0, 0x1.6324c054647adp-54},  // 28
	{0x1.5e76f15ad2148p+0, 0x1.ba6f93080e65ep-54},  // 29
	{0x1.6247eb03a5585p+0, -0x1.383c17e40b497p-54}, // 30
	{0x1.6623882552225p+0, -0x1.bb60987591c34p-54}, // 31
	{0x1.6a09e667f3bcdp+0, -0x1.bdd3413b26456p-54}, // 32
	{0x1.6dfb23c651a2fp+0, -0x1.bbe3a683c88abp-57}, // 33
	{0x1.71f75e8ec5f74p+0, -0x1.16e4786887a99p-55}, // 34
	{0x1.75feb564267c9p+0, -0x1.0245957316dd3p-54}, // 35
	{0x1.7a11473eb0187p+0, -0x1.41577ee04992fp-55}, // 36
	{0x1.7e2f336cf4e62p+0, 0x1.05d02ba15797ep-56},  // 37
	{0x1.82589994cce13p+0, -0x1.d4c1dd41532d8p-54}, // 38
	{0x1.868d99b4492edp+0, -0x1.fc6f89bd4f6bap-54}, // 39
	{0x1.8ace5422aa0dbp+0, 0x1.6e9f156864b27p-54},  // 40
	{0x1.8f1ae99157736p+0, 0x1.5cc13a2e3976cp-55},  // 41
	{0x1.93737b0cdc5e5p+0, -0x1.75fc781b57ebcp-57}, // 42
	{0x1.97d829fde4e5p+0, -0x1.d185b7c1b85d1p-54},  // 43
	{0x1.9c49182a3f09p+0, 0x1.c7c46b071f2bep-56},   // 44
	{0x1.a0c667b5de565p+0, -0x1.359495d1cd533p-54}, // 45
	{0x1.a5503b23e255dp+0, -0x1.d2f6edb8d41e1p-54}, // 46
	{0x1.a9e6b5579fdbfp+0, 0x1.0fac90ef7fd31p-54},  // 47
	{0x1.ae89f995ad3adp+0, 0x1.7a1cd345dcc81p-54},  // 48
	{0x1.b33a2b84f15fbp+0, -0x1.2805e3084d708p-57}, // 49
	{0x1.b7f76f2fb5e47p+0, -0x1.5584f7e54ac3bp-56}, // 50
	{0x1.bcc1e904bc1d2p+0, 0x1.23dd07a2d9e84p-55},  // 51
	{0x1.c199bdd85529cp+0, 0x1.11065895048ddp-55},  // 52
	{0x1.c67f12e57d14bp+0, 0x1.2884dff483cadp-54},  // 53
	{0x1.cb720dcef9069p+0, 0x1.503cbd1e949dbp-56},  // 54
	{0x1.d072d4a07897cp+0, -0x1.cbc3743797a9cp-54}, // 55
	{0x1.d5818dcfba487p+0, 0x1.2ed02d75b3707p-55},  // 56
	{0x1.da9e603db3285p+0, 0x1.c2300696db532p-54},  // 57
	{0x1.dfc97337b9b5fp+0, -0x1.1a5cd4f184b5cp-54}, // 58
	{0x1.e502ee78b3ff6p+0, 0x1.39e8980a9cc8fp-55},  // 59
	{0x1.ea4afa2a490dap+0, -0x1.e9c23179c2893p-54}, // 60
	{0x1.efa1bee615a27p+0, 0x1.dc7f486a4b6bp-54},   // 61
	{0x1.f50765b6e454p+0, 0x1.9d3e12dd8a18bp-54},   // 62
	{0x1.fa7c1819e90d8p+0, 0x1.74853f3a5931ep-55},  // 63
}
