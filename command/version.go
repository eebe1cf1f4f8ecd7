package command

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
)

// VersionCommand tells versions: the product's, our own, and those of the
// selected providers.
type VersionCommand struct{ Meta *Meta }

// Synopsis says in a line what the command is for.
func (c *VersionCommand) Synopsis() string { return "Show the current version" }

// Run carries the command out and returns the exit code.
func (c *VersionCommand) Run(args []string) int {
	flags := flag.NewFlagSet("version", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	asJSON := flags.Bool("json", false, "")
	if err := flags.Parse(args); err != nil {
		fmt.Fprintf(c.Meta.Stderr, "Error parsing command-line flags: %s\n", err)
		return 1
	}
	product, err := c.Meta.product()
	if err != nil {
		fmt.Fprintf(c.Meta.Stderr, "Error: %s\n", err)
		return 1
	}
	// A lock file that can't be read is no reason not to tell the version;
	// the entries that can are listed.
	locks, problems := depsfile.Load(depsfile.FileName, product)
	view.NewInit(c.Meta.viewOptions(product, false)).Problems(problems)
	if *asJSON {
		c.printJSON(product, locks.All())
	} else {
		c.print(product, locks.All())
	}
	return 0
}

func (c *VersionCommand) print(product getproviders.Product, locks []depsfile.Lock) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s v%s\non %s\n", product.Name, product.Version, getproviders.CurrentPlatform())
	fmt.Fprintf(&b, "+ tfdeps %s\n", c.Meta.Version)
	for _, lock := range locks {
		version := "v" + lock.Version.String()
		if lock.Version == (getproviders.Version{}) {
			version = "(unversioned)"
		}
		fmt.Fprintf(&b, "+ provider %s %s\n", lock.Provider, version)
	}
	_, _ = c.Meta.Stdout.Write(b.Bytes())
}

// printJSON prints what the real tool prints, and our own version after it.
func (c *VersionCommand) printJSON(product getproviders.Product, locks []depsfile.Lock) {
	selections := make(map[string]string, len(locks))
	for _, lock := range locks {
		selections[lock.Provider.String()] = lock.Version.String()
	}
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	out.SetIndent("", "  ")
	err := out.Encode(struct {
		ProductVersion string            `json:"terraform_version"`
		Platform       string            `json:"platform"`
		Selections     map[string]string `json:"provider_selections"`
		Outdated       bool              `json:"terraform_outdated"`
		OwnVersion     string            `json:"tfdeps_version"`
	}{product.Version, getproviders.CurrentPlatform().String(), selections, false, c.Meta.Version})
	if err != nil {
		return // strings always encode
	}
	_, _ = c.Meta.Stdout.Write(b.Bytes())
}
