package submission

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"hash/crc32"
	"strings"
)

// part is an entry of a zip that may lie. Zero values tell the truth.
type part struct {
	name    string
	data    string
	method  uint16 // flate is applied for zip.Deflate only
	flags   uint16
	attrs   uint32 // external attributes; the Unix mode is the upper half
	comment string
	extra   string // in the list only

	crc       *uint32 // stated in place of the true one
	usize     *uint32
	csize     *uint32
	localName *string // in the entry's own header
	localFlag uint16  // added there
	sameAs    *int    // the list points to that entry's header, and the part has no bytes of its own
	unlisted  bool    // bytes only, no place in the list
}

func value[T any](v T) *T { return &v }

// rawZip writes a zip byte by byte, as archive/zip's writer would not make the lies.
func rawZip(parts ...part) []byte { return rawZipEnd(nil, parts...) }

// end is what the end of the zip says in place of the truth.
type end struct {
	count  *uint16
	offset *uint32
	length *uint32
	disk   uint16
	zip64  *int64 // adds a zip64 end, its count changed by that much
}

func rawZipEnd(e *end, parts ...part) []byte {
	if e == nil {
		e = &end{}
	}
	var out, list bytes.Buffer
	u16 := func(b *bytes.Buffer, v uint16) { b.Write(le.AppendUint16(nil, v)) }
	u32 := func(b *bytes.Buffer, v uint32) { b.Write(le.AppendUint32(nil, v)) }
	u64 := func(b *bytes.Buffer, v uint64) { b.Write(le.AppendUint64(nil, v)) }
	or := func(v *uint32, truth uint32) uint32 {
		if v != nil {
			return *v
		}
		return truth
	}
	offsets := make([]int, len(parts))
	count := 0
	for i, p := range parts {
		packed := p.data
		if p.method == zip.Deflate {
			packed = deflate(p.data)
		}
		crc, usize, csize := or(p.crc, crc32.ChecksumIEEE([]byte(p.data))), or(p.usize, uint32(len(p.data))), or(p.csize, uint32(len(packed)))
		sizes := func(b *bytes.Buffer) {
			u16(b, p.method)
			u32(b, 0x5a210000) // 2025-01-01
			u32(b, crc)
			u32(b, csize)
			u32(b, usize)
		}
		if p.sameAs != nil {
			offsets[i] = offsets[*p.sameAs]
		} else {
			offsets[i] = out.Len()
			local := p.name
			if p.localName != nil {
				local = *p.localName
			}
			out.WriteString(headerMagic)
			u16(&out, 20)
			u16(&out, p.flags|p.localFlag)
			sizes(&out)
			u16(&out, uint16(len(local)))
			u16(&out, 0)
			out.WriteString(local + packed)
		}
		if p.unlisted {
			continue
		}
		count++
		list.WriteString(recordMagic)
		u16(&list, 3<<8|20)
		u16(&list, 20)
		u16(&list, p.flags)
		sizes(&list)
		u16(&list, uint16(len(p.name)))
		u16(&list, uint16(len(p.extra)))
		u16(&list, uint16(len(p.comment)))
		u32(&list, 0)
		u32(&list, p.attrs)
		u32(&list, uint32(offsets[i]))
		list.WriteString(p.name + p.extra + p.comment)
	}
	offset := out.Len()
	out.Write(list.Bytes())
	if e.zip64 != nil {
		at := out.Len()
		out.WriteString(end64Magic)
		u64(&out, end64Len-12)
		u32(&out, 45<<16|45)
		u64(&out, 0)
		for range 2 {
			u64(&out, uint64(int64(count)+*e.zip64))
		}
		u64(&out, uint64(list.Len()))
		u64(&out, uint64(offset))
		out.WriteString(locator64Magic)
		u32(&out, 0)
		u64(&out, uint64(at))
		u32(&out, 1)
	}
	stated := uint16(count)
	if e.count != nil {
		stated = *e.count
	}
	out.WriteString(endMagic)
	u16(&out, e.disk)
	u16(&out, e.disk)
	u16(&out, stated)
	u16(&out, stated)
	u32(&out, or(e.length, uint32(list.Len())))
	u32(&out, or(e.offset, uint32(offset)))
	u16(&out, 0)
	return out.Bytes()
}

// zip64 is an extra field with sizes for those that are stated as 1<<32-1.
func zip64(sizes ...uint64) string {
	b := le.AppendUint16(nil, 1)
	b = le.AppendUint16(b, uint16(8*len(sizes)))
	for _, n := range sizes {
		b = le.AppendUint64(b, n)
	}
	return string(b)
}

func deflate(data string) string {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		panic(err)
	}
	_, _ = w.Write([]byte(data))
	_ = w.Close()
	return b.String()
}

// Parts of an honest submission.
var (
	manifestPart = part{name: "submission.yaml", data: "team: Sky Rail Heroes\n"}
	modelPart    = part{name: "model/policy.zip", data: "not looked into"}
)

// honest is a submission with further parts.
func honest(more ...part) []byte { return rawZip(append([]part{manifestPart, modelPart}, more...)...) }

// stating is an honest submission with another manifest.
func stating(manifest string, more ...part) []byte {
	return rawZip(append([]part{{name: "submission.yaml", data: manifest}, modelPart}, more...)...)
}

func named(names ...string) []byte {
	var parts []part
	for _, n := range names {
		parts = append(parts, part{name: n})
	}
	return honest(parts...)
}

func lines(s ...string) string { return strings.Join(s, "\n") + "\n" }
