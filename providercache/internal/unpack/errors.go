package unpack

import (
	"fmt"

	"github.com/klauspost/compress/zip"
)

// Rule is one of the rules for package archives, by its number in the list of
// unpack.go. An [*Error] matches its Rule under errors.Is.
type Rule int

// The rules.
const (
	RuleArchive    Rule = iota + 1 // one whole zip archive
	RuleEntries                    // some entries, not too many
	RuleNameText                   // names are text
	RuleNamePath                   // names stay inside
	RuleKind                       // files and directories only
	RuleUnique                     // no name twice
	RuleTree                       // no file where a directory is needed
	RuleMethod                     // stored or deflated, not encrypted
	RuleData                       // data inside the archive, without overlap
	RuleSize                       // not too large
	RuleContent                    // size and checksum as promised
	RuleExecutable                 // the provider's executable is there
)

// Error implements error.
func (r Rule) Error() string { return fmt.Sprintf("package archive breaks rule %d", int(r)) }

// Error says which rule for package archives an archive breaks.
type Error struct {
	Rule   Rule
	Entry  string // as the archive has it; "" if it is about the whole archive
	Detail string // the rest of a sentence about the entry or the archive
}

// Error implements error.
func (e *Error) Error() string {
	if e.Entry == "" {
		return "invalid package archive: " + e.Detail
	}
	return fmt.Sprintf("invalid package archive: entry %q %s", e.Entry, e.Detail)
}

// Code is "invalid_package".
func (e *Error) Code() string { return "invalid_package" }

// Hint says who can help.
func (e *Error) Hint() string {
	return "the package was published wrongly, or something else was downloaded in its place: don't use it, and tell the provider's publisher"
}

// Unwrap returns the Rule.
func (e *Error) Unwrap() error { return e.Rule }

func breaks(f *zip.File, rule Rule, format string, args ...any) error {
	return &Error{Rule: rule, Entry: f.Name, Detail: fmt.Sprintf(format, args...)}
}
