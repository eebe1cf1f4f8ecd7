package products

import (
	"fmt"
	"strings"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/getproviders"
)

// ExplainVersion adds to problems with required_version what says that the product has its version:
// without that, it looks as if the constraint were wrong. Other problems stay as they are.
func ExplainVersion(m *cli.Meta, product getproviders.Product, problems problem.List) (explained problem.List) {
	origin := ""
	for _, p := range problems {
		if problem.OfSummary(p.Summary) != "required_version" {
			explained = append(explained, p)
			continue
		}
		if origin == "" {
			_, from, _ := findVersion(m, product, true) // Choose has reported an invalid variable
			origin = from.explain(m, product)
		}
		with := *p
		with.Detail += "\n\n" + origin
		explained = append(explained, &with)
	}
	return explained
}

// explain is a sentence about what says that the product has its version.
func (o Origin) explain(m *cli.Meta, product getproviders.Product) string {
	text := fmt.Sprintf("The version is %s (%s).", product.Version, o.Because(m, product))
	if variable := settingsOf[product.Program].path; o.Kind == VersionFromProgram && m.Env.Get(variable) == "" {
		text += " Another program can be named with " + variable + "."
	}
	return text
}

// Because says what decides on the version of a product, and on the product if that isn't Terraform by itself.
func (o Origin) Because(m *cli.Meta, product getproviders.Product) string {
	s, whose := settingsOf[product.Program], ""
	for _, variable := range []string{productAlias, productVariable} {
		if m.Env.Get(variable) != "" {
			whose = "by " + variable + ", "
		}
	}
	if m.StandIn != nil {
		whose = "called as " + m.StandIn.Name + ", "
	}
	assumed := fmt.Sprintf(": %s is assumed, unless %s says another", product.Version, s.version)
	switch o.Kind {
	case NoProgram:
		return whose + "no " + product.Program + " is on PATH" + assumed
	case SilentProgram:
		return whose + o.Program + " doesn't tell its version" + assumed
	case OldProgram:
		return whose + o.Program + " is too old" + assumed
	case VersionFromVariable:
		return whose + "by " + s.version
	case VersionFromName:
		return strings.TrimSuffix(whose, ", ")
	}
	return whose + "as " + o.Program + " says"
}
