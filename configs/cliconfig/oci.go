package cliconfig

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
)

// OCI is what the CLI configuration of OpenTofu says about OCI registries, beside the oci_mirror blocks.
type OCI struct {
	Credentials []OCICredentials // of oci_credentials blocks, in their order

	// What an oci_default_credentials block says. DefaultHelper is the helper for all registries; "": there is none.
	DefaultHelper string
	// NoAmbient leaves out the files of Docker and Podman; Files are those to be read in place of the usual ones, nil:
	// the usual ones.
	NoAmbient bool
	Files     []string
}

// OCICredentials is an oci_credentials block: a username and a password, two tokens, or the name of a helper.
type OCICredentials struct {
	Prefix                    string // HOST, or HOST/PATH
	Username, Password        string
	AccessToken, RefreshToken string
	Helper                    string // the program is docker-credential-NAME
}

const (
	badTemplate    = "Invalid oci_mirror repository template"
	badCredentials = "Invalid oci_credentials block"
	badDefaults    = "Invalid oci_default_credentials block"
)

// RepositoryTemplate says in which OCI repository the packages of a provider are:
// "registry.example.com/providers/${namespace}/${type}". Make one with [ParseRepositoryTemplate].
type RepositoryTemplate struct{ parts []templatePart }

// templatePart is text, or what is in its place.
type templatePart struct{ text, variable string }

// ParseRepositoryTemplate reads a template. Those parts of an address that differ among the providers that include lets
// in have to be in it, or several providers would have one repository. An address has no user: what has an "@" is
// refused, and errors don't repeat it. Of HCL's templates it has what OpenTofu's documents show: ${hostname},
// ${namespace}, ${type}.
func ParseRepositoryTemplate(text string, include []getproviders.Pattern) (RepositoryTemplate, error) {
	var t RepositoryTemplate
	if strings.Contains(text, "@") { // a password may be before it, so that the text isn't shown
		return t, errors.New("the template has an @, and an address of an OCI repository has neither a user nor a password")
	}
	if strings.Contains(text, "%{") {
		return t, fmt.Errorf("the template %q has %%{, and only ${hostname}, ${namespace} and ${type} are known here", text)
	}
	for rest := text; rest != ""; {
		before, after, found := strings.Cut(rest, "${")
		if literal, escaped := strings.CutSuffix(before, "$"); found && escaped {
			t.parts, rest = append(t.parts, templatePart{text: literal + "${"}), after
			continue
		}
		t.parts = append(t.parts, templatePart{text: before})
		if !found {
			break
		}
		name, behind, closed := strings.Cut(after, "}")
		name = strings.TrimSpace(name)
		if !closed || !slices.Contains([]string{"hostname", "namespace", "type"}, name) {
			return t, fmt.Errorf("the template %q has ${%.40s}, and only ${hostname}, ${namespace} and ${type} are known here", text, name)
		}
		t.parts, rest = append(t.parts, templatePart{variable: name}), behind
	}
	for _, variable := range []string{"hostname", "namespace", "type"} {
		if !slices.ContainsFunc(t.parts, func(p templatePart) bool { return p.variable == variable }) && !fixes(include, variable) {
			return t, fmt.Errorf("the template %q lacks ${%s}: each provider has a repository of its own, as in HOST/PATH/${namespace}/${type}. A part may only be left out if include names exactly one", text, variable)
		}
	}
	example, err := getproviders.OpenTofu("").ParseProvider("example.com/example-namespace/example-type")
	if err != nil {
		return t, err
	}
	host, name, _ := strings.Cut(t.Address(example), "/")
	if host == "" || strings.HasSuffix(host, ":") || strings.Contains("/"+name+"/", "//") || strings.Count(host, ":") > 1 || strings.Contains(host, " ") || strings.ContainsAny(name, ": ") {
		return t, fmt.Errorf("the template %q makes no address of an OCI repository, which is a host, a slash and a name", text)
	}
	return t, nil
}

// fixes reports whether patterns leave one possibility for a part of an address.
func fixes(include []getproviders.Pattern, variable string) bool {
	var seen []string
	for _, pattern := range include {
		part := map[string]string{"hostname": pattern.Hostname.String(), "namespace": pattern.Namespace, "type": pattern.Type}[variable]
		if part != "*" && !slices.Contains(seen, part) {
			seen = append(seen, part)
		}
	}
	return len(seen) == 1
}

// Address is the address of the repository for a provider: "HOST/NAME".
func (t RepositoryTemplate) Address(p getproviders.Provider) string {
	var text strings.Builder
	for _, part := range t.parts {
		switch part.variable {
		case "hostname":
			text.WriteString(p.Hostname.String())
		case "namespace":
			text.WriteString(p.Namespace)
		case "type":
			text.WriteString(p.Type)
		default:
			text.WriteString(part.text)
		}
	}
	return text.String()
}

// ociCredentials reads
//
//	oci_credentials "registry.example.com/path" {
//	  username = "..."
//	  password = "..."
//	}
//
// No message repeats anything from inside such a block.
func (r *reader) ociCredentials(block field) {
	r.labelled(block, "address", `oci_credentials "registry.example.com"`, func(f field) {
		c := OCICredentials{Prefix: f.name}
		content, ok := f.value.fields()
		if !ok {
			r.report(badCredentials, f.line, "The oci_credentials %q block must contain arguments, but it is %s.", f.name, f.value.kind)
			return
		}
		known := map[string]*string{
			"username": &c.Username, "password": &c.Password, "access_token": &c.AccessToken, "refresh_token": &c.RefreshToken, "docker_credentials_helper": &c.Helper,
		}
		given := map[string]bool{}
		for _, inner := range content {
			into := known[inner.name]
			if into == nil || inner.value.kind == isNull {
				continue
			}
			if *into, ok = inner.value.words(); !ok {
				r.report(badCredentials, inner.line, "The %s of the oci_credentials %q block must be a string, but it is %s.", inner.name, f.name, inner.value.kind)
				return
			}
			given[inner.name] = true
		}
		if wrong := c.check(given); wrong != "" {
			r.report(badCredentials, f.line, "The oci_credentials %q block %s.", f.name, wrong)
			return
		}
		r.config.OCI.Credentials = append(r.config.OCI.Credentials, c)
		r.setting("oci_credentials", f.name, f.line)
	})
}

// check says what is wrong with a block; "" if nothing is.
func (c OCICredentials) check(given map[string]bool) string {
	login, tokens, helper := given["username"] || given["password"], given["access_token"] || given["refresh_token"], given["docker_credentials_helper"]
	kinds := 0
	for _, kind := range []bool{login, tokens, helper} {
		if kind {
			kinds++
		}
	}
	switch host, path, deep := strings.Cut(c.Prefix, "/"); {
	case host == "" || deep && path == "" || strings.ContainsAny(c.Prefix, "@ ") || strings.Contains(path, ":"):
		return "needs the address of a registry, or of repositories in it, as its label"
	case kinds != 1:
		return "must set one of these: username and password, access_token and refresh_token, or docker_credentials_helper"
	case login && !(given["username"] && given["password"]):
		return "must set both username and password"
	case tokens && !(given["access_token"] && given["refresh_token"]):
		return "must set both access_token and refresh_token"
	case helper && deep:
		return "can't set docker_credentials_helper with the path of a repository: helpers know whole registries"
	case helper && !isHelperName(c.Helper):
		return "names a credentials helper that can't be the name of a program"
	}
	return ""
}

func isHelperName(name string) bool { return name != "" && !strings.ContainsAny(name, `/\`) }

// ociDefaults reads
//
//	oci_default_credentials {
//	  discover_ambient_credentials = true
//	  docker_style_config_files    = ["..."]
//	  docker_credentials_helper    = "..."
//	}
func (r *reader) ociDefaults(f field) {
	blocks, ok := f.value.blocks()
	if f.equals || f.labels > 0 || !ok || len(blocks) == 0 {
		r.report(badDefaults, f.line, "What is called oci_default_credentials must be a block without labels, as in: oci_default_credentials { ... }.")
		return
	}
	for _, block := range blocks {
		if r.ociDefaultBlocks++; r.ociDefaultBlocks == 2 {
			r.report("No more than one oci_default_credentials block may be specified", block.line, "There is another oci_default_credentials block before this one, maybe in another file.")
		}
		for _, inner := range block.object {
			r.ociDefault(inner)
		}
		if r.config.OCI.NoAmbient && r.config.OCI.Files != nil {
			r.report(badDefaults, block.line, "Files of docker_style_config_files are read only if discover_ambient_credentials isn't false.")
		}
		r.setting("oci_default_credentials", "", block.line)
	}
}

func (r *reader) ociDefault(f field) {
	oci := &r.config.OCI
	switch {
	case f.value.kind == isNull:
	case f.name == "discover_ambient_credentials":
		oci.NoAmbient = !r.flag(f)
	case f.name == "docker_style_config_files":
		paths, ok := f.value.listOfWords()
		if !ok {
			r.report(badDefaults, f.line, "The docker_style_config_files must be a list of strings.")
			return
		}
		oci.Files = []string{}
		for _, path := range paths {
			if !filepath.IsAbs(path) {
				path = filepath.Join(filepath.Dir(r.file), path)
			}
			oci.Files = append(oci.Files, path)
		}
	case f.name == "docker_credentials_helper":
		name, ok := f.value.words()
		if oci.DefaultHelper = name; !ok || !isHelperName(name) {
			r.report(badDefaults, f.line, "The docker_credentials_helper must be the part of a program's name that follows docker-credential-.")
		}
	}
}
