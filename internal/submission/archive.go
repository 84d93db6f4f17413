package submission

import (
	"archive/zip"
	"compress/flate"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"strings"
)

// entry is a file or folder of a zip, and safe to unpack: its name, kind and place have been checked.
type entry struct {
	name   string // without a folder's closing slash
	folder bool
	junk   bool // see isJunk
	file   *zip.File
}

// Bits of an entry's header, as APPNOTE.TXT and Unix have them.
const (
	flagEncrypted       = 1 << 0
	flagStrongEncrypted = 1 << 6
	flagMaskedHeader    = 1 << 13

	unixKind    = 0o170000 // of the upper half of the external attributes
	unixUnset   = 0
	unixFolder  = 0o040000
	unixRegular = 0o100000
	unixLink    = 0o120000
)

// readArchive lists the zip of that many bytes and refuses one that is not safe to unpack. name is its own, for
// refusals. Every file has been unpacked once, so what comes later can only meet faults of the machine.
func readArchive(r io.ReaderAt, size int64, name string, limits Limits) ([]entry, error) {
	if size > limits.MaxZipBytes {
		return nil, refuse(name, ZipTooLarge, "leave out what the evaluation does not need", "the zip has %s, more than %s", byteCount(size), byteCount(limits.MaxZipBytes))
	}
	layout, err := readLayout(r, size, name, limits)
	if err != nil {
		return nil, err
	}
	z, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // which checkName looks for, and more
		return nil, unreadable(name, err)
	}
	entries := make([]entry, 0, len(z.File))
	names := make(tree)
	for _, f := range z.File {
		e, err := newEntry(f, limits)
		if err != nil {
			return nil, err
		}
		if err := names.add(e.name, e.folder); err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	if err := layout.check(r, z.File); err != nil {
		return nil, err
	}
	if err := checkTotals(z.File, name, limits); err != nil {
		return nil, err
	}
	for _, e := range entries {
		if err := e.unpack(io.Discard); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// newEntry looks at everything the list of entries says about one of them.
func newEntry(f *zip.File, limits Limits) (entry, error) {
	name, folder := strings.CutSuffix(f.Name, "/")
	if strings.HasPrefix(f.Name, "/") {
		name = f.Name // "/" alone is an absolute path, not a folder without a name
	}
	if err := checkName(name, limits.MaxDepth); err != nil {
		return entry{}, err
	}
	switch kind := f.ExternalAttrs >> 16 & unixKind; {
	case kind == unixLink:
		return entry{}, refuse(name, ZipLink, "put a copy of the file in its place", "the entry is a link")
	case kind != unixUnset && kind != unixFolder && kind != unixRegular:
		return entry{}, refuse(name, ZipSpecialFile, "leave it out", "the entry is a device, a pipe or a socket")
	case kind == unixFolder && !folder, kind == unixRegular && folder:
		return entry{}, refuse(name, ZipFileIsFolder, "pack the folder again with an ordinary zip tool", "the entry is a file by its name and a folder by its mode, or the other way round")
	case folder && f.UncompressedSize64 > 0:
		return entry{}, refuse(name, ZipFileIsFolder, "pack the folder again with an ordinary zip tool", "the entry is a folder with content")
	case f.Flags&(flagEncrypted|flagStrongEncrypted|flagMaskedHeader) != 0:
		return entry{}, refuse(name, ZipEncrypted, "pack it without a password", "the entry is encrypted")
	case f.Method != zip.Store && f.Method != zip.Deflate:
		return entry{}, refuse(name, ZipCompression, "pack it with the ordinary method, deflate", "the entry uses compression method %d", f.Method)
	case f.UncompressedSize64 > uint64(limits.MaxFileBytes):
		return entry{}, refuse(name, ZipFileTooLarge, "leave it out or make it smaller", "the file unpacks to more than %s", byteCount(limits.MaxFileBytes))
	case tooDense(f.UncompressedSize64, f.CompressedSize64, limits):
		return entry{}, refuse(name, ZipRatio, "leave it out, or store it without compression", "%s unpack to %s, more than %d times as much",
			byteCount(int64(f.CompressedSize64)), byteCount(int64(f.UncompressedSize64)), limits.MaxRatio)
	}
	return entry{name: name, folder: folder, junk: isJunk(name), file: f}, nil
}

func tooDense(unpacked, packed uint64, limits Limits) bool {
	return unpacked > ratioFloor && (unpacked-1)/uint64(limits.MaxRatio) >= packed
}

// checkTotals adds up sizes of which each has been seen to be small.
func checkTotals(files []*zip.File, name string, limits Limits) error {
	var unpacked, packed uint64
	for _, f := range files {
		unpacked += f.UncompressedSize64
		packed += f.CompressedSize64
		if unpacked > uint64(limits.MaxBytes) {
			return refuse(name, ZipTooLarge, "leave out what the evaluation does not need", "the files unpack to more than %s", byteCount(limits.MaxBytes))
		}
	}
	if tooDense(unpacked, packed, limits) {
		return refuse(name, ZipRatio, "leave out what the evaluation does not need, or store it without compression",
			"%s of files unpack to %s, more than %d times as much", byteCount(int64(packed)), byteCount(int64(unpacked)), limits.MaxRatio)
	}
	return nil
}

// unpack writes the content of a file, never more than the size it states, and checks it.
func (e entry) unpack(w io.Writer) error {
	if e.folder {
		return nil
	}
	mismatch := func(found string) error {
		return refuse(e.name, ZipSizeMismatch, "pack the folder again into a new zip", "the file %s than the %d bytes that the zip states", found, e.file.UncompressedSize64)
	}
	damaged := func(found string) error {
		return refuse(e.name, ZipChecksum, "pack the folder again into a new zip and check that it arrives whole", "the content %s", found)
	}
	content, err := e.file.Open()
	if err != nil {
		return unreadable(e.name, err)
	}
	defer content.Close()
	sum := crc32.NewIEEE()
	stated := int64(e.file.UncompressedSize64)
	n, err := io.CopyN(io.MultiWriter(w, sum), content, stated)
	if err == nil {
		_, err = io.ReadFull(content, make([]byte, 1)) // the end, which archive/zip checks on reaching it
	}
	var corrupt flate.CorruptInputError
	switch {
	case err == nil, errors.Is(err, zip.ErrFormat):
		return mismatch("unpacks to more")
	case n < stated && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)):
		return mismatch("unpacks to less")
	case errors.Is(err, io.EOF):
	case errors.Is(err, zip.ErrChecksum):
		return damaged("does not match its checksum")
	case errors.As(err, &corrupt), errors.Is(err, io.ErrUnexpectedEOF):
		return damaged("is damaged")
	default:
		return fmt.Errorf("unpack %s: %w", printable(e.name), err)
	}
	// archive/zip takes a stated sum of zero for none.
	if sum.Sum32() != e.file.CRC32 {
		return damaged("does not match its checksum")
	}
	return nil
}

// unreadable tells a zip that makes no sense from a disk that cannot be read.
func unreadable(name string, err error) error {
	var disk *fs.PathError
	if errors.As(err, &disk) {
		return fmt.Errorf("read zip: %w", err)
	}
	return refuse(name, ZipUnreadable, "pack the folder again into a new zip", "the zip cannot be read: %w", err)
}
