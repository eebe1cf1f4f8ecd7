package cliconfig

import (
	"os"
	"path/filepath"
)

// devOverrides reads the inside of
//
//	dev_overrides {
//	  "example.com/acme/aaa" = "$HOME/src/terraform-provider-aaa/bin"
//	}
//
// The keys are source addresses in all their forms. Of several entries for a
// provider the last counts.
func (r *reader) devOverrides(entries []field) {
	for _, f := range entries {
		p, err := r.product.ParseProvider(f.name)
		if err != nil {
			r.report("Invalid provider installation dev overrides", f.line, "The entry %q has no valid provider source address: %v", f.name, err)
			continue
		}
		dir, ok := f.value.words()
		if !ok {
			r.report(badMethod, f.line, "The directory of %q in dev_overrides must be a string, but it is %s.", f.name, f.value.kind)
			continue
		}
		r.config.DevOverrides[p] = filepath.Clean(r.expand(f.line, dir))
	}
}

// expand replaces $NAME and ${NAME}. That a variable is not set, or empty, is
// a problem: what remains of the path would be some other directory.
func (r *reader) expand(line int, text string) string {
	return os.Expand(text, func(name string) string {
		set := r.env(name)
		if set == "" {
			r.report("Interpolated environment variable not set", line,
				"The environment variable %s is not set or empty, so the path %q would mean another directory.", name, text)
		}
		return set
	})
}
