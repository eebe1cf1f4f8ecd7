package cliconfig

import (
	"path/filepath"
	"strings"

	"github.com/tfdeps/tfdeps/internal/cliblock"
)

const (
	badTemplate    = "Invalid oci_mirror repository template"
	badCredentials = "Invalid oci_credentials block"
	badDefaults    = "Invalid oci_default_credentials block"
)

// ociCredentials reads
//
//	oci_credentials "registry.example.com/path" {
//	  username = "..."
//	  password = "..."
//	}
//
// No message repeats anything from inside such a block.
func (r *reader) ociCredentials(f field) {
	c := cliblock.OCICredentials{Prefix: f.name}
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
	if wrong := wrongCredentials(c, given); wrong != "" {
		r.report(badCredentials, f.line, "The oci_credentials %q block %s.", f.name, wrong)
		return
	}
	r.config.OCI.Credentials = append(r.config.OCI.Credentials, c)
	r.setting("oci_credentials", f.name, f.line)
}

// wrongCredentials returns the mistake in a block, or "".
func wrongCredentials(c cliblock.OCICredentials, given map[string]bool) string {
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
		r.report(badDefaults, f.line, "The oci_default_credentials entry must be a block without labels, as in: oci_default_credentials { ... }.")
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
