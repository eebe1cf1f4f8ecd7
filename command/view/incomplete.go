package view

import (
	"fmt"
	"strings"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/getproviders"
)

// IncompleteLock warns that lock entries were made which only this platform
// can use.
func IncompleteLock(product getproviders.Product, providers []getproviders.Provider) *problem.Problem {
	var list strings.Builder
	for _, p := range providers {
		list.WriteString("\n  - " + product.Short(p))
	}
	platform := getproviders.CurrentPlatform()
	return problem.Warning("Incomplete lock file information for providers", fmt.Sprintf(
		"The packages of these providers come from a source that doesn't tell the checksums of other platforms, so that "+
			"%s could only calculate those of its own:%s\n\n"+
			"The lock file .terraform.lock.hcl only includes checksums for %s: on another platform it will be "+
			"of no use for these providers.\n\n"+
			"To calculate additional checksums for another platform, run:\n"+
			"  %s providers lock -platform=%s\n"+
			"(where %[5]s is the platform to generate)",
		product.Name, list.String(), platform, product.Program, otherPlatform(platform)))
}

// otherPlatform is an example of a platform that isn't ours.
func otherPlatform(own getproviders.Platform) getproviders.Platform {
	if own.OS == "linux" {
		return getproviders.Platform{OS: "darwin", Arch: "arm64"}
	}
	return getproviders.Platform{OS: "linux", Arch: "amd64"}
}
