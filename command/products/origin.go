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
	s, v := settingsOf[product.Program], product.Version
	where, otherwise := "which is on PATH", " Another program can be named with "+s.path+"."
	if m.Env.Get(s.path) != "" {
		where, otherwise = "which "+s.path+" names", ""
	}
	switch o.Kind {
	case VersionFromVariable:
		return fmt.Sprintf("The variable %s says that the version is %s.", s.version, v)
	case VersionFromName:
		return fmt.Sprintf("The name by which this program was called, %s, says that the version is %s.", m.StandIn.Name, v)
	case VersionFromProgram:
		return fmt.Sprintf("Version %s is that of %s, %s.%s", v, o.Program, where, otherwise)
	case SilentProgram:
		return fmt.Sprintf("Version %s is assumed, because %s, %s, doesn't tell its version. Set %s to the one that it has.", v, o.Program, where, s.version)
	case OldProgram:
		return fmt.Sprintf("Version %s is assumed, because %s is Terraform %s, which is too old.", v, o.Program, o.old)
	default:
		return fmt.Sprintf("Version %s is assumed, because no %s is on PATH. Set %s to the version that is used, or %s to where the program is.", v, product.Program, s.version, s.path)
	}
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
