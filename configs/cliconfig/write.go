package cliconfig

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// WriteWith returns one file with the content of all files of this configuration, with the services
// of some hosts replaced: for each service a URL, or the object of a host's discovery document. The
// file of TF_CLI_CONFIG_FILE replaces all others, so a program that should use other services than
// its user's needs such a file.
//
// WriteWith reads the files again. The result has the settings that are in effect, keys that this
// module doesn't know, and the user's tokens. An error says that a file can't be read or is invalid
// now.
//
// The result is JSON in the form that Terraform reads: every block is a list.
func (c *Config) WriteWith(services map[hosts.Hostname]map[string]any) ([]byte, error) {
	var whole value
	add := func(name string, content value) {
		whole.object = append(whole.object, field{name: name, value: content})
	}
	all := map[hosts.Hostname]any{}
	for host, urls := range c.Hosts {
		all[host] = urls
	}
	for host, offered := range services {
		all[host] = offered
	}
	for _, host := range slices.Sorted(maps.Keys(all)) {
		text, err := json.Marshal(all[host])
		if err != nil {
			return nil, err
		}
		offered, wrong := decodeJSON(text)
		if wrong != nil {
			return nil, fmt.Errorf("the services of %s: %s", host, wrong.text)
		}
		add("host", object(host.String(), object("services", offered)))
	}
	if c.PluginCacheDir != "" {
		add("plugin_cache_dir", value{kind: isString, text: c.PluginCacheDir})
	}
	written := map[string]bool{}
	for _, s := range c.Settings {
		if s.Name == "credentials" && !written[s.Label] {
			written[s.Label] = true
			content, err := credentialsOf(c.Tokens, s.Label)
			if err != nil {
				return nil, err
			}
			add("credentials", object(s.Label, content))
		}
	}
	for _, path := range c.Files {
		more, err := others(path)
		if err != nil {
			return nil, err
		}
		whole.object = append(whole.object, more...)
	}
	text, err := whole.block()
	// Services come from hosts, and some HCL readers don't end a string at a quotation mark inside "${}".
	return bytes.ReplaceAll(text, []byte("${"), []byte(`\u0024{`)), err
}

// object returns an object with one field.
func object(name string, content value) value {
	return value{kind: isObject, object: []field{{name: name, value: content}}}
}

// credentialsOf returns the content of a host's credentials block.
func credentialsOf(tokens *hosts.Tokens, label string) (content value, err error) {
	content.kind = isObject
	host, err := hosts.ParseHostname(label)
	if err != nil {
		return content, err
	}
	token, err := tokens.Token(context.Background(), host)
	if token != "" {
		content = object("token", value{kind: isString, text: token})
	}
	return content, err
}

// others returns the settings of a file that WriteWith hasn't written yet.
func others(path string) (all []field, err error) {
	src, err := wholefile.ReadAny(context.Background(), path, maxBytes)
	if err != nil {
		return nil, err
	}
	top, wrong := decode(src)
	if wrong != nil {
		return nil, fmt.Errorf("%s:%d: %s", path, wrong.line, wrong.text)
	}
	for _, f := range top.object {
		if f.is("host") || f.is("credentials") || f.is("plugin_cache_dir") {
			continue
		}
		if f.is("oci_default_credentials") {
			if err := makeFilesAbsolute(f.value, filepath.Dir(path)); err != nil {
				return nil, err
			}
		}
		all = append(all, f)
	}
	return all, nil
}

// makeFilesAbsolute makes relative paths in oci_default_credentials, which are relative to dir, absolute.
// The error says that the working directory is unknown.
func makeFilesAbsolute(v value, dir string) (err error) {
	content, _ := v.fields()
	for _, f := range content {
		for i, element := range f.value.list {
			if f.name == "docker_style_config_files" && element.kind == isString && !filepath.IsAbs(element.text) && err == nil {
				f.value.list[i].text, err = filepath.Abs(filepath.Join(dir, element.text))
			}
		}
	}
	return err
}

// MarshalJSON implements json.Marshaler.
func (v value) MarshalJSON() ([]byte, error) {
	switch {
	case v.kind == isObject:
		return value{kind: isList, list: []value{v}}.MarshalJSON()
	case v.kind == isList:
		elements := []json.RawMessage{}
		for _, element := range v.list {
			text, err := element.block()
			if element.kind != isObject {
				text, err = json.Marshal(element)
			}
			if err != nil {
				return nil, err
			}
			elements = append(elements, text)
		}
		return json.Marshal(elements)
	case (v.kind == isNumber || v.kind == isBool) && json.Valid([]byte(v.text)): // HCL has other spellings, too
		return []byte(v.text), nil
	}
	return json.Marshal(v.text)
}

// block returns an object as JSON, with repeated names.
func (v value) block() ([]byte, error) {
	text := []byte("{")
	for i, f := range v.object {
		if i > 0 {
			text = append(text, ',')
		}
		pair, err := json.Marshal(map[string]value{f.name: f.value})
		if err != nil {
			return nil, err
		}
		text = append(text, pair[1:len(pair)-1]...)
	}
	return append(text, '}'), nil
}
