package explain

import (
	"errors"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cause"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/must"
)

// asked is a requirement at a place in a file.
func asked(constraints, module, file string, line int) getproviders.Requirement {
	return getproviders.Requirement{
		Constraints: getproviders.MustParseConstraints(constraints),
		Pos:         getproviders.Pos{Module: module, File: file, Line: line},
	}
}

func noVersion(required []getproviders.Requirement, versions ...string) error {
	var available []getproviders.Version
	for _, v := range versions {
		available = append(available, getproviders.MustParseVersion(v))
	}
	return &cause.NoVersionError{
		Provider:    alpha,
		Constraints: getproviders.Requirements{alpha: required}.Constraints(alpha),
		Newest:      available[len(available)-1],
		Conflict:    cause.FindConflict(required, available),
	}
}

func TestInstallProblems_ExplainConflicts(t *testing.T) {
	some := []string{"1.0.0", "1.4.0", "2.0.0", "2.1.0", "3.0.0"}
	root := asked(">= 1.0", "", "main.tf", 4)
	net := asked("~> 2.0", "module.net", "net/versions.tf", 3)
	dns := asked("< 1.5", "module.net.module.dns", "net/dns/main.tf", 12)
	any := asked("", "module.app", "app/main.tf", 1)
	none := asked("~> 9.0", "module.app", "app/main.tf", 1)
	tests := []struct {
		name string
		err  error
		want string
	}{
		{
			"two of four", noVersion([]getproviders.Requirement{root, net, dns, any}, some...), `

hint: the newest version is 3.0.0

The provider is required by:
  - main.tf:4: >= 1.0.0 (the newest is 3.0.0)
  - net/versions.tf:3 (module.net): ~> 2.0 (the newest is 2.1.0)
  - net/dns/main.tf:12 (module.net.module.dns): < 1.5.0 (the newest is 1.4.0)
  - app/main.tf:1 (module.app): any version (the newest is 3.0.0)

These 2 together allow no version, whatever the others say:
  - net/versions.tf:3 (module.net): ~> 2.0 (the newest is 2.1.0)
  - net/dns/main.tf:12 (module.net.module.dns): < 1.5.0 (the newest is 1.4.0)`,
		},
		{
			"one of many", noVersion([]getproviders.Requirement{root, none}, some...), `

hint: the newest version is 3.0.0

The provider is required by:
  - main.tf:4: >= 1.0.0 (the newest is 3.0.0)
  - app/main.tf:1 (module.app): ~> 9.0 (no matching version)

This one alone allows no version:
  - app/main.tf:1 (module.app): ~> 9.0 (no matching version)`,
		},
		{
			"no place is known", noVersion([]getproviders.Requirement{{Constraints: none.Constraints}, {}}, some...), `

hint: the newest version is 3.0.0

The provider is required by:
  - ~> 9.0 (no matching version)
  - any version (the newest is 3.0.0)

This one alone allows no version:
  - ~> 9.0 (no matching version)`,
		},
	}
	for _, tt := range tests {
		got := asTerraform.InstallProblems(nil, fail(alpha, during.Select, tt.err), nil)[0]
		must.Equal(t, got.Summary, "Failed to query available provider packages", tt.name)
		if _, detail, _ := strings.Cut(got.Detail, "\n\n"); "\n\n"+detail != tt.want {
			t.Errorf("%s: got %s\n\nwant %s", tt.name, "\n\n"+detail, tt.want)
		}
	}
}

func TestInstallProblems_ExplainLockedVersions(t *testing.T) {
	err := fail(alpha, during.Lock, &cause.LockedVersionError{
		Provider:     alpha,
		Version:      getproviders.MustParseVersion("1.4.0"),
		Constraints:  getproviders.MustParseConstraints(">= 1.0, ~> 2.0"),
		Requirements: []getproviders.Requirement{asked("~> 2.0", "module.net", "net/versions.tf", 3)},
		Others:       []getproviders.Requirement{asked(">= 1.0", "", "main.tf", 4), asked("", "", "terraform.tfstate", 0)},
		Product:      asTerraform.Product,
	})
	const want = `Could not retrieve the list of available versions for provider example.com/acme/alpha: locked provider example.com/acme/alpha 1.4.0 does not match configured version constraint >= 1.0.0, ~> 2.0; must use terraform init -upgrade to allow selection of new versions

Version 1.4.0 is not allowed by:
  - net/versions.tf:3 (module.net): ~> 2.0

It is allowed by:
  - main.tf:4: >= 1.0.0
  - terraform.tfstate: any version`
	must.Equal(t, asTerraform.InstallProblems(nil, err, nil)[0].Detail, want)
}

func TestInstallProblems_CompareVersionsOfAnotherAddress(t *testing.T) {
	product := asTerraform
	implied := must.Get(product.ImpliedProvider("widget"))(t)
	meant := getproviders.Provider{Hostname: implied.Hostname, Namespace: "acme", Type: "widget"}
	suggest := func(getproviders.Provider) (Suggestion, bool) {
		return Suggestion{Provider: meant, Versions: []getproviders.Version{{Major: 1}, {Major: 2}}}, true
	}
	req := getproviders.Requirements{implied: {asked("~> 1.0", "", "main.tf", 3), asked(">= 3.0", "module.net", "net/main.tf", 3)}}
	got := product.InstallProblems(req, fail(implied, during.Query, getproviders.ErrProviderNotFound), suggest)[0].Detail
	const want = `Did you intend to use acme/widget? If so, you must specify that source address in each module which requires that provider. To see which modules are currently depending on hashicorp/widget, run the following command:
    terraform providers

The provider is required by these, which are compared with the versions of acme/widget:
  - main.tf:3: ~> 1.0 (the newest is 1.0.0)
  - net/main.tf:3 (module.net): >= 3.0.0 (no matching version)

This one alone allows no version:
  - net/main.tf:3 (module.net): >= 3.0.0 (no matching version)`
	if !strings.HasSuffix(got, want) {
		t.Errorf("got %s\n\nwant it to end with %s", got, want)
	}
}

func TestRequiredBy_State(t *testing.T) {
	req := getproviders.Requirements{alpha: {asked("", "", "terraform.tfstate", 0)}}
	err := fail(alpha, during.Query, errors.New("it broke"))
	got := asTerraform.InstallProblems(req, err, nil)[0].Detail
	if want := "\n\nThe provider is required by:\n  - terraform.tfstate"; !strings.HasSuffix(got, want) {
		t.Errorf("got %q, want it to end with %q", got, want)
	}
}
