package elementary_test

import (
	"fmt"

	"skyrail/internal/elementary"
)

func ExampleSinCos() {
	const degree = 0.017453292519943295 // pi/180
	sin, cos := elementary.SinCos(30 * degree)
	fmt.Println(sin, cos)
	// Output: 0.49999999999999994 0.8660254037844387
}

func ExampleHypot() {
	fmt.Println(elementary.Hypot(600, 800))
	// Output: 1000
}

func ExampleLog() {
	fmt.Println(elementary.Log(10))
	// Output: 2.302585092994046
}
