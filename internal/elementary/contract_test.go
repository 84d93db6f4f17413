package elementary

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"
)

// The bits of this file are the contract: a platform, compiler or change that
// gives others breaks recorded observations and files. Those of SinCos, Hypot and
// Log are the only right ones; those of Exp, Tanh and Atanh are this package's own
// choice among results within the stated error.

func TestSinCosContract(t *testing.T) {
	for _, c := range sinCosContract {
		sin, cos := SinCos(c.r)
		if math.Float64bits(sin) != c.sin || math.Float64bits(cos) != c.cos {
			t.Errorf("SinCos(%x): got %#016x, %#016x, want %#016x, %#016x", c.r, math.Float64bits(sin), math.Float64bits(cos), c.sin, c.cos)
		}
		checkSinCos(t, c.r)
	}
}

func TestHypotContract(t *testing.T) {
	for _, c := range hypotContract {
		if got := Hypot(c.x, c.y); math.Float64bits(got) != c.want {
			t.Errorf("Hypot(%x, %x): got %#016x, want %#016x", c.x, c.y, math.Float64bits(got), c.want)
		}
		checkHypot(t, c.x, c.y)
	}
}

type pinned struct {
	x    float64
	want uint64
}

func checkPinned(t *testing.T, name string, table []pinned, f func(float64) float64) {
	t.Helper()
	for _, c := range table {
		if got := math.Float64bits(f(c.x)); got != c.want {
			t.Errorf("%s(%x): got %#016x, want %#016x", name, c.x, got, c.want)
		}
	}
}

func TestExpContract(t *testing.T)   { checkPinned(t, "Exp", expContract, Exp) }
func TestLogContract(t *testing.T)   { checkPinned(t, "Log", logContract, Log) }
func TestTanhContract(t *testing.T)  { checkPinned(t, "Tanh", tanhContract, Tanh) }
func TestAtanhContract(t *testing.T) { checkPinned(t, "Atanh", atanhContract, Atanh) }

// TestDigests pins many more results, 400 000 of each function, by their FNV-1a hash.
func TestDigests(t *testing.T) {
	cases := []struct {
		name string
		want uint64
		f    func(rng *rand.Rand) float64
	}{
		{"sin of headings", 0x58331eb8c2084352, func(rng *rand.Rand) float64 { s, _ := SinCos(rng.Float64() * 360 * degree); return s }},
		{"cos of headings", 0xf890d031fa504b67, func(rng *rand.Rand) float64 { _, c := SinCos(rng.Float64() * 360 * degree); return c }},
		{"Exp", 0xda634d4e672a1cd5, func(rng *rand.Rand) float64 { return Exp(-750 * rng.Float64()) }},
		{"Exp near 0", 0x2882cbd731093f08, func(rng *rand.Rand) float64 { return Exp(-4 * rng.Float64()) }},
		{"Log", 0x332fe55342f00e54, func(rng *rand.Rand) float64 { return Log(rng.Float64()) }},
		{"Log near 1", 0xfc4ef430d2d4c379, func(rng *rand.Rand) float64 { return Log(1 + float64(0.02*(rng.Float64()-0.5))) }},
		{"Tanh", 0xcad8187cf8d02c06, func(rng *rand.Rand) float64 { return Tanh(22 * rng.Float64()) }},
		{"Tanh near 0", 0x74f9d648336941a3, func(rng *rand.Rand) float64 { return Tanh(-0.25 * rng.Float64()) }},
		{"Atanh", 0x1fc1d4a55bf285f6, func(rng *rand.Rand) float64 { return Atanh(rng.Float64()) }},
		{"Hypot", 0xbd59e4ccc246940b, func(rng *rand.Rand) float64 { return Hypot(1e4*rng.Float64(), 1e4*rng.Float64()) }},
	}
	for _, c := range cases {
		rng := draws(t)
		hash := fnv.New64a()
		var buffer [8]byte
		for range 400_000 {
			binary.LittleEndian.PutUint64(buffer[:], math.Float64bits(c.f(rng)))
			hash.Write(buffer[:])
		}
		if got := hash.Sum64(); got != c.want {
			t.Errorf("digest of %s: got %#016x, want %#016x", c.name, got, c.want)
		}
	}
}

var sinCosContract = []struct {
	r        float64
	sin, cos uint64
}{
	{0x0p+00, 0x0000000000000000, 0x3ff0000000000000},
	{0x1.1df46a2529d39p-06, 0x3f91df0b2b89dd1e, 0x3feffec097f5af8a},
	{0x1.0c152382d7365p-03, 0x3fc0b5150f6da2d0, 0x3fefb9ea92ec689b},
	{0x1.0c152382d7365p-02, 0x3fd0907dc1930690, 0x3feee8dd4748bf15},
	{0x1.0c152382d7365p-01, 0x3fdfffffffffffff, 0x3febb67ae8584cab},
	{0x1.921fb54442d18p-01, 0x3fe6a09e667f3bcc, 0x3fe6a09e667f3bcd},
	{0x1.0c152382d7365p+00, 0x3febb67ae8584caa, 0x3fe0000000000001},
	{0x1.91ad538033f4p+00, 0x3feffffcce4c8e64, 0x3f5c98701025ea45},
	{0x1.921fb54442d18p+00, 0x3ff0000000000000, 0x3c91a62633145c07},
	{0x1.13cda86ccdd88p+01, 0x3feab2a9b25a9ab8, 0xbfe1a43870d371fa},
	{0x1.921fb54442d18p+01, 0x3ca1a62633145c07, 0xbff0000000000000},
	{0x1.becde5da115a9p+01, 0xbfd5e3a8748a0bf4, 0xbfee11f642522d1c},
	{0x1.f6a7a2955385ep+01, 0xbfe6a09e667f3bcc, 0xbfe6a09e667f3bce},
	{0x1.2d97c7f3321d2p+02, 0xbff0000000000000, 0xbcaa79394c9e8a0a},
	{0x1.4f1a6c638d03fp+02, 0xbfebb67ae8584caa, 0x3fe0000000000001},
	{0x1.5fdbbe9bba775p+02, 0xbfe6a09e667f3bce, 0x3fe6a09e667f3bcb},
	{0x1.744cb765628e6p+02, 0xbfdcc1a47921b62c, 0x3fec967f98019b11},
	{0x1.921f6c0fee4d2p+02, 0xbef24d1521151cc9, 0x3fefffffffeb111d},
	{math.Copysign(0, -1), 0x8000000000000000, 0x3ff0000000000000},
	{0x1p-1074, 0x0000000000000001, 0x3ff0000000000000},
	{0x1p-27, 0x3e40000000000000, 0x3ff0000000000000},
	{0x1.6a09e667f3bcdp-27, 0x3e46a09e667f3bcd, 0x3fefffffffffffff},
	{0x1.4f8b588e368f1p-17, 0x3ee4f8b588e1e8a2, 0x3feffffffff920c8},
	{0x1p-01, 0x3fdeaee8744b05f0, 0x3fec1528065b7d50},
	{0x1p+00, 0x3feaed548f090cee, 0x3fe14a280fb5068c},
	{0x1p+01, 0x3fed18f6ead1b446, 0xbfdaa22657537205},
	{-0x1p+01, 0xbfed18f6ead1b446, 0xbfdaa22657537205},
	{0x1.8p+01, 0x3fc210386db6d55b, 0xbfefae04be85e5d2},
	{0x1p+02, 0xbfe837b9dddc1eae, 0xbfe4eaa606db24c1},
	{0x1.4p+02, 0xbfeeaf81f5e09933, 0x3fd22785706b4ad9},
	{0x1.8p+02, 0xbfd1e1f18ab0a2c0, 0x3feeb9b7097822f5},
	{0x1.cp+02, 0x3fe50608c26d0a08, 0x3fe81ff79ed92017},
	{0x1p+03, 0x3fefa8d2a028cf7b, 0xbfc29fbebf632f94},
	{0x1.4p+03, 0xbfe1689ef5f34f52, 0xbfead9ac890c6b1f},
	{0x1.6p+04, 0xbf8220a29f6eb9f4, 0xbfefffadd8d4acda},
	{0x1.f4p+09, 0x3fea75cc150a206b, 0x3fe1ff026793f1bb},
	{0x1.0f0cf064dd592p+73, 0xbfeb453ab76bf397, 0x3fe0be2cef01c8f4},
	{-0x1.249ad2594c37dp+332, 0x3fd85c5e5b929359, 0x3fed9757496841f5},
	{0x1.fffffffffffffp+1023, 0x3f7452fc98b34e97, 0xbfefffe62ecfab75},
	{0x1.6ac5b262ca1ffp+849, 0x3ff0000000000000, 0xbc214ae72e6ba22f},
	{0x1.12b187dcc48ap-03, 0x3fc11dedec3672f1, 0x3fefb66c23116a23},
	{0x1.0188602402d06p+02, 0xbfe8b62c40865907, 0xbfe454a6e016e40e},
	{0x1.610a310ddec5dp+02, 0xbfe634b4ea625d7b, 0x3fe70a8e9233322c},
	{0x1.5f26f046bcd83p+02, 0xbfe6e030765a3701, 0x3fe66057bf551aff},
}

var hypotContract = []struct {
	x, y float64
	want uint64
}{
	{0x1.8p+01, 0x1p+02, 0x4014000000000000},
	{0x1.2cp+09, 0x1.9p+09, 0x408f400000000000},
	{0x1p+00, 0x1p+00, 0x3ff6a09e667f3bcd},
	{0x1p+00, 0x1p+01, 0x4001e3779b97f4a8},
	{0x1.999999999999ap-04, 0x1.999999999999ap-03, 0x3fcc9f25c5bfedda},
	{0x1p+00, 0x1p-26, 0x3ff0000000000000},
	{0x1p+00, 0x1.8p-27, 0x3ff0000000000000},
	{0x1p+00, 0x1p-28, 0x3ff0000000000000},
	{0x1.edd2f1a9fbe77p+06, 0x1.8a8189374bc6ap+09, 0x4088f4e59fc8ba50},
	{0x1.387cp+13, 0x1.0624dd2f1a9fcp-10, 0x40c387c00000001b},
	{-0x1.cp+02, 0x1.8p+04, 0x4039000000000000},
	{0x0p+00, 0x1.4p+01, 0x4004000000000000},
	{0x0p+00, 0x0p+00, 0x0000000000000000},
	{0x1p-1074, 0x1p-1074, 0x0000000000000001},
	{0x1.7b8p-1062, 0x1.fap-1062, 0x0000000000002788},
	{0x1p-1022, 0x1p-1023, 0x0011e3779b97f4a8},
	{0x1.56e1fc2f8f359p-997, 0x1.56e1fc2f8f359p-996, 0x01b7f5ac55394353},
	{0x1.87e92154ef7acp-665, 0x1.39874ddd8c623p-668, 0x16689dd8729181ec},
	{0x1.67e9c127b6e74p-532, 0x1.a2fe76a3f9475p-499, 0x20ca2fe76a3f9475},
	{0x1.38d352e5096afp+498, 0x1.8708279e4bc5bp+501, 0x5f488fb6e31e2b98},
	{0x1.4e718d7d7625ap+664, 0x1.f5aa543c31387p+665, 0x69908669e596b4f8},
	{0x1.1ccf385ebc8ap+1023, 0x1.1ccf385ebc8ap+1023, 0x7fe92c80954c51f5},
	{0x1.fffffffffffffp+1023, 0x1p+00, 0x7fefffffffffffff},
	{0x1.fffffffffffffp+1023, 0x1.fffffffffffffp+1023, 0x7ff0000000000000},
	{0x1.3333333333335p+52, 0x1.999999999999cp+52, 0x4340000000000002},
	{0x1.921fb54442d18p+01, 0x1.5bf0a8b145769p+01, 0x40109e0f1497b79c},
	{0x1.6a09e667f3bccp+1023, 0x1.6a09e667f3bccp+1023, 0x7fefffffffffffff},
	{0x1.6a09e667f3bccp+1023, 0x1.6a09e667f3bcdp+1023, 0x7ff0000000000000},
	{0x1.1566666666666p+08, 0x1.a36e2eb1c432dp-14, 0x40715666666667a3},
	{0x1.18p+05, 0x1.8p+03, 0x4042800000000000},
}

var expContract = []pinned{
	{0x0p+00, 0x3ff0000000000000},
	{-0x1.79ca10c924223p-67, 0x3ff0000000000000},
	{-0x1p-53, 0x3fefffffffffffff},
	{-0x1p-30, 0x3fefffffff800000},
	{-0x1.4f8b588e368f1p-17, 0x3fefffeb07515653},
	{-0x1.0624dd2f1a9fcp-10, 0x3feff7cfe56f1a9e},
	{-0x1.47ae147ae147bp-07, 0x3fefae7cfd2b9cfe},
	{-0x1.999999999999ap-04, 0x3fecf46d99d52b3a},
	{-0x1p-02, 0x3fe8ebef9eac820b},
	{-0x1p-01, 0x3fe368b2fc6f960a},
	{-0x1.62d0e56041893p-01, 0x3fe0009a57636807},
	{-0x1p+00, 0x3fd78b56362cef38},
	{-0x1.8p+00, 0x3fcc8f87724b5c1d},
	{-0x1p+01, 0x3fc152aaa3bf81cc},
	{-0x1.8p+01, 0x3fa97db0ccceb0af},
	{-0x1.0cccccccccccdp+02, 0x3f8eb600403a9684},
	{-0x1.4p+02, 0x3f7b993fe00d5376},
	{-0x1.cp+02, 0x3f4de16b9c24a98f},
	{-0x1.4p+03, 0x3f07cd79b5647c9b},
	{-0x1.9p+03, 0x3ecf42ed3f68e690},
	{-0x1.4p+04, 0x3e21b48655f37267},
	{-0x1.0a66666666666p+05, 0x3cef165bb9b59d94},
	{-0x1.9p+05, 0x3b6d257d547e083f},
	{-0x1.9p+06, 0x36ea8c1f14e2af5d},
	{-0x1.9p+07, 0x2de6061812054cfa},
	{-0x1.f4p+08, 0x12d9265e78d4438d},
	{-0x1.5ep+09, 0x00d14f2b0fb9307f},
	{-0x1.61feb851eb852p+09, 0x001805dc5256f58d},
	{-0x1.62p+09, 0x0017c8ab2288c9ab},
	{-0x1.6231eb851eb85p+09, 0x00101a5ff6ed496b},
	{-0x1.6233333333333p+09, 0x000ff15b469edf89},
	{-0x1.63p+09, 0x00033802fd28b3c3},
	{-0x1.68p+09, 0x0000000993b4dc95},
	{-0x1.72p+09, 0x0000000000000055},
	{-0x1.748p+09, 0x0000000000000001},
	{-0x1.7490a3d70a3d7p+09, 0x0000000000000001},
	{-0x1.75p+09, 0x0000000000000000},
	{-0x1.f4p+09, 0x0000000000000000},
	{0x1.12e0be826d695p-30, 0x3ff000000044b830},
	{0x1.999999999999ap-04, 0x3ff1aec7b35a00d4},
	{0x1p-01, 0x3ffa61298e1e069c},
	{0x1p+00, 0x4005bf0a8b145769},
	{0x1p+01, 0x401d8e64b8d4ddae},
	{0x1.4p+03, 0x40d5829dcf950560},
	{0x1.9p+06, 0x48f3494a9b171bf5},
	{0x1.5ep+09, 0x7f0d945df4f8ec8e},
	{0x1.628p+09, 0x7fdd422d2be5dc9b},
	{0x1.62cp+09, 0x7fe81e9b4b52d0c9},
	{0x1.62e3d70a3d70ap+09, 0x7fefe9ce5c4c52b4},
	{0x1.63p+09, 0x7ff0000000000000},
}

var tanhContract = []pinned{
	{0x0p+00, 0x0000000000000000},
	{0x1p-1074, 0x0000000000000001},
	{0x1.56e1fc2f8f359p-997, 0x01a56e1fc2f8f359},
	{0x1.203af9ee75616p-50, 0x3cd203af9ee75616},
	{0x1p-28, 0x3e30000000000000},
	{-0x1.5798ee2308c3ap-27, 0xbe45798ee2308c3a},
	{0x1.0c6f7a0b5ed8dp-20, 0x3eb0c6f7a0b5e767},
	{0x1.0624dd2f1a9fcp-10, 0x3f50624d77516ce2},
	{-0x1.47ae147ae147bp-07, 0xbf847ab48ae4595e},
	{0x1.999999999999ap-05, 0x3fa99424e535f6f9},
	{0x1.999999999999ap-04, 0x3fb983d7795f413a},
	{0x1.eb851eb851eb8p-04, 0x3fbe92c995746ed4},
	{0x1.ffffe5280d654p-04, 0x3fbfd59784e9cdc7},
	{0x1p-03, 0x3fbfd5992bc4b835},
	{-0x1p-03, 0xbfbfd5992bc4b835},
	{0x1.020c49ba5e354p-03, 0x3fc00b0e71f7a602},
	{0x1.3333333333333p-03, 0x3fc30eaa2f235455},
	{0x1.999999999999ap-03, 0x3fc9439830b3a590},
	{0x1p-02, 0x3fcf597ea69a1c86},
	{0x1.3333333333333p-02, 0x3fd2a4dda7d914fa},
	{-0x1.999999999999ap-02, 0xbfd8511573c242d6},
	{0x1p-01, 0x3fdd9353d7568af3},
	{0x1.3333333333333p-01, 0x3fe12f8292d2ccfc},
	{0x1.8p-01, 0x3fe45323e552f228},
	{0x1.ccccccccccccdp-01, 0x3fe6ebe982d6605d},
	{0x1p+00, 0x3fe85efab514f394},
	{-0x1.4p+00, 0xbfeb2523bb6b2dee},
	{0x1.8p+00, 0x3fecf6f9786df577},
	{0x1p+01, 0x3feed9505e1bc3d4},
	{0x1.4p+01, 0x3fef9258260a71c2},
	{0x1.8p+01, 0x3fefd77d111a0b00},
	{-0x1p+02, 0xbfeffa81708a0b42},
	{0x1.4p+02, 0x3fefff419668df11},
	{0x1.cp+02, 0x3feffffc832750f2},
	{0x1.4p+03, 0x3feffffffdc96f35},
	{0x1.8p+03, 0x3feffffffff59f7c},
	{0x1.ep+03, 0x3feffffffffff96a},
	{0x1.2p+04, 0x3feffffffffffffc},
	{0x1.3p+04, 0x3fefffffffffffff},
	{0x1.30f5c28f5c28fp+04, 0x3fefffffffffffff},
	{0x1.311eb851eb852p+04, 0x3ff0000000000000},
	{0x1.4p+04, 0x3ff0000000000000},
	{-0x1.5p+04, 0xbff0000000000000},
	{0x1.2a05f2p+33, 0x3ff0000000000000},
}

var atanhContract = []pinned{
	{0x0p+00, 0x0000000000000000},
	{0x1p-1074, 0x0000000000000001},
	{0x1.56e1fc2f8f359p-997, 0x01a56e1fc2f8f359},
	{0x1.203af9ee75616p-50, 0x3cd203af9ee75616},
	{0x1p-28, 0x3e30000000000000},
	{-0x1.5798ee2308c3ap-27, 0xbe45798ee2308c3a},
	{0x1.0c6f7a0b5ed8dp-20, 0x3eb0c6f7a0b5f3b3},
	{0x1.0624dd2f1a9fcp-10, 0x3f50624e2e91ed17},
	{-0x1.47ae147ae147bp-07, 0xbf847b0e059d0597},
	{0x1.999999999999ap-05, 0x3fa99f11cd5f7091},
	{0x1.999999999999ap-04, 0x3fb9af93cd234412},
	{0x1.3333333333333p-03, 0x3fc35891deb9a3b2},
	{0x1.5bf487fcb923ap-03, 0x3fc5f5cc895ab4bc},
	{0x1.5c28f5c28f5c3p-03, 0x3fc5f92c58c632c3},
	{-0x1.5c28f5c28f5c3p-03, 0xbfc5f92c58c632c3},
	{0x1.5c5d63886594bp-03, 0x3fc5fc8c2fefc4e1},
	{0x1.5c91d14e3bcd3p-03, 0x3fc5ffec0ed8b91f},
	{0x1.999999999999ap-03, 0x3fc9f323ecbf984c},
	{0x1p-02, 0x3fd058aefa811452},
	{0x1.3333333333333p-02, 0x3fd3cf2b50617c95},
	{0x1.51eb851eb851fp-02, 0x3fd5f0e5eb36f7f6},
	{0x1.999999999999ap-02, 0x3fdb1d10670aae9a},
	{-0x1.e8240b780346ep-02, 0xbfe0993b794007e8},
	{0x1p-01, 0x3fe193ea7aad030b},
	{0x1.3333333333333p-01, 0x3fe62e42fefa39ef},
	{0x1.554c985f06f69p-01, 0x3fe9bf4654925d3b},
	{0x1.6666666666666p-01, 0x3febc0ed0947fbe8},
	{0x1.8p-01, 0x3fef2272ae325a57},
	{0x1.999999999999ap-01, 0x3ff193ea7aad030b},
	{0x1.ccccccccccccdp-01, 0x3ff78e360604b32d},
	{-0x1.e666666666666p-01, 0xbffd4ef968880dd4},
	{0x1.fae147ae147aep-01, 0x40052c581997cd85},
	{0x1.ff7ced916872bp-01, 0x400e66cfde9c7c2d},
	{0x1.fff2e48e8a71ep-01, 0x4013ce8f5de1814d},
	{0x1.fffeb074a771dp-01, 0x40186981b2cc9038},
	{0x1.ffffde7210be9p-01, 0x401d046eb8b86c1c},
	{-0x1.ffffde7210be9p-01, 0xc01d046eb8b86c1c},
	{0x1.fffffca501acbp-01, 0x4020cfad9b61ff69},
	{0x1.fffffffffffffp-01, 0x4032b708872320e2},
	{0x1p+00, 0x7ff0000000000000},
}

var logContract = []pinned{
	{0x1p-1074, 0xc0874385446d71c3},
	{0x1.7b8p-1062, 0xc086fdd43b3b8eab},
	{0x1p-1022, 0xc086232bdd7abcd2},
	{0x1.c98851d2ddc1cp-668, 0xc07ce710fb8b53fd},
	{0x1.56e1fc2f8f359p-997, 0xc085963447f87fb5},
	{0x1p-53, 0xc0425e4f7b2737fa},
	{0x1.b7cdfd9d7bdbbp-34, 0xc037069e2aa2aa5b},
	{0x1.0624dd2f1a9fcp-10, 0xc01ba18a998fffa0},
	{0x1.999999999999ap-04, 0xc0026bb1bbb55515},
	{0x1p-02, 0xbff62e42fefa39ef},
	{0x1.858ffe2d8578p-02, 0xbfeeed23703a4dde},
	{0x1p-01, 0xbfe62e42fefa39ef},
	{0x1.6a09e667f3bccp-01, 0xbfd62e42fefa39f1},
	{0x1.6a09e667f3bcdp-01, 0xbfd62e42fefa39ee},
	{0x1.8p-01, 0xbfd269621134db92},
	{0x1.ccccccccccccdp-01, 0xbfbaf8e8210a415c},
	{0x1.fae147ae147aep-01, 0xbf8495453e6fd4bc},
	{0x1.fced916872b02p-01, 0xbf78a667fd2c0e51},
	{0x1.fd70a3d70a3d7p-01, 0xbf748807f33b3513},
	{0x1.fd3ae2607b51ep-01, 0xbf763853b0655153},
	{0x1.ff7ced916872bp-01, 0xbf5064670d979b73},
	{0x1.ffffffffffffdp-01, 0xbcb8000000000001},
	{0x1.ffffffffffffep-01, 0xbcb0000000000001},
	{0x1.fffffffffffffp-01, 0xbca0000000000000},
	{0x1p+00, 0x0000000000000000},
	{0x1.0000000000001p+00, 0x3cafffffffffffff},
	{0x1.0000000000002p+00, 0x3cbffffffffffffe},
	{0x1.000001p+00, 0x3e6ffffff000000b},
	{0x1.00d967411c56fp+00, 0x3f6b2164a4718f0d},
	{0x1.0195a0ca81dc3p+00, 0x3f79460c1523260e},
	{0x1.0147ae147ae14p+00, 0x3f746dd0fad671fa},
	{0x1.028f5c28f5c29p+00, 0x3f8460d6ccca367c},
	{0x1.199999999999ap+00, 0x3fb8663f793c46cc},
	{0x1.4p+00, 0x3fcc8ff7c79a9a22},
	{0x1.6a09e667f3bcdp+00, 0x3fd62e42fefa39f0},
	{0x1.8p+00, 0x3fd9f323ecbf984c},
	{0x1.fd70a3d70a3d7p+00, 0x3fe60532ef13c385},
	{0x1p+01, 0x3fe62e42fefa39ef},
	{0x1.5bf0a8b145769p+01, 0x3ff0000000000000},
	{0x1.8p+01, 0x3ff193ea7aad030b},
	{0x1.cp+02, 0x3fff2272ae325a57},
	{0x1.4p+03, 0x40026bb1bbb55516},
	{0x1.9p+05, 0x400f4bd2b7ac1baf},
	{0x1.31d6afd622304p+07, 0x40141ea0d4dcbf49},
	{0x1.f4p+09, 0x401ba18a998fffa0},
	{0x1.e848p+19, 0x402ba18a998fffa0},
	{0x1.d1a94a2p+39, 0x403ba18a998fffa0},
	{0x1.ffffffe3b73ap+62, 0x4045d589f2f73ed6},
	{0x1.249ad2594c37dp+332, 0x406cc845b54b54f2},
	{0x1.fffffffffffffp+1023, 0x40862e42fefa39ef},
}
