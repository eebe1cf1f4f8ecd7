package cliconfig

import (
	"strings"

	"github.com/tfdeps/tfdeps/internal/hosts"
)

// host reads
//
//	host "registry.example.com" {
//	  services = { "providers.v1" = "https://..." }
//	}
//
// A later block for the same host replaces an earlier one.
func (r *reader) host(f field) {
	name, content, ok := r.ofHost(f, "host", "a map of services")
	if !ok {
		return
	}
	services := map[string]string{}
	for _, inner := range content {
		if inner.is("services") {
			r.services(f.name, inner, services)
		}
	}
	r.config.Hosts[name] = services
	r.setting("host", name.String(), f.line)
}

// ofHost reads a block whose label is a host, and returns the host and the block's content.
func (r *reader) ofHost(f field, block, what string) (name hosts.Hostname, content []field, ok bool) {
	name, err := hosts.ParseHostname(f.name)
	if err != nil {
		r.problem(f.line, "The name of a %s block can't be used: %v.", block, err)
		return name, nil, false
	}
	if content, ok = f.value.fields(); !ok {
		r.problem(f.line, "The %s %q block must contain %s, but it is %s.", block, f.name, what, f.value.kind)
	}
	return name, content, ok
}

func (r *reader) services(host string, f field, into map[string]string) {
	each, ok := f.value.fields()
	if !ok {
		r.problem(f.line, "The services of the host %q block must be a map of URLs, but they are %s.", host, f.value.kind)
		return
	}
	for _, service := range each {
		switch {
		case service.value.kind == isString:
			into[service.name] = service.value.text
		case isOurs(service.name):
			r.problem(service.line, "The service %q of the host %q block must be a URL, as a string, but it is %s.",
				service.name, host, service.value.kind)
		}
	}
}

// isOurs reports whether this module uses a service, whose value is then a URL. The values of
// others, such as "login.v1", may have any kind.
func isOurs(service string) bool {
	return strings.HasPrefix(service, "providers.") || strings.HasPrefix(service, "modules.")
}

// credentials reads
//
//	credentials "registry.example.com" {
//	  token = "..."
//	}
//
// No message repeats anything from inside such a block.
func (r *reader) credentials(f field) {
	name, content, ok := r.ofHost(f, "credentials", "a token")
	if !ok {
		return
	}
	if _, ok := r.own.tokens[name]; !ok {
		r.own.tokens[name] = ""
	}
	r.setting("credentials", name.String(), f.line)
	for _, inner := range content {
		switch {
		case inner.name != "token", inner.value.kind == isNull:
		case inner.value.kind == isString:
			r.own.tokens[name] = inner.value.text
		default:
			r.problem(inner.line, "The token of the credentials %q block must be a string, but it is %s.", f.name, inner.value.kind)
		}
	}
}

// credentialsHelper reads
//
//	credentials_helper "name" {
//	  args = ["..."]
//	}
//
// A later block of the same name replaces an earlier one.
func (r *reader) credentialsHelper(f field) {
	content, ok := f.value.fields()
	if !ok {
		r.problem(f.line, `A credentials_helper block needs a name and braces, as in: credentials_helper "name" { ... }. Here %q is %s.`, f.name, f.value.kind)
		return
	}
	if r.config.Helper != nil && r.config.Helper.Name != f.name {
		r.report("No more than one credentials_helper block may be specified", f.line,
			"Besides the credentials helper %q there is already %q, and only one can be asked.", f.name, r.config.Helper.Name)
		return
	}
	helper := &CredentialsHelper{Name: f.name}
	for _, inner := range content {
		if !inner.is("args") {
			continue
		}
		args, ok := inner.value.listOfWords()
		if !ok {
			r.problem(inner.line, "The args of the credentials_helper %q block must be a list of strings.", f.name)
		}
		helper.args = append(helper.args, args...)
	}
	r.config.Helper = helper
	r.setting("credentials_helper", f.name, f.line)
}
