package view

import (
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
)

func planned(p getproviders.Provider, action string, reasons ...CheckReason) PlannedProvider {
	return PlannedProvider{PlannedFetch: providercache.PlannedFetch{Selection: getproviders.Selection{Provider: p}}, Action: action, Reasons: reasons}
}

// from is version 1.2.3 of a provider in its registry.
func from(p getproviders.Provider, location string, bytes int64, action string, reasons ...CheckReason) PlannedProvider {
	all := planned(p, action, reasons...)
	all.From, all.Source, all.Version, all.Location, all.Bytes = "example.com", "registry example.com", v1, location, bytes
	return all
}

func TestInitPlan_SaysWhatThereIsToDo(t *testing.T) {
	t.Parallel()
	missing := CheckReason{Code: "lock_missing_provider", Provider: alpha, Detail: "the lock file has no entry for it"}
	p := InitPlan{
		Modules: []modules.Planned{
			{Downloading: modules.Downloading{Key: "net", Package: "acme/net/cloud", Version: "1.2.0"}, Was: "1.1.0", Code: "module_upgrade"},
			{Downloading: modules.Downloading{Key: "git", Package: "git::https://example.com/g\x1b[2J"}, Code: "module_absent"},
		},
		Providers: []PlannedProvider{
			from(alpha, "https://example.com/v1/", 12_000_000, PlanFetch, missing),
			from(beta, "", 0, PlanFetch),
			from(gamma, "", 0, PlanLink),
			planned(builtIn, PlanBuiltIn),
		},
		Others: []CheckReason{{Code: "backend_changed", Detail: "it has changed"}},
	}
	p.Providers[1].Was = getproviders.MustParseVersion("1.0.0")
	s := newSpeaker(nil)
	s.Planned(p)
	s.check(t, `- module net: fetch acme/net/cloud 1.2.0, now 1.1.0 (module_upgrade)
- module git: fetch git::https://example.com/g�[2J (module_absent)
- example.com/acme/alpha v1.2.3: fetch from example.com, 12 MB (lock_missing_provider)
- example.com/acme/beta v1.2.3 in place of the locked v1.0.0: fetch from example.com, size unknown
- example.com/acme/gamma v1.2.3: from the shared cache
- it has changed (backend_changed)

Plan: 2 modules to fetch, 2 providers to fetch (12 MB and 1 of unknown size), 1 from the shared cache. Nothing was changed.
What missing modules require is unknown, so there may be more.
`, "")
	s = newSpeaker(func(o *Options) { o.JSON = true })
	s.Planned(p)
	for _, want := range []string{
		`"code":"module_upgrade","installed_version":"1.1.0","key":"net","package":"acme/net/cloud","type":"plan_module","version":"1.2.0"}`,
		`"action":"fetch","locked_version":"1.0.0","provider":"example.com/acme/beta","reasons":[],"source":"registry example.com"`,
		`"action":"built_in","provider":"terraform.io/builtin/terraform","reasons":[],"type":"plan_provider"}`,
		`"code":"backend_changed","type":"check_reason"}`,
		`"bytes":12000000,"complete":false,"fetch":2,"link":1,"modules":2,"present":0,"type":"plan","unknown_sizes":1,"up_to_date":false}`,
	} {
		must.Contain(t, s.out.String(), want)
	}
}

func TestInitPlan_IsEmptyWhereNothingChanges(t *testing.T) {
	t.Parallel()
	p := InitPlan{Complete: true, Providers: []PlannedProvider{planned(alpha, PlanPresent), planned(builtIn, PlanBuiltIn)}}
	s := newSpeaker(nil)
	s.Planned(p)
	s.check(t, upToDate+"\n", "")
	for name, change := range map[string]func(*InitPlan){
		"a module":                     func(p *InitPlan) { p.Modules = make([]modules.Planned, 1) },
		"a link":                       func(p *InitPlan) { p.Providers = []PlannedProvider{planned(alpha, PlanLink)} },
		"another reason":               func(p *InitPlan) { p.Others = []CheckReason{{Code: "backend_changed"}} },
		"a reason of what is in place": func(p *InitPlan) { p.Providers = []PlannedProvider{planned(alpha, PlanPresent, CheckReason{})} },
	} {
		changed := p
		if change(&changed); changed.IsEmpty() {
			t.Errorf("%s is taken for nothing", name)
		}
	}
}
