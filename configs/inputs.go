package configs

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Values are values for the input variables of a module, by name, before they
// are converted to the types of the variables. An unknown value stands for one
// that only a plan knows. Those that [ReadInputs] returns are marked with where
// they come from, and text from arguments and the environment with how it is to
// be read; any other values will do as well.
type Values map[string]cty.Value

// origin is the mark of a value that ReadInputs returns.
type origin struct {
	from     string    // as a sentence can have it
	at       hcl.Range // zero: not in a file
	text     bool      // to be read as the type of the variable says
	argument bool      // of the program: the variable has to exist
}

// secrecy is the mark of a value that mustn't get into the source of a module.
type secrecy string

const (
	sensitive secrecy = "sensitive"
	ephemeral secrecy = "ephemeral"
)

// takeOrigin returns a value without the mark that says where it comes from.
func takeOrigin(val cty.Value) (cty.Value, origin) {
	from := origin{from: "the module's caller"}
	val, marks := val.Unmark()
	for mark := range marks {
		if o, ok := mark.(origin); ok {
			from = o
			continue
		}
		val = val.Mark(mark)
	}
	return val, from
}

// undeclared reports variables that an argument gives a value, and that don't
// exist. Files and the environment may have values for other configurations.
func (s *scope) undeclared() (problems hcl.Diagnostics) {
	for _, name := range slices.Sorted(maps.Keys(s.inputs)) {
		if _, ok := s.variables[name]; ok {
			continue
		}
		if _, from := takeOrigin(s.inputs[name]); from.argument {
			problems = append(problems, &hcl.Diagnostic{
				Severity: hcl.DiagError,
				Summary:  "Value for undeclared variable",
				Detail:   fmt.Sprintf("There is a value for %q on the command line, but no variable of that name in the root module.", name),
			})
		}
	}
	return problems
}
