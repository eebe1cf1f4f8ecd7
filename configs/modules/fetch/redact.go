package fetch

import (
	"regexp"

	"github.com/tfdeps/tfdeps/configs/modules"
)

// login is what stands before the host of a URL, wherever in a text.
var login = regexp.MustCompile(`//[^/\s]*@`)

// harmless are the parameters whose values are no secrets.
var harmless = []string{"archive", "depth", "ref", "rev"}

func redact(pkg string) string { return modules.Redact(pkg) }
