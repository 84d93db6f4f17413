package submission

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Refusal says why a submission is not accepted, for the participant to read. Faults of the machine, such as a
// disk that cannot be read, are other errors.
type Refusal struct {
	Path string // the place: a name in the zip, a manifest's file:line:column, or the zip's own name; printable
	Rule Rule   // which rule is broken
	Hint string // what to do
	Err  error  // what was found
}

// Error is the place, then what was found, then what to do.
func (r *Refusal) Error() string { return fmt.Sprintf("%s: %v; %s", r.Path, r.Err, r.Hint) }

// Unwrap returns what was found.
func (r *Refusal) Unwrap() error { return r.Err }

// refuse makes a refusal. The path may be hostile, the hint may not: it quotes what it names.
func refuse(path string, rule Rule, hint, found string, args ...any) error {
	return &Refusal{Path: printable(path), Rule: rule, Hint: hint, Err: fmt.Errorf(found, args...)}
}

// shownBytes is how much of a name is shown: a whole line of a terminal or more, but no flood.
const shownBytes = 200

// printable makes a stranger's name fit for a terminal and a log.
func printable(name string) string {
	name = clip(name)
	if !utf8.ValidString(name) || !isLine(name) {
		return strconv.Quote(name)
	}
	return name
}

// quoted is a stranger's name in quotation marks, for use within a sentence.
func quoted(name string) string { return strconv.Quote(clip(name)) }

func clip(name string) string {
	if len(name) <= shownBytes {
		return name
	}
	cut := shownBytes
	for cut > shownBytes-utf8.UTFMax && !utf8.RuneStart(name[cut]) {
		cut--
	}
	return name[:cut] + "…"
}

// Rule is a stable code for one thing that is asked of a submission.
type Rule string

// The rules. [Rule.Explanation] has a sentence for each.
const (
	ZipUnreadable      Rule = "zip-unreadable"
	ZipTooLarge        Rule = "zip-too-large"
	ZipTooManyFiles    Rule = "zip-too-many-files"
	ZipFileTooLarge    Rule = "zip-file-too-large"
	ZipRatio           Rule = "zip-ratio"
	ZipOverlap         Rule = "zip-overlap"
	ZipSizeMismatch    Rule = "zip-size-mismatch"
	ZipChecksum        Rule = "zip-checksum"
	ZipEncrypted       Rule = "zip-encrypted"
	ZipCompression     Rule = "zip-compression"
	ZipPathEscapes     Rule = "zip-path-escapes"
	ZipAbsolutePath    Rule = "zip-absolute-path"
	ZipNameNotUTF8     Rule = "zip-name-not-utf8"
	ZipNameUnusable    Rule = "zip-name-unusable"
	ZipLink            Rule = "zip-link"
	ZipSpecialFile     Rule = "zip-special-file"
	ZipDuplicateName   Rule = "zip-duplicate-name"
	ZipCaseClash       Rule = "zip-case-clash"
	ZipFileIsFolder    Rule = "zip-file-is-folder"
	ManifestMissing    Rule = "manifest-missing"
	ManifestAmbiguous  Rule = "manifest-ambiguous"
	ManifestTooLarge   Rule = "manifest-too-large"
	ManifestSyntax     Rule = "manifest-syntax"
	ManifestType       Rule = "manifest-type"
	ManifestText       Rule = "manifest-text"
	ManifestTeam       Rule = "manifest-team-missing"
	ManifestEntryPoint Rule = "manifest-entry-point"
	ModelMissing       Rule = "model-missing"
)

type explanation struct {
	rule Rule
	text string
}

// explained is in the order in which the rules are looked at.
var explained = []explanation{
	{ZipUnreadable, "The file is a whole zip and nothing but a zip: nothing before its first entry, nothing after its end, and its parts agree."},
	{ZipTooLarge, "The zip, its list of entries and the sum of what it unpacks to stay within the limits."},
	{ZipTooManyFiles, "The number of entries, folders included, stays within the limit."},
	{ZipFileTooLarge, "No single file unpacks to more than the limit."},
	{ZipRatio, "Nothing large unpacks to a suspicious multiple of its packed size."},
	{ZipOverlap, "No two entries share bytes of the zip."},
	{ZipSizeMismatch, "Every file unpacks to exactly the size that the zip states for it."},
	{ZipChecksum, "Every file unpacks without damage and to the checksum that the zip states for it."},
	{ZipEncrypted, "Nothing in the zip is encrypted."},
	{ZipCompression, "Every file is stored or deflated, the two methods every tool knows."},
	{ZipPathEscapes, "No name contains a .. component."},
	{ZipAbsolutePath, "No name begins with a slash."},
	{ZipNameNotUTF8, "Every name is valid UTF-8."},
	{ZipNameUnusable, "Every name can be a file on Linux, macOS and Windows: no control characters, backslashes, drive letters, empty or reserved components, and neither too long nor too deep."},
	{ZipLink, "The zip contains no links."},
	{ZipSpecialFile, "The zip contains only files and folders: no devices, pipes or sockets."},
	{ZipDuplicateName, "No name comes twice."},
	{ZipCaseClash, "No two names differ only by upper and lower case or by the way accents are encoded."},
	{ZipFileIsFolder, "No name is both a file and a folder."},
	{ManifestMissing, "There is a submission.yaml at the top of the zip or one folder down."},
	{ManifestAmbiguous, "If no submission.yaml lies at the top, only one folder of the zip has one."},
	{ManifestTooLarge, "The manifest is a short file."},
	{ManifestSyntax, "The manifest is one YAML document in UTF-8: plain keys and values, each key once, no anchors, aliases or tags."},
	{ManifestType, "Every key of the manifest has a value of its type."},
	{ManifestText, "Texts in the manifest are short enough for a board and free of control characters."},
	{ManifestTeam, "The manifest names the team."},
	{ManifestEntryPoint, "Entry points are written pkg.mod:Class or pkg.mod.Class, and if the zip contains the package it contains the module."},
	{ModelMissing, "There is a model/policy.zip, unless the manifest sets policy_entry_point."},
}

// Rules returns every rule, in the order in which they are looked at.
func Rules() []Rule {
	rules := make([]Rule, len(explained))
	for i, e := range explained {
		rules[i] = e.rule
	}
	return rules
}

// Explanation is one sentence on what the rule asks for, or "" for a code that is no rule.
func (r Rule) Explanation() string {
	for _, e := range explained {
		if e.rule == r {
			return e.text
		}
	}
	return ""
}
