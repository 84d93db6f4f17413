package submission

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// layout is where things lie in a zip. archive/zip reads the list of entries before anyone can count them, and
// believes the list without a look at what the entries say of themselves, so both are done here: before it
// reads, the list is walked and bounded; afterwards the two must agree.
type layout struct {
	zipName   string
	directory int64 // offset of the list of entries
	records   []record
}

// record is an entry of the list, as far as archive/zip keeps it to itself or may be contradicted.
type record struct {
	name   string
	offset int64 // of the entry's own header
}

// Sizes and signatures of a zip's structures, from APPNOTE.TXT 4.3.
const (
	recordLen      = 46
	headerLen      = 30
	endLen         = 22
	end64Len       = 56
	locator64Len   = 20
	maxCommentLen  = 1<<16 - 1
	recordMagic    = "PK\x01\x02"
	headerMagic    = "PK\x03\x04"
	endMagic       = "PK\x05\x06"
	end64Magic     = "PK\x06\x06"
	locator64Magic = "PK\x06\x07"
)

// recordBudget is how many bytes of the list there may be for each entry allowed: four times the longest name.
const recordBudget = 4 * maxNameBytes

var le = binary.LittleEndian

func (l *layout) refuse(found string, args ...any) error {
	return refuse(l.zipName, ZipUnreadable, "pack the folder again into a new zip", found, args...)
}

// readLayout walks the list of entries, within bounds of time and memory.
func readLayout(r io.ReaderAt, size int64, zipName string, limits Limits) (*layout, error) {
	l := &layout{zipName: zipName}
	count, length, err := l.findDirectory(r, size)
	if err != nil {
		return nil, err
	}
	tooMany := func() error {
		return refuse(zipName, ZipTooManyFiles, "leave out what the evaluation does not need", "the zip has more than %d entries", limits.MaxFiles)
	}
	switch {
	case count > uint64(limits.MaxFiles):
		return nil, tooMany()
	case length > int64(limits.MaxFiles)*recordBudget:
		return nil, refuse(zipName, ZipTooLarge, "pack the folder again without comments and extra attributes", "the list of entries alone has %s", byteCount(length))
	}
	list := make([]byte, length)
	if err := readAt(r, list, l.directory); err != nil {
		return nil, err
	}
	for len(list) > 0 {
		if len(list) < recordLen || string(list[:4]) != recordMagic {
			return nil, l.refuse("entry %d of the list is malformed", len(l.records)+1)
		}
		nameLen := int(le.Uint16(list[28:]))
		end := recordLen + nameLen + int(le.Uint16(list[30:])) + int(le.Uint16(list[32:]))
		if end > len(list) {
			return nil, l.refuse("entry %d of the list is cut short", len(l.records)+1)
		}
		if len(l.records) == limits.MaxFiles {
			return nil, tooMany()
		}
		l.records = append(l.records, record{string(list[recordLen : recordLen+nameLen]), int64(le.Uint32(list[42:]))})
		list = list[end:]
	}
	if uint64(len(l.records)) != count {
		return nil, l.refuse("the zip states %d entries and has %d", count, len(l.records))
	}
	return l, nil
}

// findDirectory reads the end of the zip: it sets where the list of entries begins, and returns how many entries
// and how many bytes it states.
func (l *layout) findDirectory(r io.ReaderAt, size int64) (count uint64, length int64, err error) {
	tail := make([]byte, min(size, endLen+maxCommentLen))
	if err := readAt(r, tail, size-int64(len(tail))); err != nil {
		return 0, 0, err
	}
	at := -1
	if len(tail) >= endLen {
		at = bytes.LastIndex(tail[:len(tail)-endLen+len(endMagic)], []byte(endMagic))
	}
	if at < 0 {
		return 0, 0, refuse(l.zipName, ZipUnreadable, "hand in a zip, and check that it arrives whole", "the file is no zip, or only a part of one")
	}
	end := tail[at:]
	if comment := int(le.Uint16(end[20:])); comment != len(end)-endLen {
		return 0, 0, l.refuse("the zip ends with %d bytes, where it states %d", len(end)-endLen, comment)
	}
	count = uint64(le.Uint16(end[10:]))
	length64, offset := uint64(le.Uint32(end[12:])), uint64(le.Uint32(end[16:]))
	whole := le.Uint32(end[4:]) == 0 && end[8] == end[10] && end[9] == end[11] // one disk
	stop := size - int64(len(end))

	if locator := make([]byte, locator64Len); stop >= locator64Len+end64Len {
		if err := readAt(r, locator, stop-locator64Len); err != nil {
			return 0, 0, err
		}
		if string(locator[:4]) == locator64Magic {
			stop -= locator64Len + end64Len
			end64 := make([]byte, end64Len)
			if err := readAt(r, end64, stop); err != nil {
				return 0, 0, err
			}
			count64 := le.Uint64(end64[32:])
			switch {
			case string(end64[:4]) != end64Magic, le.Uint64(locator[8:]) != uint64(stop):
				return 0, 0, l.refuse("the zip64 end is not where the zip states it")
			case !agrees(count, count64, 1<<16-1), !agrees(length64, le.Uint64(end64[40:]), 1<<32-1), !agrees(offset, le.Uint64(end64[48:]), 1<<32-1):
				return 0, 0, l.refuse("the zip64 end contradicts the end of the zip")
			}
			whole = whole && le.Uint64(end64[16:]) == 0 && le.Uint64(end64[24:]) == count64
			count, length64, offset = count64, le.Uint64(end64[40:]), le.Uint64(end64[48:])
		}
	}
	switch {
	case !whole:
		return 0, 0, refuse(l.zipName, ZipUnreadable, "pack the folder into a single zip", "the zip is one part of several")
	case offset > uint64(stop), length64 != uint64(stop)-offset:
		return 0, 0, l.refuse("the list of entries is not where the zip states it; something lies before it or behind it")
	}
	l.directory = int64(offset)
	return count, int64(length64), nil
}

// agrees reports whether a field says what its zip64 counterpart says, or leaves it to it.
func agrees(field, field64, unset uint64) bool { return field == field64 || field == unset }

// check holds what archive/zip read against what was walked, and the entries' own headers against both.
func (l *layout) check(r io.ReaderAt, files []*zip.File) error {
	if len(files) != len(l.records) {
		return l.refuse("the list of entries reads in two ways")
	}
	spans := make([]span, len(files))
	for i, f := range files {
		rec := l.records[i]
		mine := func(found string, args ...any) error {
			return refuse(rec.name, ZipUnreadable, "pack the folder again into a new zip", found, args...)
		}
		if rec.offset+headerLen+int64(len(rec.name)) > l.directory {
			return mine("the entry lies outside the zip")
		}
		header := make([]byte, headerLen+len(rec.name))
		if err := readAt(r, header, rec.offset); err != nil {
			return err
		}
		if string(header[:4]) != headerMagic {
			return mine("the entry does not begin where the zip states")
		}
		if int(le.Uint16(header[26:])) != len(rec.name) || string(header[headerLen:]) != rec.name {
			return mine("the entry has another name than the list has for it")
		}
		if le.Uint16(header[8:]) != f.Method || (le.Uint16(header[6:])^f.Flags)&flagEncrypted != 0 {
			return mine("the entry is packed in another way than the list states")
		}
		start := rec.offset + headerLen + int64(len(rec.name)) + int64(le.Uint16(header[28:]))
		if at, err := f.DataOffset(); err != nil {
			return unreadable(rec.name, err)
		} else if at != start || f.Name != rec.name {
			return mine("the entry reads in two ways")
		}
		if f.CompressedSize64 > uint64(l.directory) {
			return refuse(rec.name, ZipOverlap, "pack the folder again into a new zip", "the entry is larger than the zip")
		}
		spans[i] = span{rec.name, rec.offset, start + int64(f.CompressedSize64)}
	}
	return checkSpans(spans, l.directory, l.zipName)
}

// span is the bytes of one entry, from its header to the end of its packed content.
type span struct {
	name       string
	start, end int64
}

// checkSpans refuses entries that share bytes, and bytes before the first entry.
func checkSpans(spans []span, end int64, zipName string) error {
	slices.SortStableFunc(spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	first := end
	if len(spans) > 0 {
		first = spans[0].start
	}
	if first > 0 {
		return refuse(zipName, ZipUnreadable, "hand in a plain zip", "%d bytes lie before the first entry", first)
	}
	for i, s := range spans {
		limit := end
		other := "the list of entries"
		if i+1 < len(spans) {
			limit, other = spans[i+1].start, quoted(spans[i+1].name)
		}
		if s.end > limit {
			return refuse(s.name, ZipOverlap, "pack the folder again into a new zip", "the entry shares bytes with %s", other)
		}
	}
	return nil
}

// readAt fills b. The callers ask only for what the file's size promises, so an end of file is a fault too.
func readAt(r io.ReaderAt, b []byte, offset int64) error {
	if n, err := r.ReadAt(b, offset); n < len(b) {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return fmt.Errorf("read zip: %w", err)
	}
	return nil
}
