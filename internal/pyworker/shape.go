package pyworker

import (
	"encoding/binary"
	"errors"
)

// maxDepth is how deep an answer may nest; ours go four deep.
const maxDepth = 8

// checkShape walks over MessagePack and refuses what states more than it holds, or nests deep. The decoder believes what
// a message states and makes room for it, up to gigabytes for some bytes. See the MessagePack specification for
// the formats.
func checkShape(b []byte) error {
	errShort := errors.New("it states more than it holds")
	left := []uint64{1} // for each open array or map, the values still to come
	for len(left) > 0 {
		if left[len(left)-1] == 0 {
			left = left[:len(left)-1]
			continue
		}
		left[len(left)-1]--
		if len(b) == 0 {
			return errShort
		}
		head := b[0]
		b = b[1:]
		// How many bytes follow, how many of them are a length, and what the length counts.
		var bytes, values, lengthBytes, perLength, valuesPerLength uint64
		switch {
		case head <= 0x7f, head >= 0xe0, head == 0xc0, head == 0xc2, head == 0xc3: // small numbers, nil, false, true
		case head <= 0x8f: // small map
			values = 2 * uint64(head&0x0f)
		case head <= 0x9f: // small array
			values = uint64(head & 0x0f)
		case head <= 0xbf: // small text
			bytes = uint64(head & 0x1f)
		case head <= 0xc6 && head >= 0xc4: // bytes
			lengthBytes, perLength = 1<<(head-0xc4), 1
		case head >= 0xca && head <= 0xcb: // floats
			bytes = 4 << (head - 0xca)
		case head >= 0xcc && head <= 0xcf: // numbers without sign
			bytes = 1 << (head - 0xcc)
		case head >= 0xd0 && head <= 0xd3: // numbers with one
			bytes = 1 << (head - 0xd0)
		case head >= 0xd9 && head <= 0xdb: // text
			lengthBytes, perLength = 1<<(head-0xd9), 1
		case head == 0xdc, head == 0xdd: // array
			lengthBytes, valuesPerLength = 2<<(head-0xdc), 1
		case head == 0xde, head == 0xdf: // map
			lengthBytes, valuesPerLength = 2<<(head-0xde), 2
		default:
			return errors.New("it has a format that no answer has") // an extension, or none
		}
		if lengthBytes > 0 {
			if uint64(len(b)) < lengthBytes {
				return errShort
			}
			var padded [8]byte
			copy(padded[8-lengthBytes:], b)
			length := binary.BigEndian.Uint64(padded[:])
			bytes, values = lengthBytes+length*perLength, length*valuesPerLength
		}
		if uint64(len(b)) < bytes || uint64(len(b))-bytes < values { // a value takes a byte or more
			return errShort
		}
		b = b[bytes:]
		if values > 0 {
			if left = append(left, values); len(left) > maxDepth {
				return errors.New("it nests too deep")
			}
		}
	}
	if len(b) > 0 {
		return errors.New("something comes after its end")
	}
	return nil
}
