package cliconfig

import (
	"strings"

	"github.com/tfdeps/tfdeps/getproviders/hosts"
)

// hosts reads
//
//	host "registry.example.com" {
//	  services = { "providers.v1" = "https://..." }
//	}
//
// A later block for the same host replaces an earlier one.
func (r *reader) hosts(block field) {
	r.labelled(block, "hostname", `host "registry.example.com"`, r.host)
}

func (r *reader) host(f field) {
	name, err := hosts.ParseHostname(f.name)
	if err != nil {
		r.problem(f.line, "The name of a host block can't be used: %v.", err)
		return
	}
	content, ok := f.value.fields()
	if !ok {
		r.problem(f.line, "The host %q block must contain a map of services, but it is %s.", f.name, f.value.kind)
		return
	}
	services := map[string]string{}
	for _, inner := range content {
		if inner.is("services") {
			r.services(f.name, inner, services)
		}
	}
	r.config.Hosts[name] = services
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

// isOurs tells the services that this module uses, whose value is a URL. Others,
// such as "login.v1", may have values of any kind, and nobody asks for them.
func isOurs(service string) bool {
	return strings.HasPrefix(service, "providers.") || strings.HasPrefix(service, "modules.")
}
