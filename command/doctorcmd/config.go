package doctorcmd

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cliblock"
	"github.com/tfdeps/tfdeps/internal/hosts"
)

// describeConfig lists the files of the CLI configuration, and the places that providers come from.
func (x *examination) describeConfig() {
	at := sources.ConfigFiles(x.meta, x.product)
	if at.File != "" && !slices.Contains(x.config.Files, at.File) {
		x.report.Config = append(x.report.Config, result.DoctorFile{Path: at.File, Settings: []result.DoctorConfigEntry{}})
	}
	for _, path := range x.config.Files {
		file := result.DoctorFile{Path: path, Exists: true, Settings: []result.DoctorConfigEntry{}}
		for _, s := range x.config.Settings {
			if s.File == path {
				file.Settings = append(file.Settings, result.DoctorConfigEntry{Name: s.Name, Label: s.Label, Line: s.Line})
			}
		}
		x.report.Config = append(x.report.Config, file)
	}
	_, problems := sources.Skipped(x.meta.Env, x.config, x.product)
	x.log.Add(append(problems, sources.CheckArchiveCredentials(x.meta.Env)...)...)
	if x.config.Installation == nil {
		x.describeImplied()
		return
	}
	for _, m := range x.config.Installation {
		x.report.Sources = append(x.report.Sources, result.DoctorSource{
			Kind: m.Kind.String(), Location: withoutLogin(m.Location), Include: result.Each(m.Include, getproviders.Pattern.String), Exclude: result.Each(m.Exclude, getproviders.Pattern.String),
			NamedBy: cliblock.Setting{File: m.File, Line: m.Line}.Place(),
		})
	}
}

// describeImplied lists the sources where the configuration names none.
func (x *examination) describeImplied() {
	for _, dir := range cliconfig.ImpliedMirrorDirs(cliconfig.User{Environ: x.meta.Env, HomeDir: x.meta.HomeDir}, x.product) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			x.report.Sources = append(x.report.Sources, result.DoctorSource{Kind: cliconfig.FilesystemMirror.String(), Location: dir})
		}
	}
	x.report.Sources = append(x.report.Sources, result.DoctorSource{Kind: cliconfig.Direct.String()})
}

// describeTokens lists where the tokens are, in the order in which they count: of variables, of credentials
// blocks, of a helper; and the logins for packages.
func (x *examination) describeTokens() {
	seen := map[hosts.Hostname]bool{}
	for _, entry := range slices.Backward(x.meta.Env) { // the last of several entries counts
		name, value, _ := strings.Cut(entry, "=")
		host, ok := hosts.TokenHost(name)
		switch {
		case !strings.HasPrefix(name, "TF_TOKEN_"):
		case !ok:
			x.log.Warningf("invalid_variable", "Invalid value of "+name,
				"What follows TF_TOKEN_ in %s is no hostname, so the variable has no effect. Write the host with _ for each dot and __ for each dash.", name)
		case !seen[host]:
			seen[host] = true
			from := name
			if value == "" {
				from += " (empty: requests go without a token)"
			}
			x.token(host.String(), from, "registry")
		}
	}
	slices.SortFunc(x.report.Tokens, func(a, b result.DoctorToken) int { return strings.Compare(a.Host, b.Host) })
	for _, s := range slices.Backward(x.config.Settings) { // a later block replaces an earlier one
		host, err := hosts.ParseHostname(s.Label)
		if s.Name != "credentials" || err != nil {
			continue
		}
		if x.checkMode(s.File); seen[host] {
			continue
		}
		seen[host] = true
		x.token(s.Label, s.Place(), "registry")
	}
	x.describeHelper()
	x.describeNetrc()
}

func (x *examination) token(host, from, use string) {
	x.report.Tokens = append(x.report.Tokens, result.DoctorToken{Host: host, From: from, For: use})
}

func (x *examination) describeHelper() {
	program, err := sources.CredentialsHelper(x.meta, x.config)
	if err != nil { // which asking the hosts warns of
		program = "a credentials helper that isn't installed"
	}
	if x.config.Helper != nil {
		x.token("other hosts", program, "registry")
	}
}

func (x *examination) describeNetrc() {
	file, machines, err := hosts.NetrcMachines(sources.NetrcFiles(x.meta))
	if err != nil {
		x.log.Fail("cli_configuration", "Failed to read the logins for packages",
			"The file %s can't be read: %v. Correct its permissions, or have NETRC name another file.", file, problem.Reason(err))
	}
	for _, machine := range machines {
		if machine == "" {
			machine = "other hosts"
		}
		x.token(machine, file, "packages")
	}
	if len(machines) > 0 {
		x.checkMode(file)
	}
}

// checkMode warns of a file with secrets that other users can read. On Windows modes say nothing about that.
func (x *examination) checkMode(path string) {
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS == "windows" || info.Mode().Perm()&0o044 == 0 || x.warnedOf[path] {
		return
	}
	x.warnedOf[path] = true
	x.log.Warningf("", "Other users can read a token",
		"The file %s has a secret in it, and its mode %s lets other users read it. To correct that, run:\n  chmod 600 %s", path, fmt.Sprintf("%04o", info.Mode().Perm()), shellWord(path))
}

// shellWord is a path as it can be typed.
func shellWord(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool {
		return !strings.ContainsRune("/._-+:@%", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return filepath.ToSlash(path)
}

// describePrograms lists the programs of the products that are installed.
func (x *examination) describePrograms() {
	for _, product := range products.All() {
		found, err := products.InstalledOf(x.meta, product)
		if err != nil {
			x.log.Failed("invalid_variable", "Invalid program", err)
		}
		if len(found) == 0 {
			x.report.Programs = append(x.report.Programs, result.DoctorProgram{Program: product.Program})
		}
		for _, p := range found {
			shown := result.DoctorProgram{Program: product.Program, Path: p.Path, Version: p.Version, IsOwn: p.IsOwn}
			if p.Err != nil {
				shown.Error = p.Err.Error()
				x.log.Warningf("invalid_variable", "Invalid program",
					"The program %s doesn't tell its version: %v. Check what it prints:\n  %s version -json", p.Path, p.Err, shellWord(p.Path))
			}
			x.report.Programs = append(x.report.Programs, shown)
		}
	}
}

// describePolicies lists the files with rules.
func (x *examination) describePolicies() {
	paths, problems := sources.PolicyFiles(x.meta, ".")
	x.log.Add(problems...)
	for _, path := range paths {
		invalid := sources.CheckPolicy(path, x.product)
		x.log.Add(invalid...)
		x.report.Policies = append(x.report.Policies, result.DoctorPolicy{Path: path, OK: !invalid.HasErrors()})
	}
}
