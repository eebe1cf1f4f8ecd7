package doctorcmd

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cliblock"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/places"
	"github.com/tfdeps/tfdeps/internal/wholefile"
	"github.com/tfdeps/tfdeps/internal/wrapped"
	"github.com/tfdeps/tfdeps/providercache/policy"
)

// describeNetwork lists the variables for proxies and certificates, and checks them.
func (x *examination) describeNetwork() {
	x.Log.Add(sources.CheckProxies(x.Meta.Env)...)
	for _, name := range []string{"HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"} {
		for _, written := range []string{name, strings.ToLower(name)} {
			value := x.Meta.Env.Get(written)
			if value == "" {
				continue
			}
			if name != "NO_PROXY" {
				value = shownProxy(value)
			}
			x.network = append(x.network, setting{Name: written, Value: value})
			break // the first of the two counts
		}
	}
	if file := x.Meta.Env.Get("SSL_CERT_FILE"); file != "" {
		x.network = append(x.network, setting{"SSL_CERT_FILE", file, x.checkCertificates(file)})
	}
	if dirs := x.Meta.Env.Get("SSL_CERT_DIR"); dirs != "" {
		x.network = append(x.network, setting{"SSL_CERT_DIR", dirs, x.checkCertDirs(dirs)})
	}
}

// shownProxy returns the value of a proxy variable without user and password. It doesn't show values that can't be parsed.
func shownProxy(value string) string {
	u, err := sources.ParseProxy(value)
	if err != nil {
		return "(not a URL)"
	}
	return hosts.RedactURL(&url.URL{Scheme: u.Scheme, Host: u.Host})
}

// checkCertificates describes a file of certificates, and logs problems.
func (x *examination) checkCertificates(file string) string {
	if info, err := os.Stat(file); err == nil && info.Mode()&os.ModeNamedPipe != 0 {
		return "not examined: it is a pipe, which can be read once"
	}
	content, err := wholefile.Read(file, 16<<20)
	if err != nil {
		x.Log.Fail("invalid_variable", "Invalid value of SSL_CERT_FILE",
			"The file %s can't be read: %v. Set SSL_CERT_FILE to a PEM file with the certificates of all authorities to trust, or unset it.", file, wrapped.Reason(err))
		return "can't be read"
	}
	valid, expired := x.certificatesIn(content)
	switch {
	case valid+expired == 0:
		x.Log.Fail("invalid_variable", "Invalid value of SSL_CERT_FILE",
			"The file %s was read, and has no certificate in PEM. Set SSL_CERT_FILE to one that has, or unset it.", file)
	case valid == 0:
		x.Log.Fail("invalid_variable", "Invalid value of SSL_CERT_FILE",
			"All certificates in the file %s have expired. Put the current ones there.", file)
	}
	text := "was read, " + terminal.Count(valid+expired, "certificate")
	if expired > 0 {
		text += fmt.Sprintf(", %d of them expired", expired)
	}
	return text
}

// certificatesIn counts the certificates in PEM.
func (x *examination) certificatesIn(content []byte) (valid, expired int) {
	for {
		var block *pem.Block
		if block, content = pem.Decode(content); block == nil {
			return valid, expired
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		switch {
		case err != nil || block.Type != "CERTIFICATE":
		case x.Meta.Now().After(certificate.NotAfter):
			expired++
		default:
			valid++
		}
	}
}

// checkCertDirs says which of the directories can be read.
func (x *examination) checkCertDirs(dirs string) string {
	files := 0
	for _, dir := range filepath.SplitList(dirs) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			x.Log.Fail("invalid_variable", "Invalid value of SSL_CERT_DIR",
				"The directory %s can't be read: %v. Correct SSL_CERT_DIR, or unset it.", dir, wrapped.Reason(err))
		}
		files += len(entries)
	}
	return fmt.Sprintf("was read, %d entries", files)
}

// proxyOf returns the proxy for a URL, without user and password, or "".
func (x *examination) proxyOf(target *url.URL) string {
	proxy, err := hosts.ProxyVariables(x.Meta.Env.Get)(&http.Request{URL: target})
	if err != nil || proxy == nil {
		return ""
	}
	return hosts.RedactAddress(proxy.String())
}

// describeConfig lists the files of the CLI configuration, and the sources of providers.
func (x *examination) describeConfig() {
	at := sources.ConfigFiles(x.Meta, x.Product)
	if at.File != "" && !slices.Contains(x.Config.Files, at.File) {
		x.files = append(x.files, configFile{Path: at.File, Settings: []statement{}})
	}
	for _, path := range x.Config.Files {
		file := configFile{Path: path, Exists: true, Settings: []statement{}}
		for _, s := range x.Config.Settings {
			if s.File == path {
				file.Settings = append(file.Settings, statement{Name: s.Name, Label: s.Label, Line: s.Line})
			}
		}
		x.files = append(x.files, file)
	}
	_, problems := sources.Skipped(x.Meta.Env, x.Config, x.Product)
	x.Log.Add(append(problems, sources.CheckArchiveCredentials(x.Meta.Env)...)...)
	if x.Config.Installation == nil {
		x.describeImplied()
		return
	}
	for _, m := range x.Config.Installation {
		x.sources = append(x.sources, shownSource{
			Kind: m.Kind.String(), Location: places.Redacted(m.Location), Include: result.Each(m.Include, getproviders.Pattern.String), Exclude: result.Each(m.Exclude, getproviders.Pattern.String),
			NamedBy: cliblock.Setting{File: m.File, Line: m.Line}.Place(),
		})
	}
}

// describeImplied lists the default sources.
func (x *examination) describeImplied() {
	for _, dir := range cliconfig.ImpliedMirrorDirs(cliconfig.User{Environ: x.Meta.Env, HomeDir: x.Meta.HomeDir}, x.Product) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			x.sources = append(x.sources, shownSource{Kind: cliconfig.FilesystemMirror.String(), Location: dir})
		}
	}
	x.sources = append(x.sources, shownSource{Kind: cliconfig.Direct.String()})
}

// describeTokens lists the places of tokens in order of precedence, variables, credentials
// blocks and a helper, and the logins for packages.
func (x *examination) describeTokens() {
	seen := map[hosts.Hostname]bool{}
	for _, entry := range slices.Backward(x.Meta.Env) { // the last of several entries is used
		name, value, _ := strings.Cut(entry, "=")
		host, ok := hosts.TokenHost(name)
		switch {
		case !strings.HasPrefix(name, "TF_TOKEN_"):
		case !ok:
			x.Log.Warningf("invalid_variable", "Invalid value of "+name,
				"What follows TF_TOKEN_ in %s is not a hostname, so the variable has no effect. Write the host with _ for each dot and __ for each dash.", name)
		case !seen[host]:
			seen[host] = true
			from := name
			if value == "" {
				from += " (empty: requests go without a token)"
			}
			x.token(host.String(), from, "registry")
		}
	}
	slices.SortFunc(x.tokens, func(a, b shownToken) int { return strings.Compare(a.Host, b.Host) })
	for _, s := range slices.Backward(x.Config.Settings) { // a later block replaces an earlier one
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
	x.tokens = append(x.tokens, shownToken{Host: host, From: from, For: use})
}

func (x *examination) describeHelper() {
	program, err := sources.CredentialsHelper(x.Meta, x.Config)
	if err != nil { // askHosts warns of it
		program = "a credentials helper that isn't installed"
	}
	if x.Config.Helper != nil {
		x.token("other hosts", program, "registry")
	}
}

func (x *examination) describeNetrc() {
	file, machines, err := hosts.NetrcMachines(x.Meta.Context, sources.NetrcFiles(x.Meta))
	if err != nil {
		x.Log.Fail("cli_configuration", "Failed to read the logins for packages",
			"The file %s can't be read: %v. Correct its permissions, or set NETRC to another file.", file, wrapped.Reason(err))
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

// checkMode warns of a file with secrets that other users can read. On Windows modes don't show that.
func (x *examination) checkMode(path string) {
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS == "windows" || info.Mode().Perm()&0o044 == 0 || x.warnedOf[path] {
		return
	}
	x.warnedOf[path] = true
	x.Log.Warningf("", "Other users can read a token",
		"The file %s has a secret in it, and its mode %s lets other users read it. To correct that, run:\n  chmod 600 %s", path, fmt.Sprintf("%04o", info.Mode().Perm()), shellWord(path))
}

// shellWord quotes a path for a shell, if needed.
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
		found, err := products.InstalledOf(x.Meta, product)
		if err != nil {
			x.Log.Failed("invalid_variable", "Invalid program", err)
		}
		if len(found) == 0 {
			x.programs = append(x.programs, shownProgram{Program: product.Program})
		}
		for _, p := range found {
			shown := shownProgram{Program: product.Program, Path: p.Path, Version: p.Version, IsOwn: p.IsOwn}
			if p.Err != nil {
				shown.Error = p.Err.Error()
				x.Log.Warningf("invalid_variable", "Invalid program",
					"The program %s doesn't tell its version: %v. Check what it prints:\n  %s version -json", p.Path, p.Err, shellWord(p.Path))
			}
			x.programs = append(x.programs, shown)
		}
	}
}

// describePolicies lists the files with rules.
func (x *examination) describePolicies() {
	paths, problems := sources.PolicyFiles(x.Meta, ".")
	x.Log.Add(problems...)
	for _, path := range paths {
		_, invalid := policy.Load(path, x.Product)
		x.Log.Add(sources.InvalidPolicy(invalid)...)
		x.policies = append(x.policies, policyFile{Path: path, OK: !invalid.HasErrors()})
	}
}
