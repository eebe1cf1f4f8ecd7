package unpack

import (
	"fmt"
	"slices"

	"github.com/klauspost/compress/zip"

	"github.com/tfdeps/tfdeps/getproviders"
)

// Rule is one of the rules for package archives, by its number in the list of
// unpack.go. An error about an archive matches its Rule under errors.Is.
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

// broken says which rule for package archives an archive breaks: the error matches it.
func broken(rule Rule, format string, args ...any) error {
	return &getproviders.Fault{
		Code: "invalid_package", Kind: rule, Err: fmt.Errorf("invalid package archive: "+format, args...),
		Hint: "the package was published wrongly, or something else was downloaded in its place: don't use it, and tell the provider's publisher",
	}
}

// breaks is broken for an entry; format is the rest of a sentence about it.
func breaks(f *zip.File, rule Rule, format string, args ...any) error {
	return broken(rule, "entry %q "+format, slices.Concat([]any{f.Name}, args)...)
}
