package policy

import (
	"fmt"
	"net/url"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/par"
)

// moduleRules is a block "modules".
type moduleRules struct {
	pos        getproviders.Pos
	hosts      []hosts.Hostname
	anyHost    bool
	commit     bool // sources in repositories have to name a full commit
	constraint bool // modules of a registry need a version constraint
}

var modulesSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "hosts"}, {Name: "require_commit"}, {Name: "require_constraint"}}}

func (r *reader) modulesBlock(block *hcl.Block) {
	content, diags := block.Body.Content(modulesSchema)
	r.diags = append(r.diags, diags...)
	rules := moduleRules{pos: position(block.DefRange), anyHost: true}
	for name, attr := range content.Attributes {
		var given []string
		switch name {
		case "hosts":
			rules.anyHost = false
			r.value(attr, &given)
		case "require_commit":
			r.value(attr, &rules.commit)
		case "require_constraint":
			r.value(attr, &rules.constraint)
		}
		for _, text := range given {
			host, err := hosts.ParseHostname(text)
			if err != nil {
				r.problem(attr.Range, "%q is not the name of a host: %v.", text, err)
			}
			rules.hosts = append(rules.hosts, host)
		}
	}
	r.made.modules = append(r.made.modules, rules)
}

// ModuleCall is a call of a module that isn't a local path: of one in a registry, or of one whose package is fetched
// from somewhere else. What would be fetched is for the fetcher to say, because many spellings of a source mean the same.
type ModuleCall struct {
	Registry   hosts.Hostname // of the module; "": it doesn't come from a registry
	Kind       string         // how the package is fetched: "git", "hg", "http", "s3", "gcs", "oci" or "file"; "" if it isn't known
	URL        string         // where the package is, without parameters for the fetcher
	Ref        string         // what is checked out of a repository; "" means its default
	Constraint string         // on the version
}

// CheckModule returns a Refusal if the module may not be called, else nil.
func (p Policy) CheckModule(c ModuleCall) *Refusal {
	for _, rules := range p.modules {
		if reason := rules.check(c); reason != "" {
			return &Refusal{Rule: ruleModules, Pos: rules.pos, Reason: reason}
		}
	}
	return nil
}

// HasModules reports whether there are rules for modules.
func (p Policy) HasModules() bool { return len(p.modules) > 0 }

const ruleModules = "modules"

var fullCommit = par.OnceRegexp(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

func (rules moduleRules) check(c ModuleCall) string {
	host, name := c.host()
	isRegistry := c.Registry != ""
	isArchive := slices.Contains([]string{"http", "s3", "gcs", "oci", "file"}, c.Kind)

	switch {
	case !rules.anyHost && (host == "" || !slices.Contains(rules.hosts, host)):
		return fmt.Sprintf("it comes from the host %q, which is not one of the allowed ones", name)
	case rules.constraint && isRegistry && c.Constraint == "":
		return "a module of a registry has to have a version constraint"
	case rules.commit && !isRegistry && !isArchive && !fullCommit().MatchString(c.Ref):
		return "a module from a repository has to name a full commit of 40 hexadecimal digits, in ?ref= for git and ?rev= for Mercurial"
	}
	return ""
}

// host returns the host of a module, "" if it has none, and the host in words.
func (c ModuleCall) host() (host hosts.Hostname, name string) {
	if c.Registry != "" {
		return c.Registry, c.Registry.String()
	}
	u, err := url.Parse(c.URL)
	if err != nil {
		return "", ""
	}
	host, err = hosts.HostnameOf(u)
	if err != nil {
		return "", u.Host
	}
	return host, u.Host
}
