package view

import (
	"fmt"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

// line is what there is to say of one provider, for people and for programs.
type line struct{ human, json string }

// progressLines are the lines for an event; most events have one, some none.
func progressLines(engine getproviders.Engine, e providercache.Event) []line {
	switch e := e.(type) {
	case providercache.BuiltInAvailable:
		text := engine.Short(e.Provider) + " is built in to " + engine.Name
		return []line{{"- " + text, text}}
	case providercache.QueryBegin:
		return []line{queryLine(engine.Short(e.Provider), e)}
	case providercache.AlreadyInstalled:
		what := fmt.Sprintf("%s v%s", engine.Short(e.Provider), e.Version)
		return []line{{"- Using previously-installed " + what, what + ": Using previously-installed provider version"}}
	case providercache.FetchBegin:
		what := fmt.Sprintf("%s v%s...", engine.Short(e.Provider), e.Version)
		return []line{{"- Installing " + what, "Installing provider version: " + what}}
	case providercache.FetchDone:
		return fetchedLines(fmt.Sprintf("%s v%s", engine.Short(e.Provider), e.Version), e.Authentication)
	}
	return nil
}

func queryLine(short string, e providercache.QueryBegin) line {
	switch {
	case e.Locked:
		return line{
			"- Reusing previous version of " + short + " from the dependency lock file",
			short + ": Reusing previous version from the dependency lock file",
		}
	case e.Constraints.IsEmpty():
		return line{
			"- Finding latest version of " + short + "...",
			short + ": Finding latest version...",
		}
	default:
		return line{
			fmt.Sprintf("- Finding %s versions matching %q...", short, e.Constraints),
			fmt.Sprintf("Finding matching versions for provider: %s, version_constraint: %q", short, e.Constraints),
		}
	}
}

// fetchedLines say that a package is in its place and how far it is to be
// trusted; what the check of its signature had to remark comes after.
func fetchedLines(what string, a getproviders.Authentication) []line {
	human, json := a.Tier.String(), a.Tier.String()
	if a.KeyID != "" {
		human += ", key ID " + a.KeyID
		json += "key_id: " + a.KeyID // no comma: the real tool has none
	}
	lines := []line{{
		fmt.Sprintf("- Installed %s (%s)", what, human),
		fmt.Sprintf("Installed provider version: %s (%s)", what, json),
	}}
	for _, note := range a.Notes {
		lines = append(lines, line{"  note: " + note, what + ": " + note})
	}
	return lines
}

// partnerProviders explains what the keys are whose IDs were told. Programs
// get it as one line, and without a code.
const partnerProviders = "Partner and community providers are signed by their developers.\n" +
	"If you'd like to know more about provider signing, you can read about it here:\n" +
	"https://developer.hashicorp.com/terraform/cli/plugins/signing"
