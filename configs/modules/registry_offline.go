package modules

import (
	"errors"

	"github.com/hashicorp/hcl/v2"
	"github.com/tfdeps/tfdeps/configs/internal/diagnostic"
)

// offlineChoice is what a choice among remembered versions comes to. A registry
// that was asked might have told of others, so that none of them fits means
// only that the right one isn't known.
func offlineChoice(module Registry, choice Choice, err error) (Choice, error) {
	if errors.Is(err, ErrNoVersion) {
		module.Subdir = ""
		return Choice{}, offline(release{module: module})
	}
	choice.Unasked = err == nil
	return choice, err
}

// chosenOffline warns of a version that may be another one than that which the
// registry would have led to; nothing if it was asked, or there is no other.
func chosenOffline(s *step) hcl.Diagnostics {
	if !s.origin.unasked {
		return nil
	}
	return hcl.Diagnostics{diagnostic.Warning(s.call.SourceRange, "Version chosen offline among what is there",
		"The module %q gets %s %s, which is remembered. Its registry wasn't asked, and may have another version that the call allows.",
		s.call.Name, s.origin.registry.Package(), s.origin.version)}
}
