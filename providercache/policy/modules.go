package policy

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

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
	commit     bool // git sources have to name a full commit
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

// ModuleCall is a call of a module that isn't a local path.
type ModuleCall struct {
	Registry   hosts.Hostname // of the module; "": it doesn't come from a registry
	Source     string         // "git::https://example.com/net.git?ref=v1"
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
	getter, address, forced := strings.Cut(c.Source, "::")
	if !forced {
		getter, address = "", c.Source
	}
	u, err := url.Parse(address)
	if err != nil {
		u = &url.URL{}
	}
	host, name := c.Registry, c.Registry.String()
	if host == "" {
		host, _ = hosts.HostnameOf(u)
		name = u.Host
	}
	switch {
	case !rules.anyHost && (host == "" || !slices.Contains(rules.hosts, host)):
		return fmt.Sprintf("it comes from the host %q, which is not one of the allowed ones", name)
	case rules.constraint && c.Registry != "" && c.Constraint == "":
		return "a module of a registry has to have a version constraint"
	case rules.commit && getter == "git" && !fullCommit().MatchString(u.Query().Get("ref")):
		return "a module from a git repository has to name a full commit, as in ?ref= and 40 hexadecimal digits"
	}
	return ""
}
