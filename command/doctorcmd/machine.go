package doctorcmd

import (
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view/result"
)

// describePrograms lists the programs of the products that are installed.
func (x *examination) describePrograms() {
	for _, product := range products.All() {
		found, err := products.InstalledOf(x.meta, product)
		if err != nil {
			x.add(problem.Fail("invalid_variable", "Invalid program", "%s", problem.Sentence(err)))
		}
		if len(found) == 0 {
			x.report.Programs = append(x.report.Programs, result.DoctorProgram{Program: product.Program})
		}
		for _, p := range found {
			shown := result.DoctorProgram{Program: product.Program, Path: p.Path, Version: p.Version, IsOwn: p.IsOwn}
			if p.Err != nil {
				shown.Error = p.Err.Error()
				x.add(problem.Warn("invalid_variable", "Invalid program",
					"The program %s doesn't tell its version: %v. Check what it prints:\n  %s version -json", p.Path, p.Err, shellWord(p.Path)))
			}
			x.report.Programs = append(x.report.Programs, shown)
		}
	}
}

// describePolicies lists the files with rules.
func (x *examination) describePolicies() {
	paths, problems := sources.PolicyFiles(x.meta)
	x.add(problems)
	for _, path := range paths {
		invalid := sources.CheckPolicy(path, x.product)
		x.add(invalid)
		x.report.Policies = append(x.report.Policies, result.DoctorPolicy{Path: path, OK: !invalid.HasErrors()})
	}
}
