package doctorcmd

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
)

// examination is one run of the command.
type examination struct {
	meta    *cli.Meta
	opts    options
	product getproviders.Product
	config  *cliconfig.Config
	report  result.Doctor
	log     problem.Log

	locked   map[getproviders.Provider]getproviders.Version
	warnedOf map[string]bool // files with secrets that others can read
}

// describeNetwork lists the variables that decide how hosts are reached, and what they lead to.
func (x *examination) describeNetwork() {
	x.log.Add(sources.CheckProxies(x.meta.Env)...)
	for _, name := range []string{"HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"} {
		for _, written := range []string{name, strings.ToLower(name)} {
			value := x.meta.Env.Get(written)
			if value == "" {
				continue
			}
			if name != "NO_PROXY" {
				value = shownProxy(value)
			}
			x.setting(written, value, "")
			break // the first of the two counts
		}
	}
	if file := x.meta.Env.Get("SSL_CERT_FILE"); file != "" {
		x.setting("SSL_CERT_FILE", file, x.checkCertificates(file))
	}
	if dirs := x.meta.Env.Get("SSL_CERT_DIR"); dirs != "" {
		x.setting("SSL_CERT_DIR", dirs, x.checkCertDirs(dirs))
	}
}

func (x *examination) setting(name, value, found string) {
	x.report.Network = append(x.report.Network, result.DoctorSetting{Name: name, Value: value, Found: found})
}

// shownProxy is the value of a proxy variable without user and password; what can't be parsed isn't shown.
func shownProxy(value string) string {
	u, err := sources.ParseProxy(value)
	if err != nil {
		return "(not a URL)"
	}
	return hosts.RedactURL(&url.URL{Scheme: u.Scheme, Host: u.Host})
}

// checkCertificates says what is in a file of certificates.
func (x *examination) checkCertificates(file string) string {
	content, err := os.ReadFile(file)
	if err != nil {
		x.log.Fail("invalid_variable", "Invalid value of SSL_CERT_FILE",
			"The file %s can't be read: %v. Have SSL_CERT_FILE name a PEM file with the certificates of all authorities to trust, or unset it.", file, problem.Reason(err))
		return "can't be read"
	}
	valid, expired := x.certificatesIn(content)
	switch {
	case valid+expired == 0:
		x.log.Fail("invalid_variable", "Invalid value of SSL_CERT_FILE",
			"The file %s was read, and has no certificate in PEM. Have SSL_CERT_FILE name one that has, or unset it.", file)
	case valid == 0:
		x.log.Fail("invalid_variable", "Invalid value of SSL_CERT_FILE",
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
		case x.meta.Now().After(certificate.NotAfter):
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
			x.log.Fail("invalid_variable", "Invalid value of SSL_CERT_DIR",
				"The directory %s can't be read: %v. Correct SSL_CERT_DIR, or unset it.", dir, problem.Reason(err))
		}
		files += len(entries)
	}
	return fmt.Sprintf("was read, %d entries", files)
}

// proxyOf is the proxy through which a URL is reached, without user and password; "" if there is none.
func (x *examination) proxyOf(target *url.URL) string {
	proxy, err := hosts.ProxyVariables(x.meta.Env.Get)(&http.Request{URL: target})
	if err != nil || proxy == nil {
		return ""
	}
	return hosts.RedactURL(proxy)
}

// withoutLogin is the location of a source without user and password, if it is a URL.
func withoutLogin(location string) string {
	if u, err := url.Parse(location); err == nil && (u.Scheme == "https" || u.Scheme == "http") {
		return hosts.RedactURL(u)
	}
	return location
}
