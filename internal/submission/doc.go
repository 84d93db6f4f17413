// Package submission opens what a team hands in: a zip made by a stranger, with a manifest.
//
//	zip ─ entries ─ [Manifest] + [Submission.Warnings] ─ Extract ─ a folder that a worker may run
//
// [Open] is where to start. It hides two hard things. A zip says everything twice and may lie each time, so every
// name, size, checksum and byte range is looked at, and every byte unpacked once into nothing, before anything is
// written. And YAML guesses types, so the manifest is read strictly, with line and column for each complaint.
//
//	s, err := submission.Open("team.zip", submission.DefaultLimits())
//	if err != nil {
//		return err // a *Refusal tells the participant what to do; anything else is a fault of ours
//	}
//	defer s.Close()
//	for _, w := range s.Warnings {
//		fmt.Println("warning:", w)
//	}
//	return s.Extract(dir)
//
// A [Refusal] carries a [Rule], a stable code; [Rules] lists them all. What is odd but harmless is a warning.
// Names are relative to the folder the manifest lies in, with forward slashes. What operating systems and Python
// leave behind (__MACOSX, .DS_Store, ._*, __pycache__, *.pyc) is left out, though it counts for the limits.
//
// The zip must be nothing but a zip: bytes before the first entry (a self-extracting program) or after the end
// are refused, because two readers may then see two different archives. Zip64 records are read where they agree
// with the rest.
//
// The package runs nothing, imports no Python and does not look into checkpoints.
package submission
